"""Judging cells: data of known truth that no method was made on, and the runner of studies.

``runner``   draws data sets of cells, applies every method, and makes rows
``halves``   the design half, which may be looked at while a method is changed, the judging half,
             which is read once at its end, and random worlds
``samples``  data sets of scores and hits: samples, draws of scenarios, subsamples of genuine rows
"""
