"""Kept tables against fresh ones."""

import pandas as pd

from evidence.steps.compare_evidence import differences

KEPT = pd.DataFrame({"name": ["a", "b"], "n": [1, 2], "x": [0.5, float("nan")]})


def test_equal_tables_have_no_differences():
    assert list(differences("t", KEPT, KEPT.iloc[::-1])) == []


def test_a_number_a_row_and_a_column_that_differ_are_named():
    fresh = pd.DataFrame({"name": ["a", "c"], "n": [1, 2], "x": [0.75, 1.0]})
    found = [tuple(row.values()) for row in differences("t", KEPT, fresh)]
    assert found == [
        ("t", "b 2", "", "row", ""), ("t", "c 2", "", "", "row"), ("t", "a 1", "x", 0.5, 0.75),
    ]  # fmt: skip
    without = differences("t", KEPT, KEPT.drop(columns="x"))
    assert [row["column"] for row in without] == ["x"]
