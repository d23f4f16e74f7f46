"""The sentences of the front page: what a topic says follows from its claims' verdicts."""

import pandas as pd
import pytest

from pipeline.report import counted, theorems
from reproduction.verdict_summary import CORE, OTHERS, sentences


def claims(default="reproduced", **verdicts):
    """Table claims: those of the topics, and R99 beyond them, which is a theorem."""
    ids = [*(name for topic in (*CORE, *OTHERS) for name in topic.ids), "R99"]
    table = pd.DataFrame({"id": ids, "claim": "its own words", "where": "here", "models": ""})
    table.loc[table["id"] == "R99", "where"] += ", theorem"
    return table.assign(verdict=[verdicts.get(name, default) for name in ids])


def said(table):
    return {x.head: [topic.ids for topic in x.topics] for x in sentences(table)}


def test_the_core_holds_strictly_and_approximately_and_the_rest_is_not_told():
    found = said(claims(R09="approximate"))
    assert found == {
        "The core holds": [("R01",), ("R10",), ("R20",), ("R16",)], "Approximately": [("R09",)],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({"R19": "not_reproduced"}, {"What fails": [("R12", "R19")]}),  # the worst of two
        ({"R26": "needs_real_logits"}, {"What is open": [("R26", "R30")]}),
        ({"R99": "not_reproduced"}, {"What fails": [("R99",)]}),
    ],
)
def test_what_fails_and_what_is_open(verdicts, expected):
    assert {k: v for k, v in said(claims(**verdicts)).items() if "What" in k} == expected
    own = [x.text for x in sentences(claims(R99="not_reproduced")) if x.head == "What fails"]
    assert own == ["its own words (R99)"]


def test_a_core_that_fails_is_not_said_to_hold():
    found = said(claims(R01="not_reproduced"))
    assert "The core holds" not in found
    assert found["Of the core holds"] == [("R09",), ("R10",), ("R20",), ("R16",)]
    assert found["What fails"] == [("R01",)]


def test_claims_that_were_not_judged_are_left_out():
    assert said(claims("not_judged")) == {}
    assert said(claims("not_judged", R12="approximate", R01="reproduced")) == {
        "The core holds": [("R01",)]
    }


def test_theorems_are_counted_apart():
    table = claims(R01="not_reproduced")
    n = len(table) - 2
    assert counted(table) == f"{n} hold, 1 does not, 1 is a theorem"
    assert theorems(table[:3]) == ""
