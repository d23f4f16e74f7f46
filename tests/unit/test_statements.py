"""The list of all statements: each leads to something that exists, or says why there is none."""

from collections import Counter

import pytest
from checkout import ROOT

from pipeline.catalogue import figures
from pipeline.claims.ledger import REASONS, SHOWN_BY, all_claims, read_statements, statement_counts
from pipeline.table_schema import tables

ROWS = read_statements()
PAPERS = {"Roelofs et al. 2022": "R", "Guo et al. 2017": "G", "Gupta et al. 2021": "S"}


def test_what_is_named_exists():
    known = {
        "claims": {claim.id for claim in all_claims()},
        "figures": set(figures()),
        "tables": set(tables()),
    }
    for row in ROWS:
        for column, names in known.items():
            assert {*row[column].split()} <= names, row
        assert row["place"]
        assert row["statement"]


def test_each_statement_is_judged_or_has_a_reason_of_the_few_kinds():
    for row in ROWS:
        named = any(row[column] for column in SHOWN_BY)
        assert named or row["reason"] in REASONS, row
        assert not (row["claims"] and row["reason"]), row
    assert len({row["statement"] for row in ROWS}) == len(ROWS)


def test_statements_are_numbered_and_counted():
    for paper, count in Counter(row["paper"] for row in ROWS).items():
        numbers = [int(row["number"]) for row in ROWS if row["paper"] == paper]
        assert numbers == [*range(1, count + 1)]
    counts = statement_counts(ROWS)
    assert len(ROWS) == sum(counts.values()) > 130
    assert counts["a claim"] > len(ROWS) / 2
    assert counts[REASONS["not tried"]] <= 3


@pytest.mark.parametrize(("paper", "letter"), PAPERS.items())
def test_every_claim_of_a_paper_is_of_a_statement(paper, letter):
    """No row of the ledger is about something that its paper does not state."""
    named = {name for row in ROWS if row["paper"] == paper for name in row["claims"].split()}
    judged = {claim.id for claim in all_claims("reproduction") if claim.id[0] == letter}
    assert judged <= named


def test_the_readme_counts_the_claims_of_the_paper():
    claims = [claim for claim in all_claims("reproduction") if claim.id[0] == "R"]
    assert f"**The paper's {len(claims)} claims**" in (ROOT / "README.md").read_text("utf-8")
