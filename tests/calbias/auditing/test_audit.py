"""calbias.audit: its numbers against independent calculations, its forms, and its limits."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from command import python
from refusals import refuses
from scipy.special import expit, softmax
from scipy.stats import binom, norm, rankdata, t
from verdicts import judge

import calbias
from calbias.auditing import recalibrations
from calbias.auditing.audit import audit_data
from calbias.auditing.data import Options
from calbias.auditing.description import description_of
from calbias.auditing.error import cox, estimator_bias
from calbias.auditing.error.bins import (
    PictureBins,
    binned_ece,
    binomial_limits,
    joined_bins,
    mean_deviation,
    picture_bins,
)
from calbias.auditing.error.cox import noncentrality
from calbias.auditing.error.interval import calibration_interval
from calbias.auditing.inputs import prepared
from calbias.auditing.page.picture import picture
from calbias.auditing.recalibrations import recalibration_table
from calbias.auditing.subgroups.subgroup_audit import audit_subgroups
from calbias.errors import InputError
from calbias.estimation.registry import FOLDER
from calbias.file_audit import audit_file
from calbias.recalibration.logistic import fit_cox
from calbias.samples.by_score import Scored


def drawn(n=800, power=1.0, seed=0):
    generator = np.random.default_rng(seed)
    scores = generator.beta(4, 1.5, n)
    return scores, (generator.random(n) < scores**power).astype(int)


@pytest.fixture(scope="module")
def over():
    return calbias.audit(*drawn(power=1.4))


def clustered(n_clusters=60, size=10):
    generator = np.random.default_rng(3)
    scores = np.repeat(generator.uniform(0.2, 0.8, n_clusters), size)
    hits = np.repeat(generator.random(n_clusters), size) < scores  # all rows of a cluster agree
    return scores, hits, np.repeat(np.arange(n_clusters), size)


@pytest.fixture(scope="module")
def in_clusters():
    scores, hits, clusters = clustered()
    return calbias.audit(scores, hits, clusters=clusters)


def test_one_number_for_one_question(over):
    scores, hits = drawn(power=1.4)
    assert over.ece == pytest.approx(calbias.estimate("ece_bin_ew", scores, hits, norm=1).value)
    estimate = calbias.estimate("averaged_posterior", scores, hits, norm=1).value
    assert over.error == max(estimate, over.verdict.finding.gap)  # the sentence states this gap
    assert over.interval == calibration_interval(Scored.of(scores, hits)).at()
    low, high = over.interval
    answers = [over.within(x) for x in (low / 2, over.error, high)]
    assert answers == ["no", "undecided", "yes"]
    for x in (1, 5):  # percent are asked about
        with pytest.raises(calbias.InputError, match=f"not {x}: {x} % is 0"):
            over.within(x)
    with pytest.raises(calbias.InputError, match=r"within takes a fraction .*, not '5%'"):
        over.within("5%")
    assert over.p_value == judge(scores, hits).p_value
    found = over.description["accuracy"], over.description["brier"]
    assert found == pytest.approx((hits.mean(), np.mean((scores - hits) ** 2)))


def test_verdicts(over):
    scores = drawn()[0]
    truth = np.mean(np.abs(scores**1.4 - scores))
    assert over.interval[0] < truth < over.interval[1]
    assert (over.miscalibrated, over.direction) == (True, "overconfident")
    assert over.n_clusters is over.effective_n is over.design_effect is None


@pytest.mark.parametrize(
    "chances", [[0.5] * 10, np.linspace(0.01, 0.99, 30), np.full(400, 0.002), np.full(9, 0.97)]
)
def test_the_mean_deviation_against_the_distribution_of_the_sum(chances):
    chance = np.ones(1)
    for p in chances:
        chance = np.convolve(chance, [1 - p, p])
    expected = np.abs(np.arange(chance.size) - np.sum(chances)) @ chance
    values, rows = np.unique(chances, return_counts=True)
    assert mean_deviation(values, rows) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("chance", [1e-7, 2e-6, 1e-4])
def test_the_mean_deviation_of_many_rows_with_rare_hits(chance):
    n = 1_000_000
    below = np.arange(np.ceil(n * chance))
    expected = 2 * np.sum((n * chance - below) * binom.pmf(below, n, chance))
    for p, rows in (([chance], [n]), ([1 - chance], [n]), ([chance, 2 * chance], [n // 2, n // 4])):
        assert mean_deviation(np.array(p), np.array(rows)) == pytest.approx(expected, rel=1e-4)


def test_the_noise_floor_of_many_rows_is_that_of_a_normal_distribution():
    scores = np.tile([0.5, 0.3], 4000)  # variances 1000 and 840: the one bin above 500 each
    expected = np.sqrt(2 / np.pi) * (np.sqrt(1000) + np.sqrt(840)) / 8000
    assert binned_ece(Scored.of(scores, scores > 0.4))[1] == pytest.approx(expected)


def test_bins_of_the_picture_hold_every_row_once_and_equal_scores_together():
    scores = np.r_[np.full(300, 0.02), np.linspace(0.03, 1, 200), np.ones(40)]
    hits = np.random.default_rng(0).random(scores.size) < scores
    bins = picture_bins(Scored.of(scores, hits))
    assert bins.n_in_bin.sum() == scores.size
    assert bins.n_in_bin @ bins.mean_hit == pytest.approx(hits.sum())
    assert (bins.highest_score[:-1] < bins.lowest_score[1:]).all()
    assert ((bins.low <= bins.mean_hit) & (bins.mean_hit <= bins.high)).all()
    place = 0.5 * (rankdata(scores) - 0.5) / 540 + 0.5 * (scores - 0.02) / 0.98
    steps = np.minimum(np.floor(20 * place), 19)
    assert bins.lowest_score.tolist() == [scores[steps == k].min() for k in np.unique(steps)]


def test_the_forms_of_the_result(over):
    as_dict = json.loads(over.to_json())
    assert as_dict["generator"] == "calbias audit"
    assert as_dict["ece"] == over.ece
    assert tuple(as_dict["interval"].values()) == over.interval
    assert len(as_dict["verdict"]["parts"]) >= 5
    assert "<svg" in over._repr_html_()
    page = over.to_html("mine")
    assert "Calibration audit of mine" in page
    assert "no error changes its sign within a bin" in over.assumption
    assert over.assumption in page
    assert (str(over), repr(over)) == (over.sentence, f"<Audit: {over.sentence}>")
    with pytest.raises(AttributeError):
        over.error = 0


def test_the_figure_shows_the_range_of_the_scores(over):
    axes = over.plot()
    assert axes.get_xlim() == (0, 1)
    n_points = len(axes.collections[-1].get_offsets())
    assert n_points == over.bins.mean_hit.size
    assert max(axes.get_yticks()) == pytest.approx(1)
    assert axes is over.plot(ax=axes)
    generator = np.random.default_rng(3)
    scores = generator.uniform(0.8, 1, 600)
    high = calbias.audit(scores, generator.random(600) < scores).plot()
    assert high.get_xlim()[0] >= 0.5
    one = calbias.audit([0.2] * 50, [0] * 40 + [1] * 10)
    least, most = one.plot().get_xlim()
    assert least <= one.bins.low[0] < one.bins.high[0] <= most
    risks = np.clip(generator.beta(0.9, 20, 900), 1e-4, 0.2)
    found = calbias.audit(probabilities=risks, labels=generator.random(900) < risks)
    axes = found.plot()
    end = axes.get_xlim()[1]
    assert axes.get_xlim()[0] == 0 < risks.max() <= end < 0.4
    assert axes.get_ylim() == pytest.approx((-0.1 * end, end))  # bars of the rows are below 0
    assert min(axes.get_yticks()) == 0
    scores, rates = axes.collections[-1].get_offsets().T
    assert 5 <= scores.size <= 10
    assert rates.max() <= end
    risks = np.r_[np.full(5, 0.9), 0.5 * risks[5:]]  # would push all others into a corner
    axes = calbias.audit(probabilities=risks, labels=generator.random(900) < risks).plot()
    assert axes.get_xlim()[1] <= 0.2
    assert "5 of 900 rows" in axes.get_xlabel()


def test_groups_of_bins_have_a_tenth_of_the_rows():
    """Of 10 rows in groups of at least 4: 1 + 3, 4, and 2 rows that go with the group before."""
    bins = PictureBins(
        np.array([0.1, 0.2, 0.4, 0.8]), np.array([0.15, 0.3, 0.5, 0.9]), np.array([1, 3, 4, 2]),
        np.array([0.12, 0.24, 0.45, 0.84]), np.array([1, 1 / 3, 0.25, 1]), *np.zeros((2, 4)),
    )  # fmt: skip
    groups = joined_bins(bins, 2.5, 0.95, 2.0)
    assert (groups.lowest_score.tolist(), groups.highest_score.tolist()) == ([0.1, 0.4], [0.3, 0.9])
    assert groups.n_in_bin.tolist() == [4, 6]
    assert groups.mean_score == pytest.approx([0.21, 0.58])
    assert groups.mean_hit == pytest.approx([0.5, 0.5])
    low, high = binomial_limits(np.array([1, 1.5]), np.array([2, 3]), 0.95)
    assert (groups.low, groups.high) == (pytest.approx(low), pytest.approx(high))
    assert joined_bins(bins, 1, 0.95, 1.0).n_in_bin.tolist() == [10]


def test_the_page_shows_the_numbers_of_the_audit(over):
    page = over.to_html()
    verdict = page.partition('<div class="verdict')[2].partition("</div>")[0]
    numbers = re.findall(r"\d+\.\d+", verdict.partition("<strong>")[2])
    assert (*numbers[:3], *numbers[-2:]) == over.in_percent
    best = over.recalibration.iloc[0]
    for share, form in (
        (best["brier_before"], ".3f"),
        (best["brier_after"], ".3f"),
        (over.bins.low[-1], ".2f"),
        (over.bins.mean_hit[-1], ".2f"),
    ):
        assert f">{100 * share:{form}}<" in page


def test_the_page_has_both_design_effects():
    generator = np.random.default_rng(0)
    scores, ids = generator.uniform(0.1, 0.9, 400), np.arange(400) % 40
    shift = np.where(ids % 2, 0.2, -0.2) * np.sign(scores - 0.5)  # within a cluster they cancel
    found = calbias.audit(scores, generator.random(400) < scores + shift, clusters=ids)
    effects = found.design_effect, found.mean_design_effect
    words = [f"{400 / effect:.0f}|{effect:.2g}" for effect in effects]
    assert words[0] != words[1]
    page = re.sub(r"\s+", " ", found.to_html())
    said = re.search(
        r"count like about (\d+) .*?effect ([\d.]+)\).*?about (\d+) \(([\d.]+)\)", page
    )
    assert ["|".join(said.groups()[:2]), "|".join(said.groups()[2:])] == words


def test_rows_in_any_order_and_forms_of_arrays(over, in_clusters):
    """As many clusters as rows are none."""
    scores, hits = drawn(power=1.4)
    order = np.random.default_rng(5).permutation(scores.size)
    ids = [f"id{k}" for k in order]
    found = calbias.audit(pd.Series(scores[order]), hits[order, None] > 0, clusters=ids)
    assert found == over
    assert over != in_clusters
    assert over != "an audit"


def test_probabilities_logits_and_events():
    generator = np.random.default_rng(2)
    logits = 3 * generator.normal(size=(200, 4))
    p = softmax(logits, axis=1)
    labels = np.array([generator.choice(4, p=row) for row in p])
    found = calbias.audit(probabilities=p, labels=np.eye(4)[labels])
    for form, values in (("logits", logits), ("probabilities", p)):
        rows = prepared(**{form: values}, labels=labels).rows
        assert rows.score == pytest.approx(p.max(axis=1))
        assert rows.hit.tolist() == (p.argmax(axis=1) == labels).tolist()
    assert found.ece == pytest.approx(binned_ece(Scored.of(rows.score, rows.hit))[0])
    assert (found.kind, found.risk, found.description["n_classes"]) == ("top label", None, 4)
    assert "temperature" in found.recalibration.index
    events, two = labels == 1, np.c_[1 - p[:, 1], p[:, 1]]
    event = calbias.audit(probabilities=p[:, 1], labels=events)
    assert event.kind == "event"
    assert event.description["accuracy"] == pytest.approx(np.mean(events))
    assert "risks of an event" in event.sentence
    assert event.risk.loc["prevalence", "value"] == np.mean(events)
    of_two = prepared(probabilities=two, labels=events)
    assert (of_two.kind, of_two.rows.score.tolist()) == ("event", p[:, 1].tolist())
    top = prepared(probabilities=two, labels=events, top_label=True)
    assert top.rows.hit.tolist() == ((p[:, 1] > 0.5) == events).tolist()


test_bad_options_are_refused = refuses(
    lambda **options: calbias.audit(*drawn(30), **options),
    ({"norm": 3}, "norm must be 1 or 2, not 3"),
    ({"confidence_level": 95}, "confidence_level must be at least 0.5 and below 1, not 95"),
    ({"n_bins": 0}, "n_bins must be a whole number"),
    ({"seed": -1}, "seed must be a whole number"),
    ({"replicates": 1}, "replicates must be a whole number of at least 20, not 1"),
    ({"estimators": "ece_bin_ew"}, 'estimators must be "all" or a list of names, such as'),
    ({"estimators": ["ece_bn"]}, "ece_bn"),
    ({"by": ["a", "b"]}, "column by has the shape"),
    ({"class_wise": True}, "classes need a probability or a logit of every class"),
    ({"clusters": np.arange(30) % 3}, "3 clusters: give at least 10"),
    ({"clusters": np.arange(29)}, "clusters must be one id for each of the 30 rows"),
)


def test_norm_2_and_the_level_of_the_interval(over):
    scores, hits = drawn(power=1.4)
    found = calbias.audit(scores, hits, norm=2, confidence_level=0.9)
    assert found.error == calbias.estimate("averaged_posterior", scores, hits, norm=2).value
    assert found.interval == calibration_interval(Scored.of(scores, hits)).at(2, 0.9)
    assert "(ℓ2)" in found.sentence
    assert "90 %" in found.sentence
    assert "and that it has one size there" in found.assumption
    assert found.rows_per_bin < over.rows_per_bin


def test_clusters_widen_what_rows_that_repeat_each_other_narrow(in_clusters):
    scores, hits, clusters = clustered()
    found, alone = in_clusters, calbias.audit(scores, hits)
    assert (found.n_clusters, alone.n_clusters) == (60, None)
    assert alone.miscalibrated
    assert (found.miscalibrated, found.direction) == (False, "neither")
    assert found.effective_n == pytest.approx(60, rel=0.6)
    assert found.design_effect == pytest.approx(600 / found.effective_n)
    assert found.interval[0] == 0 < alone.interval[0]
    at = calibration_interval(Scored.of(scores, hits, clusters=clusters), found.design_effect).at
    assert (at(), at(2).high >= found.interval[1]) == (found.interval, True)
    root = np.sqrt(found.design_effect)
    assert found.noise_floor == pytest.approx(root * alone.noise_floor)
    for one, other in ((found.curve, alone.curve), (found.bins, alone.bins)):
        assert np.mean(one.high - one.low) > np.mean(other.high - other.low)
    assert "60 clusters" in found.sentence
    assert found.recalibration["gain_se"].min() > alone.recalibration["gain_se"].min()


def test_clusters_count_like_no_more_rows_than_there_are():
    """Each cluster has a hit and a miss of one score: its residuals cancel."""
    scores = np.repeat(np.linspace(0.1, 0.9, 100), 2)
    found = calbias.audit(scores, np.tile([0, 1], 100), clusters=np.repeat(np.arange(100), 2))
    assert (found.effective_n, found.design_effect, found.mean_design_effect) == (200, 1, 1)
    assert found.verdict.cluster_facts.effective_rows == 200


def test_copies_of_rows_in_clusters_have_the_picture_of_the_rows(over):
    scores, hits = (np.repeat(x, 2) for x in drawn(power=1.4))
    found = calbias.audit(scores, hits, clusters=np.repeat(np.arange(800), 2))
    assert found.effective_n == pytest.approx(800)
    for one, other in ((found.curve, over.curve), (found.bins, over.bins)):
        for name in ("low", "high"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6)


def test_limits_of_the_accuracy_of_few_clusters_by_hand():
    """Ten pairs of equal rows, four of hits: twice the variance, 10/9, and Student's quantile."""
    hits = np.repeat(np.arange(10) < 4, 2)
    found = description_of(prepared(np.full(20, 0.5), hits, clusters=np.arange(20) // 2))
    effect = 2 * 10 / 9 * (t.ppf(0.975, 9) / norm.ppf(0.975)) ** 2
    limits = [float(end) for end in binomial_limits(8 / effect, 20 / effect, 0.95)]
    assert [found["accuracy_low"], found["accuracy_high"]] == pytest.approx(limits)


def test_warnings_of_few_misses_and_of_ids():
    """A hint at ids is one where there are no clusters alone."""
    for hits in (np.arange(60) < 3, np.arange(60) >= 3):
        warnings = calbias.audit(np.linspace(0.3, 0.7, 60), hits).warnings
        assert any(f"Hits: {hits.sum()}, misses: {60 - hits.sum()}" in text for text in warnings)
    scores, hits, clusters = clustered()
    for ids, count in ((None, 1), (clusters, 0)):
        data = replace(prepared(scores, hits, clusters=ids), hints=("column game repeats",))
        assert audit_data(data, Options()).warnings.count("Column game repeats.") == count


def test_direction_counts_clusters_not_rows():
    """37 hits in 60 of score ½ are 1.8 standard errors; five copies of each are not 4."""
    clusters = np.repeat(np.arange(60), 5)
    scores, hits = np.linspace(0.45, 0.55, 60)[clusters], 7 * clusters % 60 < 37
    assert calbias.audit(scores, hits).direction == "underconfident"
    assert calbias.audit(scores, hits, clusters=clusters).direction == "neither"


def test_the_order_of_clustered_rows_does_not_matter(in_clusters):
    order = np.random.default_rng(1).permutation(600)
    scores, hits, clusters = (column[order] for column in clustered())
    assert calbias.audit(scores, hits, clusters=clusters) == in_clusters


def test_biases_by_construction_where_they_are_asked_for(over, tmp_path):
    assert over.estimates is None
    body = "def estimate(scores, hits, n_bins, norm):\n    return float(scores.mean())\n"
    (tmp_path / "skill.py").write_text(f'TARGET = "skill"\n\n\n{body}')
    names = ["ece_bin_ew", "ece_debias_em", "ks", "skill", "ks"]
    data, folders = prepared(*drawn(power=1.4)), (FOLDER, tmp_path)
    table = audit_data(data, Options(replicates=100), names, folders=folders).estimates
    assert list(table.index) == ["ece_bin_ew", "ece_debias_em", "ks", "skill"]
    row = table.loc["ece_bin_ew"]
    assert row["value"] == pytest.approx(over.ece)
    error = row["noise_sd"] / 10
    assert row["noise_floor"] == pytest.approx(over.noise_floor, abs=4 * error)
    assert row["curve_error"] == pytest.approx(over.error, rel=0.15)
    assert 0 < row["bias"] < row["noise_floor"]
    assert row["rmse"] >= abs(row["bias"])
    assert table.loc["skill", ["curve_error", "bias", "rmse"]].isna().all()
    assert set(json.loads(over.to_json())) >= {"error", "verdict", "bins", "curve"}


def test_of_very_many_rows_estimators_have_their_values_alone(monkeypatch):
    scores, hits = drawn(power=1.4)
    monkeypatch.setattr(estimator_bias, "MOST_ROWS", 100)
    many = calbias.audit(scores, hits, estimators=["ece_debias_em", "ks", "kde"]).estimates
    for name in ("ece_debias_em", "ks"):
        few = calbias.estimate(name, scores, hits)
        assert many.loc[name, "value"] == pytest.approx(few.value)
        assert many.loc[name, "n_bins"] == pytest.approx(few.n_bins or np.nan, nan_ok=True)
    assert many["value"].isna().tolist() == [False, False, True]  # kde has no definition for sums
    assert many["noise_floor"].isna().all()


def test_missing_names_and_ids_are_not_a_traceback():
    scores, hits = np.linspace(0.1, 0.9, 40), np.arange(40) % 2
    for missing in (None, pd.NA, np.nan):
        names = pd.Series([missing, *["a", "b", "b"] * 13], dtype=object)
        assert "by missing (1 row)" in audit_subgroups(scores, hits, names).small
        for judged in (
            calbias.audit,
            lambda s, y, clusters: calbias.compare(s, s, y, clusters=clusters),
        ):
            with pytest.raises(calbias.InputError, match=r"row 0 .*cluster"):
                judged(scores, hits, clusters=names)
    with pytest.raises(calbias.InputError, match="a list of names, not 3"):
        calbias.audit(scores, hits, estimators=3)


SPLIT = np.linspace(0.1, 0.9, 20)
FAIR = np.tile(np.arange(10) < 5, 100)


@pytest.mark.parametrize(
    ("scores", "hits", "warning", "miscalibrated"),
    [
        (np.linspace(0.5, 0.9, 50), np.ones(50), "All 50 given samples are hits", True),
        (np.full(400, 0.9), np.arange(400) % 10 > 0, "All rows have the same score", False),
        (SPLIT, SPLIT > 0.5, "separates hits from misses", True),
        ([0.2, 0.8], [0, 1], "2 rows are few", False),
        (
            np.r_[np.full(500, 0.3), 0.5 + SPLIT[:20] / 4, np.full(480, 0.7)],
            FAIR,
            "50.0 % of the rows share one score, 0.3:",
            True,
        ),
    ],
)
def test_degenerate_samples_have_a_warning_and_a_true_sentence(
    scores, hits, warning, miscalibrated
):
    found = calbias.audit(scores, hits, estimators=["ece_bin_ew"])
    json.loads(found.to_json())
    found.to_html()
    assert any(warning in text for text in found.warnings)
    assert found.sentence.startswith(f"n = {len(scores)} ")
    assert found.miscalibrated == miscalibrated
    assert "nan" not in found.sentence
    low, high = found.interval
    assert 0 <= low <= found.error <= high <= 1


def test_what_the_audit_cannot_know_is_empty():
    """200 scores with a hit above the median: no curve, no bias, and a wide interval."""
    scores = np.random.default_rng(0).beta(4, 1, 200)
    found = calbias.audit(scores, scores > np.median(scores), estimators=["ece_bin_ew"])
    row = found.estimates.loc["ece_bin_ew"]
    assert row[["curve_error", "bias", "rmse"]].isna().all()
    low, high = found.interval
    assert low <= found.error <= high
    assert high - low > 0.05


def test_labels_by_the_published_example_of_riley_by_closed_form_and_by_own_scores():
    assert cox.slope_labels_beta(0.5, 0.5) == pytest.approx(1644, abs=1)
    scores = np.random.default_rng(0).beta(2.0, 1.0, 200_000)
    expected = cox.slope_labels_beta(2.0, 1.0), 1.96**2 * 2 / (3 * 4) / 0.02**2
    found = (
        cox.slope_labels(scores),
        cox.mean_gap_labels(scores, 0.02),
    )
    assert found == pytest.approx(expected, rel=0.02)


def test_detection_labels():
    assert cox.needed_noncentrality() == pytest.approx(9.635, abs=5e-4)
    scores = np.random.default_rng(1).beta(3, 1, 5000)
    rates = cox.overconfident(scores)(0.25)
    n = cox.detection_labels(scores, rates)
    assert n == pytest.approx(9.635 / noncentrality(scores, rates), rel=1e-3)
    assert cox.cox_power(scores, rates, n) == pytest.approx(0.8)


def test_recalibration_is_fitted_on_the_validation_fold():
    """Shifts by -0.5 on the validation fold and by -1.5 on the judged rows: the first is used."""
    generator = np.random.default_rng(0)
    x = generator.normal(1, 1, 20_000)
    hits = [(generator.random(20_000) < expit(x + shift)).astype(int) for shift in (-0.5, -1.5)]
    validation, data = (prepared(expit(x), each) for each in hits)
    table = recalibration_table(replace(data, validation=validation))
    assert table.loc["shift", "parameter"] == pytest.approx(-0.5, abs=0.05)
    assert set(table["validation_rows"]) == {20_000}
    a, b = fit_cox(np.sort(x), hits[0][np.argsort(x)], np.ones(x.size, int))
    maps = {"shift": x + table.loc["shift", "parameter"], "platt": a + b * x}
    for method, logit in maps.items():
        after = (hits[1] - expit(logit)) ** 2
        fall, row = (hits[1] - expit(x)) ** 2 - after, table.loc[method]
        by_hand = after.mean(), fall.mean(), fall.std(ddof=1) / np.sqrt(fall.size)
        assert (row.brier_after, row.gain, row.gain_se) == pytest.approx(by_hand, rel=1e-6)
    few = recalibration_table(replace(data, validation=validation.part(np.arange(49))))
    assert set(few["validation_rows"]) == {0}
    assert few.equals(recalibration_table(data))


@pytest.mark.parametrize(
    ("n", "misses", "is_empty"), [(50, 1, False), (49, 9, True), (50, 0, True)]
)
def test_fifty_rows_with_one_miss_are_recalibrated(n, misses, is_empty):
    data = prepared(np.linspace(0.6, 0.9, n), np.arange(n) >= misses)
    assert recalibration_table(data).empty == is_empty


def test_very_many_rows_are_recalibrated_by_their_counts(monkeypatch):
    generator = np.random.default_rng(3)
    scores = generator.beta(3, 1, 20_000).round(2)
    data = prepared(scores, generator.random(20_000) < scores**1.5)
    expected = recalibration_table(data)
    monkeypatch.setattr(recalibrations, "MOST_ROWS", 100)
    found = recalibration_table(data)  # other folds
    assert (found["gain"] != expected.loc[found.index, "gain"]).any()
    columns = ["brier_before", "parameter", "helps"]
    pd.testing.assert_frame_equal(found[columns], expected.loc[found.index, columns])
    assert found["gain"].to_numpy() == pytest.approx(expected.loc[found.index, "gain"], rel=0.05)


def test_logits_of_the_validation_fold_alone_are_not_used():
    logits = np.random.default_rng(0).normal(size=(100, 3))
    data = prepared(np.full(100, 0.6), np.arange(100) % 2)
    fold = prepared(logits=logits, labels=np.arange(100) % 3)
    assert {*recalibration_table(replace(data, validation=fold)).index} == {"shift", "slope"}


def test_an_audit_says_that_it_uses_the_validation_fold(tmp_path):
    generator = np.random.default_rng(1)
    logits = 3 * generator.normal(size=(1600, 3))
    labels = (logits / 2 + generator.gumbel(size=logits.shape)).argmax(axis=1)
    is_test = np.arange(1600) % 2 == 1
    fold = np.where(is_test, "test", "validation")
    np.savez(tmp_path / "model.npz", logits=logits, labels=labels, fold=fold)
    found = audit_file(tmp_path / "model.npz")
    assert found.n == 800
    assert found.recalibration.loc["temperature", "parameter"] == pytest.approx(2, rel=0.15)
    assert any("recalibration is fitted on fold validation (800 rows)" in x for x in found.notes)
    told = json.loads((tmp_path / "model.json").read_text())
    assert {row["validation_rows"] for row in told["recalibration"]} == {800}
    page = (tmp_path / "model.html").read_text()
    assert "fitted on the 800 rows of the validation fold" in page
    assert "Fit it on the validation fold" in page
    assert "Fitted on the 800 rows of the validation fold, judged on these rows" in page
    assert "cross-validat" not in page


def test_an_audit_says_that_a_small_validation_fold_is_not_used(tmp_path):
    fold = ["validation"] * 40 + ["test"] * 160
    table = pd.DataFrame({"score": np.linspace(0.1, 0.9, 200), "hit": np.arange(200) % 2})
    table.assign(fold=fold).to_csv(tmp_path / "model.csv", index=False)
    found = audit_file(tmp_path / "model.csv")
    assert {*found.recalibration["validation_rows"]} == {0}
    assert found.notes[-1] == (
        "fold test is judged; fold validation (40 rows) is not used: recalibration needs 50 rows "
        "and both outcomes"
    )


def test_two_rows_are_needed(tmp_path):
    with pytest.raises(InputError, match="one row is too little"):
        calbias.audit([0.5], [1])
    pd.DataFrame({"score": [0.5], "hit": [1]}).to_parquet(tmp_path / "part.parquet")
    with pytest.raises(InputError, match="one row is too little"):  # a folder is read in parts
        audit_file(tmp_path)


def test_scores_that_crowd_at_1_are_enlarged_on_a_logarithmic_axis(over):
    generator = np.random.default_rng(1)
    scores = 1 - 10.0 ** generator.uniform(-6, -2, 300)
    scores[:20] = generator.uniform(0.2, 0.9, 20)
    near_one = calbias.audit(scores, generator.random(300) < scores)
    for found in (near_one, over):
        enlarged = "100 − score, % (log scale, reversed)" in picture(found)
        assert enlarged == (found is near_one)


def test_scores_of_0_and_1_are_judged_with_a_warning():
    hits, classes = np.array([1, 0, 1, 1] * 10), np.array([1.0, 0.0, 1.0, 0.0] * 10)
    for scores in (classes, np.ones(40)):
        audit = calbias.audit(scores, hits)
        assert audit.description["mean_score"] == scores.mean()
        assert audit.ece == pytest.approx(abs(scores - hits).mean())
        assert any("predicted classes" in text for text in audit.warnings)
    sure = np.array([[800.0, 0.0], [0.0, 800.0]] * 20)
    assert calbias.audit(logits=sure, labels=[0, 1] * 20, top_label=True).n == 40


def test_scores_below_a_half_are_told_of_risks():
    scores = np.linspace(0.1, 0.9, 40)
    hits = scores > 0.4
    assert "probabilities=p, labels=y" in prepared(scores, hits).notes[0]
    assert prepared(np.maximum(scores, 0.5), hits).notes == ()


OF_THREADS = """
import numpy as np
import calbias

generator = np.random.default_rng(0)
scores = generator.beta(2.8, 0.5, 30_000)
audit = calbias.audit(scores, generator.random(scores.size) < scores**1.2)
print(audit.interval, audit.verdict, audit.recalibration.to_json(double_precision=15))
"""


@pytest.mark.slow
def test_no_bit_depends_on_the_threads_of_blas():
    one, two = (python(OF_THREADS, OMP_NUM_THREADS=n, OPENBLAS_NUM_THREADS=n) for n in "12")
    assert one == two
