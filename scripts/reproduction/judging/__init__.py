"""Judging cells: data of known truth that no method was made on, and the runner of studies.

``runner``   draws data sets of cells, applies every method, and makes rows
``halves``   the judging cells, which are read once at the end of a design
``samples``  a data set of scores and hits
"""
