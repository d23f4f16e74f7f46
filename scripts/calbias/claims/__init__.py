"""Claims of the sources, each judged by a rule on result tables; filed by their place in the paper.

To add claims add one file to this folder, such as ``guo_2017.py``. In it every claim is a function
``judge(evidence) -> Judgement`` under the decorator ``calbias.claims.verdicts.claim``, which holds
the words: id, place, statement, published numbers, figures and tables, rule. Nothing else changes:
``ledger.all_claims`` finds the file, and the tables ``claims``, ``measurements`` and ``comparison``
and the page get the new rows. A file's rule reads tables through ``evidence.table(name)``, raises
NotJudged where they lack what it compares, and returns numbers as ``Measurement``; words are made
of these by ``ledger`` and the page.
"""
