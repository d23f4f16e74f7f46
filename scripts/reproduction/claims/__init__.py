"""Claims of the sources, each judged by a rule on result tables; filed by their place in the paper.

A claim is a function under ``@claim`` of ``pipeline.claims.verdicts``, whose arguments are the id,
the place, the tables, the figures and the words of the claim. The function is the rule: it reads
tables through ``run.table(name)``, raises NotJudged where they lack what it compares, and
returns a Ruling: verdict, Measurements, source of the data, notes. To add claims add one file to
this folder, such as ``guo.py``: the tables ``claims``, ``measurements`` and ``comparison`` and the
page get the new rows.
"""
