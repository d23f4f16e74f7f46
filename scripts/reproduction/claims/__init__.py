"""Claims of the sources, each judged by a rule on result tables; filed by their place in the paper.

A claim is a function under ``@claim`` and ``@worded`` of ``verdicts``, whose arguments are the
place, the tables and the figures, and the words of the claim. The function is the rule: it reads
tables through ``evidence.table(name)``, raises NotJudged where they lack what it compares, yields
Measurements and notes, and returns its verdict with the source of the data. To add claims add one
file to this folder, such as ``guo.py``: the tables ``claims``, ``measurements`` and ``comparison``
and the page get the new rows.
"""
