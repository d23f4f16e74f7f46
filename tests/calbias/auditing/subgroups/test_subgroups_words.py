"""Which subgroups columns name, at the limits of rows and values, and what sentences say."""

import re

import numpy as np
import pandas as pd
import pytest
from refusals import refuses

import calbias
from calbias.auditing.subgroups import segments
from calbias.auditing.subgroups.segments import segments_of, with_codes
from calbias.auditing.subgroups.subgroup_audit import audit_subgroups
from calbias.auditing.subgroups.subgroups import ALL, Subgroups


def words_of(by, n):
    return segments_of(by, n).words[1:]


def test_fifty_rows_are_a_segment_and_fewer_are_small():
    found = segments_of(np.repeat(["a", "b", "c"], [50, 49, 1]), 100)
    assert found.words == ("all rows", "by = a")
    assert found.small == ("by = b (49 rows)", "by = c (1 row)")
    assert found.cell.tolist() == [0] * 50 + [1] * 49 + [2]
    assert found.members.toarray().tolist() == [[1, 1, 1], [1, 0, 0]]


def test_values_parts_of_numbers_and_pairs_are_segments():
    columns = {
        "sex": np.repeat(["F", "M"], 200),
        "age": np.tile(np.arange(20.0, 40.0), 20),
        "site": pd.Series(["x", "y", None, ""] * 100, dtype=object),
    }
    found = segments_of(columns, 400)
    assert found.words[:3] == ("all rows", "sex = F", "sex = M")
    assert found.words[3:7] == ("age 20 to 24", "age 25 to 29", "age 30 to 34", "age 35 to 39")
    assert found.words[7:10] == ("site = x", "site = y", "site missing")
    assert "sex = F and age 20 to 24" in found.words
    sizes = found.members @ np.bincount(found.cell)
    assert dict(zip(found.words, sizes, strict=True))["sex = F and site missing"] == 100
    assert "age 20 to 24 and site = x" not in found.words  # 25 rows


def test_half_characters_that_json_may_have_are_escaped():
    """Two of them stay two values."""
    by = ["\ud83d0", "\ud83e0"] * 100
    assert words_of({"g": by}, 200) == ("g = \\ud83d0", "g = \\ud83e0")
    assert words_of({"g": np.array(by, object)}, 200) == words_of({"g": by}, 200)


def test_pairs_have_fewer_rows_than_either_value():
    """y is x, but for one row: the pair of 99 tells something new, that of 100 does not."""
    x = np.repeat(["p", "q"], [100, 101])
    one = words_of(
        {"x": x, "y": np.where(np.arange(201) == 99, "v", np.where(x == "p", "u", "v"))}, 201
    )
    assert one == ("x = p", "x = q", "y = u", "y = v")
    two = words_of({"x": x, "y": np.repeat(["u", "v", "u"], [99, 60, 42])}, 201)
    assert two[4:] == ("x = p and y = u", "x = q and y = v")


def test_ten_numbers_are_values_and_eleven_are_cut():
    ten, eleven = np.arange(2200) % 10 / 4, np.arange(2200) % 11
    assert words_of(ten, 2200)[:4] == ("by = 0", "by = 0.25", "by = 0.5", "by = 0.75")
    assert len(words_of(ten, 2200)) == 10
    found = segments_of({"k": eleven, "t": ten}, 2200)
    assert found.words[1:5] == ("k 0 to 2", "k 3 to 5", "k 6 to 8", "k 9 to 10")
    assert found.cut == ("k",)
    much = np.r_[np.full(1100, 7.0), np.arange(1100) + 8]  # two quartiles are one value
    assert words_of(much, 2200) == ("by = 7", "by 8 to 557", "by 558 to 1107")


def test_a_hundred_texts_are_judged_and_codes_of_categories_are_texts():
    texts = np.repeat([f"u{k:03}" for k in range(100)], 50)
    assert len(words_of(texts, 5000)) == 100
    twelve = np.repeat(np.arange(12), 50)
    assert len(words_of(pd.Series(twelve, dtype="category"), 600)) == 12
    assert len(words_of(pd.Series(twelve, dtype=object), 600)) == 4  # numbers as objects
    assert words_of([None, *["1"] * 99, *["2"] * 100], 200) == ("by = 1", "by = 2")
    assert words_of(np.arange(200) % 2 == 0, 200) == ("by = False", "by = True")
    assert words_of(pd.Series([1.5, None] * 100), 200) == ("by = 1.5", "by missing")


