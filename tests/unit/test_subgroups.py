"""Subgroups: segments in words, the test over all of them, simultaneous intervals, refusals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses
from scipy.special import expit, logit

import calbias
from calbias.auditing.advice import things_to_do
from calbias.auditing.page import subgroups_picture
from calbias.auditing.segments import segments_of
from calbias.auditing.subgroups import subgroups
from calbias.file_audit import audit_file


def drawn(shift=0.0, n=3000, seed=0, clusters=None):
    """Return (scores, hits, columns) with a fault where a = 1 and b = 2."""
    generator = np.random.default_rng(seed)
    scores = generator.beta(6, 1.5, n)
    columns = {name: generator.integers(0, k, n) for name, k in (("a", 4), ("b", 3))}
    wrong = (columns["a"] == 1) & (columns["b"] == 2)
    rates = expit(logit(scores) + shift * wrong)
    return scores, (generator.random(n) < rates).astype(int), columns


def test_segments_in_words():
    rows = 400
    columns = {
        "sex": np.repeat(["F", "M"], rows // 2),
        "age": np.tile(np.arange(20.0, 40.0), rows // 20),
        "site": pd.Series(["x", "y", None, ""] * (rows // 4), dtype=object),
    }
    found = segments_of(columns, rows)
    assert found.words[:3] == ("all rows", "sex = F", "sex = M")
    assert found.words[3:7] == ("age 20 to 24", "age 25 to 29", "age 30 to 34", "age 35 to 39")
    assert found.words[7:10] == ("site = x", "site = y", "site missing")
    assert "sex = F and age 20 to 24" in found.words
    sizes = found.members @ np.bincount(found.cell)
    assert dict(zip(found.words, sizes, strict=True))["sex = F and site missing"] == 100
    assert "age 20 to 24 and site = x" not in found.words  # 25 rows


def test_pairs_that_are_a_value_are_left_out():
    country, city = np.repeat(["A", "B"], [100, 200]), np.repeat(["p", "q", "r"], 100)
    words = segments_of([pd.Series(country, name="in"), pd.Series(city, name="at")], 300).words
    assert words == ("all rows", "in = A", "in = B", "at = p", "at = q", "at = r")


def test_names_of_columns_without_names():
    values = np.arange(200) % 2
    assert segments_of(values, 200).words[1:] == ("by = 0", "by = 1")
    assert segments_of(np.c_[values, values[::-1]], 200).words[1] == "by 1 = 0"
    assert segments_of(list(values), 200).words == segments_of(values, 200).words


HALVES = np.arange(200) % 2
test_mistakes_in_by = refuses(
    lambda by: segments_of(by, 200),
    (np.arange(100), r"column by has the shape \(100,\), not \(200,\): give one value"),
    ({"by": {"a": np.zeros(200)}}, "all rows have a = 0: leave the column a out"),
    ([f"u{k}" for k in range(200)], "has 200 values, such as 'u0': at most 100"),
    ([*range(199), "unknown"], r"row 199 .*numbers and the text 'unknown'"),
    ([*map(str, range(199)), "unknown"], r"row 199 .*numbers and the text 'unknown'"),
    ({"by": {}}, "name at least one column"),
    ([pd.Series(HALVES, name="x"), pd.Series(HALVES, name="x")], "two columns have the name x"),
)


def test_subgroups_below_50_rows_cost_no_audit():
    scores = np.linspace(0.3, 0.9, 60)
    audit = calbias.audit(scores, np.arange(60) % 2, by=np.arange(60) % 6)
    assert list(audit.subgroups.table["segment"]) == ["all rows"]
    assert audit.subgroups.small[0] == "by = 0 (10 rows)"
    assert "to be judged: by = 0 (10 rows), by = 1 (10 rows), by" in audit.subgroups.sentence
    assert "Not judged" in audit.to_html()


def test_texts_are_codes_and_numbers_of_many_values_are_cut():
    """Site 7 of twenty is wrong by 30 points; its name is a text that looks like a number."""
    generator = np.random.default_rng(0)
    site, scores = generator.integers(0, 20, 4000), generator.beta(6, 2, 4000)
    hits = generator.random(4000) < scores - 0.3 * (site == 7)
    for codes in (site.astype(str), [str(k) for k in site], pd.Series(site, dtype="category")):
        found = subgroups(scores, hits, {"site": codes}, replicates=199)
        assert found.table["segment"][0] == "site = 7"
        assert "cut" not in found.sentence
    found = subgroups(scores, hits, {"site": site}, replicates=199)
    assert found.table["segment"][0] == "site 6 to 10"
    assert "; site: numbers, cut at their quartiles (codes go as texts" in found.sentence


def test_the_shift_of_a_subgroup_is_named_before_its_slope():
    """Risks half as high as they should be: the slope is the larger statistic, the shift is said.

    It is the shift of all rows: no subgroup is apart from them.
    """
    generator = np.random.default_rng(2)
    true = expit(generator.normal(-1, 1.5, 8000))
    risks = expit(1.6 * logit(true) - 0.6)
    found = subgroups(
        risks, generator.random(8000) < true, {"g": generator.integers(0, 4, 8000)}, replicates=199
    )
    assert set(found.faulty["fault"]) == {"scores too low"}
    assert len(found.faulty) == 4
    assert found.clearest_apart == ""


def test_a_fault_in_a_pair_of_values_is_found_and_named():
    scores, hits, columns = drawn(-1.2)
    found = subgroups(scores, hits, columns)
    first = found.table.iloc[0]
    assert (first["segment"], first["fault"]) == ("a = 1 and b = 2", "scores too high")
    assert found.p_value == first["p_value"] == 1 / 2000
    assert found.sentence.startswith("The scores are wrong for ")
    assert "most clearly where a = 1 and b = 2 (" in found.sentence
    event = calbias.audit(probabilities=scores, labels=hits, by=columns).subgroups.sentence
    assert event.startswith("The risks are wrong for ")
    assert "): risks too high by " in event
    inside = (columns["a"] == 1) & (columns["b"] == 2)
    assert first["n"] == inside.sum()
    assert first["gap"] == pytest.approx((scores - hits)[inside].mean())
    assert 0 < first["low"] < first["gap"] < first["high"]
    assert first["noise_floor"] == pytest.approx(
        np.sqrt(2 / np.pi * np.sum((scores * (1 - scores))[inside])) / inside.sum()
    )


def test_a_slope_is_named():
    generator = np.random.default_rng(3)
    scores = expit(generator.normal(0, 2, 4000))
    side = generator.integers(0, 2, 4000)
    rates = np.where(side, expit(0.5 * logit(scores)), scores)
    found = subgroups(scores, generator.random(4000) < rates, {"side": side}, replicates=199)
    assert list(found.table["segment"][:1]) == ["side = 1"]
    assert found.table["fault"][0] == "scores too extreme"


def test_nothing_is_found_in_a_calibrated_model():
    found = subgroups(*drawn())
    assert not found.miscalibrated
    assert found.sentence.startswith("No fault was found in 19 subgroups (p = ")
    assert set(found.table["finding"]) <= {"none found", "too small to tell"}
    small = found.table["finding"] == "too small to tell"
    assert (small == (found.table["n"] < found.table["rows_needed"])).all()


@settings(max_examples=3)
@given(st.permutations(range(6)))
def test_the_order_of_rows_does_not_matter(blocks):
    scores, hits, columns = drawn(-0.5, 600)
    order = np.concatenate([np.arange(600)[k::6] for k in blocks])
    clusters = np.arange(600) // 3
    for given_clusters in (None, clusters):
        moved = None if given_clusters is None else given_clusters[order]
        one = subgroups(scores, hits, columns, given_clusters, replicates=99)
        moved_columns = {name: column[order] for name, column in columns.items()}
        other = subgroups(scores[order], hits[order], moved_columns, moved, replicates=99)
        pd.testing.assert_frame_equal(one.table, other.table)


def test_without_a_miss_the_interval_ends_at_a_share_of_one():
    found = subgroups(np.full(300, 0.99), np.ones(300), np.arange(300) % 2).table
    np.testing.assert_allclose(found["low"], -0.01, atol=1e-9)
    assert (found["high"] > 0).all()


def test_clusters_that_are_copies_take_the_certainty_of_rows():
    scores, hits, columns = drawn(-0.8, 400, seed=1)
    copies = {name: np.repeat(column, 10) for name, column in columns.items()}
    many = np.repeat(scores, 10), np.repeat(hits, 10), copies
    ids = np.repeat(np.arange(400), 10)
    alone, clustered = (
        subgroups(*many, each, replicates=199).table.set_index("segment") for each in (None, ids)
    )
    assert alone.loc["all rows", "p_value"] < clustered.loc["all rows", "p_value"]
    wider = (clustered["high"] - clustered["low"]) / (alone["high"] - alone["low"])
    assert wider["all rows"] == pytest.approx(np.sqrt(10), rel=0.15)
    assert clustered["rows_needed"]["all rows"] > 5 * alone["rows_needed"]["all rows"]


def test_segments_of_few_clusters_are_not_judged():
    scores, hits, columns = drawn(n=1000)
    clusters = np.where(columns["a"] == 0, np.arange(1000) % 5, np.arange(1000) % 100 + 5)
    found = subgroups(scores, hits, columns, clusters, replicates=99)
    assert "a = 0 (5 clusters)" in found.small
    assert "a = 1" in set(found.table["segment"])
    few = subgroups(scores, hits, columns["a"], columns["a"])
    assert few.sentence == (
        "No subgroup has enough rows and clusters to be judged: by = 0 (1 cluster), by = 1 "
        "(1 cluster), by = 2 (1 cluster) and 1 more."
    )


def test_an_audit_has_the_subgroups():
    scores, hits, columns = drawn(-1.2)
    audit = calbias.audit(scores, hits, by=pd.DataFrame(columns))
    assert audit.subgroups.table.equals(subgroups(scores, hits, columns).table)
    told = audit.to_dict()["subgroups"]
    assert told["sentence"] == audit.subgroups.sentence
    assert told["table"][0]["segment"] == "a = 1 and b = 2"
    page = audit.to_html()
    assert "Whom does it fail?" in page
    assert "a = 1 and b = 2" in subgroups_picture(audit.subgroups)


def test_the_first_line_and_the_advice_name_subgroups_that_fail():
    """Ninety rows of a pair are hits 40 points less often; all rows together are right."""
    generator = np.random.default_rng(4)
    site, ward = generator.integers(0, 4, 3000).astype(str), generator.integers(0, 8, 3000)
    wrong = (site == "2") & (ward == 5)
    scores = generator.uniform(0.3, 0.9, 3000)
    hits = generator.random(3000) < scores + np.where(wrong, -0.4, 0.4 * wrong.mean())
    audit = calbias.audit(scores, hits, by={"site": site, "ward": ward})
    assert not audit.miscalibrated
    assert ", but 2 of 44 subgroups are miscalibrated (p = 0.0005)." in audit.sentence
    box = audit.to_html().split('class="verdict bad"')[1].split("</p>")[0]
    assert "in all rows together, but 2 of 44 subgroups are miscalibrated" in box
    assert things_to_do(audit)[0].startswith("Look first at the rows where site = 2 and ward = 5:")


def test_numbers_of_a_file_that_are_codes(tmp_path):
    scores, _, columns = drawn()
    path, site = tmp_path / "model.csv", (1000 * columns["a"] + np.arange(3000) % 6).astype(float)
    site[0] = np.nan
    rows = {"score": scores, "hit": (np.arange(3000) % 4 > 0).astype(int), "site": site}
    pd.DataFrame(rows).to_csv(path, index=False)
    coded = audit_file(path, by="site", codes=["Site"])
    assert "site = 3005" in set(coded.subgroups.table["segment"])
    assert coded.subgroups.small == ("site missing (1 row)",)
    assert not any("--cluster site" in text for text in coded.warnings)
    with pytest.raises(calbias.InputError, match="--codes ward: name a column of --by"):
        audit_file(path, by="site", codes=["ward"])


def test_scores_of_zero_without_a_hit_have_a_narrow_interval():
    half = np.repeat(["a", "b"], 400)
    table = subgroups(np.zeros(800), np.zeros(800), half).table
    assert (table["low"] > -0.05).all()
    assert (table["p_value"] == 1.0).all()


def test_what_rounding_does_is_read_in_each_combination_of_values():
    """Calibrated scores in tenths, of another density in each group: p was below 0.01."""
    generator = np.random.default_rng([1, 6])
    group, n = generator.integers(0, 4, 30_000), 30_000
    peaked = generator.random(n) < 0.6
    rates = np.where(peaked, generator.beta(60, 12, n), generator.beta(3, 5, n))
    rates = expit(logit(rates) + 0.5 * (group - 1.5))
    hits = (generator.random(n) < rates).astype(int)
    found = subgroups(rates.round(1), hits, np.array([*"abcd"])[group], replicates=999)
    assert found.p_value > 0.05
