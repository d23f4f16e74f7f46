"""The statements of the four texts, ``resources/statements.csv``, and what judges each."""

import csv
from collections.abc import Iterable, Mapping

from pipeline import CHECKOUT

SHOWN_BY = {"claims": "a claim", "figures": "a figure", "tables": "a table", "proof": "a proof"}
"""Columns that name what judges or shows a statement, most important first."""
REASONS = {
    "definition": "it defines a quantity, a method or a setting, which the code has",
    "opinion": "advice or an intuition, which no number decides",
    "cited": "a result of another paper, reported",
    "contradiction": "the paper contradicts itself",
    "networks": "networks would have to be trained for it",
    "outputs": "outputs of its networks are not public",
    "not tried": "it could be judged, and is not",
}
"""Why nothing judges a statement, by the name in column ``reason``."""


def read_statements() -> list[dict[str, str]]:
    """Return the rows of the list, in the order of the texts."""
    with open(CHECKOUT / "resources/statements.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def statement_counts(rows: Iterable[Mapping[str, str]]) -> dict[str, int]:
    """Return {what judges or shows statements, or why nothing does: number of them}."""
    counts = dict.fromkeys([*SHOWN_BY.values(), *REASONS.values()], 0)
    for row in rows:
        column = next((name for name in SHOWN_BY if row[name]), None)
        counts[SHOWN_BY[column] if column else REASONS[row["reason"]]] += 1
    return counts