def test_the_forms_of_columns():
    halves = np.arange(200) % 2
    assert words_of(pd.Series(halves, name="z"), 200) == ("z = 0", "z = 1")
    for by in ([halves, halves[::-1]], np.c_[halves, halves[::-1]]):
        assert words_of(by, 200)[:4] == ("by 1 = 0", "by 1 = 1", "by 2 = 0", "by 2 = 1")
    assert words_of(list(halves), 200) == words_of(halves, 200) == ("by = 0", "by = 1")
    assert words_of(pd.DataFrame({"c": halves}), 200) == ("c = 0", "c = 1")
    found = with_codes({"Site": [7.0, None, "x", 2e15], "age": [1, 2, 3, 4]}, ["site"])
    assert found == {"Site": ["7", None, "x", "2e+15"], "age": [1, 2, 3, 4]}


def test_more_subgroups_than_can_be_judged(monkeypatch):
    monkeypatch.setattr(segments, "MOST_SEGMENTS", 3)
    assert len(words_of(np.arange(200) % 2, 200)) == 2
    with pytest.raises(segments.InputError, match="more than 3 subgroups"):
        segments_of(np.arange(200) % 3, 200)


MANY = [f"{k}" for k in range(102)]
test_mistakes_in_columns = refuses(
    lambda by, n: segments_of(by, n),
    (
        np.repeat([f"u{k:03}" for k in range(101)], 2),
        202,
        "has 101 values, such as 'u000': at most 100",
    ),
    (pd.Series([3, "x", "y"] * 50, dtype=object), 150, r"row 1 .*numbers and the text 'x'"),
    ([1.5] * 60 + ["x"] * 60, 120, r"row 60 .*numbers and the text 'x'"),
    ([*MANY, "q", "r"], 104, r"row 102 .*numbers and the text 'q'"),
    ([*MANY[:51], *[f"q{k}" for k in range(51)]], 102, "has 102 values"),
    ([None] * 60, 60, "all rows have by missing: leave the column by out"),
    ({"by": {"a": np.zeros(200)}, "n": 200}, "all rows have a = 0: leave the column a out"),
    ({"by": {}, "n": 9}, "name at least one column"),
    ([pd.Series(MANY, name="x")] * 2, 102, "two columns have the name x"),
    ([MANY, MANY[:2]], 102, r"column by 2 has the shape \(2,\), not \(102,\): give one value"),
)


def result(p=0.01, **changes):
    """All rows 3 points too high; a = 1 by 5 and a = 2 not: by hand."""
    rows = {
        "segment": ["a = 1", ALL, "a = 2"],
        "n": [300, 900, 600],
        "gap": [0.05, 0.03, 0.02],
        "low": [0.012, 0.01, -0.01],
        "high": [0.088, 0.05, 0.05],
        "finding": ["miscalibrated", "miscalibrated", "none found"],
        "fault": ["scores too high", "scores too high", ""],
        "apart": [p <= 0.05, False, False],
        "p_value": [p, p, 0.9],
        "rows_needed": [250, 100, 601],
        "others_gap": [0.021, np.nan, 0.0],
    }
    return Subgroups(p, pd.DataFrame(rows | changes), ())


def numbers(sentence):
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?", sentence)]


def test_subgroups_that_fail_in_a_few_words():
    found = result()
    assert list(found.faulty["segment"]) == ["a = 1"]
    assert found.headline == "1 of 2 subgroups is miscalibrated (p = 0.01)"
    both = result(finding=["miscalibrated"] * 3)
    assert both.headline == "2 of 2 subgroups are miscalibrated (p = 0.01)"
    assert (result(0.05).miscalibrated, result(0.0501).miscalibrated) == (True, False)
    assert result(0.0501).headline == ""
    assert "(p = 0.05)" in result(0.0499).headline
    assert "No fault was found in 2 subgroups (p = 0.0501)" in result(0.0501).sentence


