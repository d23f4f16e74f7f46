"""The certified values: every measure of small data sets by its definition, in exact fractions.

``python -m evidence.certified.values`` (in ``scripts``) computes the values of
``resources/certified`` again: the data sets are the CSV files, ``values.json`` names them with the
measures and their options. No code of calbias takes part. To add a data set, add its file and its
head; to add a value, its key.
"""
