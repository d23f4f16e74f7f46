"""Judging cells: data of known truth that no method was made on.

``halves``   the judging cells, which are read once at the end of a design
``samples``  a data set of scores and hits
"""