def test_subgroups_beyond_a_shared_fault_in_words():
    """Of two that fail one is apart, a = 2; the other rows are right, wrong, or too few."""
    apart = {"finding": ["miscalibrated"] * 3, "apart": [False, False, True]}
    apart |= {"fault": ["scores too high"] * 3, "segment": ["a = 2", ALL, "a = 1"]}
    shared = result(**apart)._replace(difference_p_value=0.02)
    assert shared.headline == "1 of 2 subgroups differs from the other rows (p = 0.02): where a = 1"
    assert not shared._replace(others_p_value=0.05).others_are_fine
    fine = shared._replace(others_p_value=0.051)
    assert fine.headline.startswith("it is a fault of the rows where a = 1 (p = 0.02)")
    assert shared.sentence.endswith("2.0 points (-1.0 to 5.0), in other rows right on average.")
    assert fine._replace(table=fine.table.assign(others_gap=-0.3)).sentence.endswith("low by 30.0.")
    none = result(**apart | {"apart": [False] * 3})._replace(difference_p_value=0.3)
    assert none.headline == none.where == ""
    assert numbers(none.sentence) == [2, 0.3, 1]  # 600 rows are fewer than 601


@pytest.mark.parametrize(
    ("x", "changes", "answer", "which"),
    [
        (0.01, {}, "no", "a = 1"),  # its limits are 1.2 and 8.8 points
        (0.012, {}, "undecided", "a = 1"),
        (0.088, {}, "yes", ""),
        (0.01, {"low": [-0.088, 0.01, -0.01], "high": [-0.012, 0.05, 0.05]}, "no", "a = 1"),
        (0.04, {"low": [-0.05, 0.01, 0.041]}, "no", "a = 2"),  # before one that is undecided
        (0.05, {"low": [-0.06, 0.01, -0.9], "high": [0.0, 0.9, 0.9]}, "undecided", "a = 1"),
        (0.05, {"finding": ["too small to tell", "miscalibrated", "none found"]}, "yes", ""),
    ],
)
def test_a_gap_above_x_in_a_subgroup_decides(x, changes, answer, which):
    gate = result(**changes).gate(x)
    assert (gate.answer, gate.where or "") == (answer, which)
    assert (gate.rows_needed is not None) == (answer == "undecided")


def test_the_gate_of_an_audit_asks_its_subgroups():
    scores, groups = np.full(2000, 0.7), np.repeat(["a", "b"], 1000)
    hits = np.tile(np.arange(100) < np.array([[85], [55]]).repeat(10, 0), 1).reshape(-1)
    audit = calbias.audit(scores, hits, by={"group": groups})
    assert calbias.audit(scores, hits).within(0.05) == "yes"
    assert (audit.within(0.05), audit.within(0.25)) == ("no", "yes")
    assert audit.gate(0.05).sentence.startswith("no, where group = ")


def test_the_sentence_has_the_numbers():
    assert numbers(result().sentence) == [1, 2, 0.01, 1, 300, 5.0, 1.2, 8.8]
    low = result(gap=[-0.05, 0, 0], low=[-0.088, 0, 0], high=[-0.012, 0, 0])
    assert numbers(low.sentence) == [1, 2, 0.01, 1, 300, 5.0, 1.2, 8.8]
    slope = result(fault=["scores too extreme", "", ""])
    assert numbers(slope.sentence) == [1, 2, 0.01, 1, 300]
    assert numbers(result(0.2).sentence) == [2, 0.2]
    assert "too small" not in result().sentence
    one = result(finding=["miscalibrated", "too small to tell", "too small to tell"])
    assert one.sentence.endswith("; 1 is too small to tell.")
    assert one._replace(small=("a = 3", "a = 4")).sentence.endswith("; 3 are too small to tell.")
    assert "; age, bmi: numbers, cut" in result()._replace(cut=("age", "bmi")).sentence
    none = Subgroups(1.0, result().table[1:2], ("a", "b", "c"))
    assert none.sentence.endswith(": a, b, c.")
    assert none._replace(small=tuple("abcde")).sentence.endswith(": a, b, c and 2 more.")


def test_ten_clusters_and_five_with_a_miss_are_judged():
    """Scores of ½: ten clusters have five expected misses, nine are too few."""
    scores, hits = np.full(190, 0.5), np.arange(190) % 2
    by = np.repeat(["a", "b"], [90, 100])
    clusters = np.r_[np.arange(90) % 9, 9 + np.arange(100) % 10]
    found = audit_subgroups(scores, hits, by, clusters, replicates=99)
    assert list(found.table["segment"]) == ["all rows", "by = b"]
    assert found.small == ("by = a (9 clusters)",)
    rarer = np.where(by == "b", 0.49, 0.5)
    assert audit_subgroups(rarer, hits, by, clusters, replicates=99).small[1:] == (
        "by = b (10 clusters)",
    )
