"""Subgroups: what is found and what is not, in audits, files, clusters and rounded scores."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import calbias
from calbias.auditing.page.advice import things_to_do
from calbias.auditing.page.page import subgroups_picture
from calbias.auditing.subgroups.subgroup_audit import audit_subgroups
from calbias.auditing.verdict.words import EXTREMENESS, HEIGHT
from calbias.file_audit import audit_file


def drawn(shift=0.0, n=3000, seed=0):
    """Return (scores, hits, columns) with a fault where a = 1 and b = 2."""
    generator = np.random.default_rng(seed)
    scores = generator.beta(6, 1.5, n)
    columns = {name: generator.integers(0, k, n) for name, k in (("a", 4), ("b", 3))}
    wrong = (columns["a"] == 1) & (columns["b"] == 2)
    rates = expit(logit(scores) + shift * wrong)
    return scores, (generator.random(n) < rates).astype(int), columns


def test_texts_are_codes_and_numbers_of_many_values_are_cut():
    """Site 7 of twenty is wrong by 30 points; its name is a text that looks like a number."""
    generator = np.random.default_rng(0)
    site, scores = generator.integers(0, 20, 4000), generator.beta(6, 2, 4000)
    hits = generator.random(4000) < scores - 0.3 * (site == 7)
    found = audit_subgroups(scores, hits, {"site": [str(k) for k in site]}, replicates=99)
    assert found.table["segment"][0] == "site = 7"
    assert "cut" not in found.sentence
    found = audit_subgroups(scores, hits, {"site": site}, replicates=99)
    assert found.table["segment"][0] == "site 6 to 10"
    assert "; site: numbers, cut at their quartiles (codes go as texts" in found.sentence


def test_the_shift_of_a_subgroup_is_named_before_its_slope():
    """Risks half as high as they should be: the slope is the larger statistic, the shift is said.

    It is the fault of all rows: no subgroup is apart.
    """
    generator = np.random.default_rng(2)
    true = expit(generator.normal(-1, 1.5, 8000))
    risks = expit(1.6 * logit(true) - 0.6)
    found = audit_subgroups(
        risks, generator.random(8000) < true, {"g": generator.integers(0, 4, 8000)}, replicates=199
    )
    assert set(found.faulty["fault"]) == {f"scores {HEIGHT[1]}"}
    assert len(found.faulty) == 4
    assert found.is_shared
    assert found.apart.empty


def shared(kind, clustered, n=4000):
    """Return what an audit takes: scores that differ by site, and one fault in all rows or more.

    ``one`` site of four, the ``other`` three, or the bigger ``half`` are at fault as well; a
    ``bent`` fault is far from a line.
    """
    generator = np.random.default_rng(6)
    site, sex = (
        np.array([*names])[generator.integers(0, len(names), n)] for names in ("abcd", "fm")
    )
    x = generator.normal(0.5 + (2.0 if kind == "bent" else 0.8) * (site == "d"), 1.5, n)
    parts = {
        "all": 0.0,
        "one": 1.0 * (site == "b"),
        "other": 1.0 * (site != "b"),
        "half": sex == "f",
    }
    parts["bent"] = 1.5 * np.abs(x - 1.5)
    base = 0.7 * x - 0.3 if kind in ("all", "one") else x
    rates = expit(base - 1.2 * parts[kind])
    clusters = np.arange(n) // 2 if clustered else None
    hits = (generator.random(n) < rates).astype(int)
    return expit(x), hits, {"by": {"site": site, "sex": sex}, "clusters": clusters}


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(
    ("kind", "where", "are_fine"),
    [("all", "", False), ("bent", "", False), ("one", "site = b", False),
     ("other", "site = b", False), ("half", "sex = f", True)],
)  # fmt: skip
def test_headline_sentence_advice_and_page_name_the_same_subgroup(kind, where, are_fine, clustered):
    scores, hits, options = shared(kind, clustered)
    audit = calbias.audit(scores, hits, **options)
    found = audit.subgroups
    assert len(found.faulty) > 1  # each subgroup has the fault of all rows
    assert found.where == where
    assert list(found.table["segment"][:1]) == ([where] if where else ["all rows"])
    assert found.others_are_fine == are_fine
    first = things_to_do(audit)[0]
    names = [*found.table["segment"]]
    for text in (audit.sentence, found.sentence, first, audit.to_dict()["subgroups"]["sentence"]):
        assert {name for name in names if f"where {name}" in text} == ({where} - {""})
    assert first.startswith("Recalibrate") == (kind != "one")
    assert first.startswith("Recalibrate:") == (where == "")
    picture = subgroups_picture(found)
    assert picture.count('class="bad"') == bool(where)
    assert picture.count('class="others"') == min(len(found.table), 25)
    whole = found.table.set_index("segment").loc["all rows"]
    assert (whole["p_value"], whole["fault"]) == (audit.p_value, audit.verdict.sentence)
    if kind == "bent":
        inside = options["by"]["site"] == "d"
        x = np.log(scores / (1 - scores))[inside]
        expected = scores[inside] - expit(x - 1.8 * np.abs(x - 1.5))
        assert found.table.set_index("segment").loc["site = d", "others_gap"] == pytest.approx(
            expected.mean(), abs=0.02
        )
    if kind == "one":
        row = found.table.iloc[0]
        inside = options["by"]["site"] == "b"
        expected = scores[inside] - expit(0.7 * np.log(scores / (1 - scores)) - 0.3)[inside]
        assert row["others_gap"] == pytest.approx(expected.mean(), abs=0.02)
        assert "calbias recalibrate FILE --by site sex --output map.json" in audit.to_html()


def test_two_subgroups_at_fault_are_both_named_and_their_pairs_are_not():
    """They cancel: no fault is found in all rows."""
    generator = np.random.default_rng(5)
    site, sex, x = (generator.integers(0, 4, 5000), generator.integers(0, 2, 5000),
                    generator.normal(0.5, 1.2, 5000))  # fmt: skip
    hits = generator.random(5000) < expit(x + 0.9 * (site == 0) - 0.9 * (site == 1))
    found = audit_subgroups(expit(x), hits, {"site": site, "sex": sex}, replicates=199)
    assert not found.is_shared
    assert len(found.faulty) > 2
    assert set(found.apart["segment"]) == {"site = 0", "site = 1"}
    assert set(found.where.split(", and where ")) == {"site = 0", "site = 1"}
    assert found.others_are_fine


@pytest.mark.parametrize("seed", [3, 15, 35])
def test_of_two_halves_the_failing_one_has_the_p_value_that_decided(seed):
    """Rare events, site 1 too low: site 0 is the clearer half of their difference, and is right."""
    generator, site = np.random.default_rng(seed), np.arange(400) < 60
    x = generator.normal(-3, 0.6, 400)
    hits = generator.random(400) < expit(x + 1.3 * site)
    by = {"site": site.astype(int)}
    found = audit_subgroups(expit(x), hits, by, replicates=199, seed=seed)
    assert found.where == "site = 1"
    assert found.apart["difference_p_value"].tolist() == [found.deciding_p_value]
    assert f"(p = {found.deciding_p_value:.2g})" in found.headline
    assert found.deciding_p_value <= 0.05


def test_a_p_value_at_the_limit_names_its_subgroup():
    """The p-value of the table decides: no other redraws do."""
    generator = np.random.default_rng(44)
    scores, a = generator.beta(4, 2, 600), generator.integers(0, 3, 600)
    hits = generator.random(600) < expit(logit(scores) + 0.55 * (a == 1))
    found = audit_subgroups(scores, hits, {"a": a}, replicates=199, seed=44)
    assert (found.is_shared, found.deciding_p_value) == (False, 0.05)
    assert found.where == "a = 1"


def test_equal_subgroups_of_predicted_classes_do_not_differ():
    generator = np.random.default_rng(0)
    classes, site = generator.integers(0, 2, (2, 1500))
    hits = classes ^ (generator.random(1500) < 0.2)
    found = audit_subgroups(classes.astype(float), hits, {"site": site}, replicates=199)
    assert found.is_shared
    assert found.apart.empty


def test_a_slope_is_named():
    generator = np.random.default_rng(3)
    scores = expit(generator.normal(0, 2, 4000))
    side = generator.integers(0, 2, 4000)
    rates = np.where(side, expit(0.5 * logit(scores)), scores)
    found = audit_subgroups(scores, generator.random(4000) < rates, {"side": side}, replicates=199)
    assert list(found.table["segment"][:1]) == ["side = 1"]
    assert found.table["fault"][0] == f"scores {EXTREMENESS[0]}"


@pytest.mark.parametrize("clusters", [None, np.arange(600) // 3])
def test_the_order_of_rows_does_not_matter(clusters):
    *data, columns = drawn(-0.5, 600)
    order = np.random.default_rng(1).permutation(600)
    tables = [
        audit_subgroups(
            *(x[rows] for x in data),
            {name: column[rows] for name, column in columns.items()},
            None if clusters is None else clusters[rows],
            replicates=49,
        ).table
        for rows in (np.arange(600), order)
    ]
    pd.testing.assert_frame_equal(*tables)


def test_without_a_miss_the_interval_ends_at_a_share_of_one():
    found = audit_subgroups(np.full(300, 0.99), np.ones(300), np.arange(300) % 2).table
    np.testing.assert_allclose(found["low"], -0.01, atol=1e-9)
    assert (found["high"] > 0).all()


def test_segments_of_few_clusters_are_not_judged():
    scores, hits, columns = drawn(n=1000)
    few = audit_subgroups(scores, hits, columns["a"], columns["a"])
    assert few.sentence == (
        "No subgroup has enough rows and clusters to be judged: by = 0 (1 cluster), by = 1 "
        "(1 cluster), by = 2 (1 cluster) and 1 more."
    )


def test_an_audit_has_the_subgroups_in_its_first_line_table_advice_and_page():
    """Events of a pair are 40 points rarer than its risks; all rows together are right."""
    generator = np.random.default_rng(4)
    site, ward = generator.integers(0, 4, 1500).astype(str), generator.integers(0, 4, 1500)
    wrong = (site == "2") & (ward == 3)
    risks = generator.uniform(0.3, 0.9, 1500)
    events = generator.random(1500) < risks + np.where(wrong, -0.4, 0.4 * wrong.mean())
    by = pd.DataFrame({"site": site, "ward": ward})
    audit = calbias.audit(probabilities=risks, labels=events, by=by)
    found, pair = audit.subgroups, "site = 2 and ward = 3"
    alone = audit_subgroups(risks, events, by, what="risks", verdict=audit.verdict)
    assert found.table.equals(alone.table)
    assert found.p_value == 1 / 2000
    assert found.sentence.startswith("The risks are wrong for 2 of 24 subgroups (p = 0.0005), most")
    assert f"most clearly where {pair} (" in found.sentence
    assert f"): risks {HEIGHT[0]} by " in found.sentence
    told = audit.to_dict()["subgroups"]
    assert (told["sentence"], told["table"][0]["segment"]) == (found.sentence, pair)
    assert not audit.miscalibrated
    assert ", but 2 of 24 subgroups are miscalibrated (p = 0.0005)." in audit.sentence
    assert things_to_do(audit)[0].startswith(f"Recalibrate only the rows where {pair}:")
    page = audit.to_html()
    box = page.split('class="verdict bad"')[1].split("</p>")[0]
    assert "in all rows together, but 2 of 24 subgroups are miscalibrated" in box
    assert "Whom does it fail?" in page
    assert pair in subgroups_picture(found)


def test_subgroups_below_50_rows_cost_no_audit():
    scores = np.linspace(0.3, 0.9, 60)
    audit = calbias.audit(scores, np.arange(60) % 2, by=np.arange(60) % 6)
    assert "to be judged: by = 0 (10 rows), by = 1 (10 rows), by" in audit.subgroups.sentence
    assert "Not judged" in audit.to_html()


def test_numbers_of_a_file_that_are_codes(tmp_path):
    path, site = tmp_path / "model.csv", 3000.0 + np.arange(601) % 12
    site[0] = np.nan
    rows = {"score": np.linspace(0.3, 0.9, 601), "hit": np.arange(601) % 2, "site": site}
    pd.DataFrame(rows).to_csv(path, index=False)
    coded = audit_file(path, by="site", codes=["Site"])
    assert "site = 3005" in set(coded.subgroups.table["segment"])
    assert coded.subgroups.small == ("site missing (1 row)",)
    assert not any("--cluster site" in text for text in coded.warnings)
    with pytest.raises(calbias.InputError, match="--codes ward: name a column of --by"):
        audit_file(path, by="site", codes=["ward"])


def test_scores_of_zero_without_a_hit_have_a_narrow_interval():
    half = np.repeat(["a", "b"], 400)
    table = audit_subgroups(np.zeros(800), np.zeros(800), half).table
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
    found = audit_subgroups(rates.round(1), hits, np.array([*"abcd"])[group], replicates=199)
    assert found.p_value > 0.05


def test_subgroups_of_an_event_have_the_lines_of_their_rows():
    scores, hits, columns = drawn(n=1500)
    a, name = columns["a"], {f"a = {k}": k for k in range(4)}
    found = calbias.audit(probabilities=scores, labels=hits, by={"a": a}, confidence_level=0.9)
    assert len(found.subgroups.table) == 5
    for row in found.subgroups.table.itertuples():
        inside = a == name[row.segment] if row.segment in name else slice(None)
        risk = calbias.audit(
            probabilities=scores[inside], labels=hits[inside], confidence_level=0.9
        ).risk
        for line, first in (("intercept, slope fixed at 1", "shift"), ("slope", "slope")):
            values = [getattr(row, f"{first}{end}") for end in ("", "_low", "_high")]
            assert values == pytest.approx(risk.loc[line, ["value", "low", "high"]].tolist())
    assert f">{found.subgroups.table['slope_high'][0]:.3f}<" in found.to_html()
    ids = np.arange(1500) % 50
    table = calbias.audit(probabilities=scores, labels=hits, by=a, clusters=ids).subgroups.table
    assert table["slope"].notna().all()
    assert table[["shift_low", "slope_high"]].isna().all(axis=None)
    assert "slope" not in audit_subgroups(scores, hits, a).table
