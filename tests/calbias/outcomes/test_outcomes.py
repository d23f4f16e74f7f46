"""Outcomes that are right on average: one path with clusters, known values, and refusals."""

import re

import numpy as np
import pytest
from follow_up_by_r import FILES
from refusals import refuses

import calbias
from calbias.auditing.data import Data
from calbias.auditing.page.picture import SIDE, TOP, picture
from calbias.auditing.subgroups.segments import segments_of
from calbias.auditing.verdict.judge import judge
from calbias.errors import InputError
from calbias.outcomes.given import Given
from calbias.recalibrator import Recalibrator

by_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


def drawn(n=600, seed=0):
    """Return scores of a calibrated model, hits, and the generator."""
    rng = np.random.default_rng(seed)
    scores = rng.beta(3, 2, n)
    return scores, (rng.random(n) < scores).astype(float), rng


def followed(file, **options):
    times, causes = file.columns
    given = {"times": times, "events": causes, "horizon": file.horizon, "event": file.event}
    return calbias.audit(probabilities=file.table.risk, **given, **options)


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.name)
def audited(request):
    return request.param, followed(request.param)


def test_ratio_lines_and_their_errors_are_those_of_r(audited):
    file, audit = audited
    table = audit.risk
    ratio = table.loc["observed/expected", ["value", "low", "high"]].tolist()
    assert ratio == pytest.approx(file.ratio, rel=5e-8)
    names = ["intercept with the slope", "slope", "intercept, slope fixed at 1"]
    assert table.loc[names, "value"].tolist() == pytest.approx(file.line, rel=2e-6)
    errors = (table.loc[names, "high"] - table.loc[names, "value"]) / 1.959964
    assert errors.tolist() == pytest.approx(file.line_errors, rel=2e-6)


@by_file
def test_one_stratum_has_the_brier_score_and_the_risk_of_r(file):
    table = followed(file, censoring="marginal").risk["value"]
    assert table["Brier score"] == pytest.approx(file.brier, rel=5e-8)
    assert table["prevalence"] == pytest.approx(file.risk, rel=5e-8)
    skill = 1 - file.brier / file.null_brier
    assert table["Brier skill score"] == pytest.approx(skill, abs=1e-7)


def test_a_genuine_file_is_neither_too_high_nor_too_low(audited):
    """Without its censored rows gbsg is too low by 12.6 points, with all as no event too high."""
    file, audit = audited
    assert not audit.miscalibrated
    low, high = audit.interval
    assert low == 0 < audit.error < high < 0.1
    assert file.name != "gbsg_5y" or "285 events, 278 censored before" in audit.sentence
    assert audit.corp is None
    assert "CORP" not in audit.to_html()


def test_shares_below_0_and_above_1_are_drawn_on_the_frame(audited):
    """The largest share of gbsg_5y is 1.004, the least of mgus2_pcm_10y −0.010."""
    _, audit = audited
    whole, *_ = picture(audit).split("Enlarged")
    heights = [float(y) for y in re.findall(r'class="bin" cx="[\d.]+" cy="([\d.-]+)"', whole)]
    assert TOP <= min(heights) <= max(heights) <= TOP + SIDE


def test_the_order_of_the_rows_does_not_matter():
    file = FILES[0]
    times, causes = file.columns
    order = np.random.default_rng(1).permutation(times.size)
    given = {"times": times[order], "events": causes[order], "horizon": file.horizon}
    risks = file.table.risk.to_numpy()
    site = np.arange(times.size) % 3
    shuffled = calbias.audit(probabilities=risks[order], by={"site": site[order]}, **given)
    assert shuffled.to_json() == followed(file, by={"site": site}).to_json()


def test_follow_up_to_the_end_is_the_exact_audit():
    scores, hits, rng = drawn()
    times = np.where(hits == 1, 5 * rng.random(hits.size), 5 + rng.random(hits.size))
    by_label = calbias.audit(probabilities=scores, labels=hits)
    audit = calbias.audit(probabilities=scores, times=times, events=hits, horizon=5)
    assert audit.verdict == by_label.verdict
    assert (audit.error, audit.interval) == (by_label.error, by_label.interval)
    assert audit.risk.equals(by_label.risk)


def test_shares_weights_and_all_human_labels_by_hand():
    scores, hits, rng = drawn()
    plain = calbias.audit(scores, hits)
    equal = calbias.audit(scores, hits, weights=np.full(600, 3.0))
    human = calbias.audit(scores, hits, judge=rng.random(600), labelled=1.0)
    assert equal.design_effect == pytest.approx(human.design_effect)
    assert equal.error == pytest.approx(human.error)
    assert equal.error == pytest.approx(plain.error, abs=0.01)
    left_out = hits.copy()
    left_out[:100] = 1 - left_out[:100]
    weights = np.where(np.arange(600) < 100, 0.0, 1.0)
    gone = calbias.audit(scores, left_out, weights=weights)
    kept = calbias.audit(scores[100:], hits[100:], weights=weights[100:])
    assert (gone.error, gone.p_value, gone.n) == (kept.error, kept.p_value, 500)
    shares = calbias.audit(scores, np.where(hits == 1, 0.75, 0.25))
    assert shares.description["accuracy"] == pytest.approx((0.75 * hits + 0.25 * (1 - hits)).mean())


def test_a_judge_that_is_wrong_is_corrected():
    scores, hits, rng = drawn(4000)
    says = np.where(hits == 1, rng.random(4000) < 0.92, rng.random(4000) < 0.15).astype(float)
    human = np.where(rng.random(4000) < 0.2, hits, np.nan)
    assert calbias.audit(scores, says).miscalibrated
    audit = calbias.audit(scores, human, judge=says)
    assert not audit.miscalibrated
    assert audit.interval[0] == 0
    assert audit.description["accuracy"] == pytest.approx(hits.mean(), abs=0.03)
    wrong = calbias.audit(scores**3, human, judge=says)
    assert wrong.miscalibrated
    assert wrong.p_value < 0.001


def test_the_noise_of_outcomes_is_seen():
    """Rows that are copies count like one, as do clusters; weights of few rows count like few."""
    scores, hits, _ = drawn(400)
    weights = np.where(np.arange(400) < 40, 50.0, 1.0)
    audit = calbias.audit(scores, hits, weights=weights)
    kish = weights.sum() ** 2 / (weights @ weights)
    assert audit.effective_n == pytest.approx(kish, rel=0.25)
    assert audit.n_clusters is None
    copies = calbias.audit(
        np.repeat(scores, 4), np.repeat(hits, 4), weights=np.ones(1600),
        clusters=np.repeat(np.arange(400), 4),
    )  # fmt: skip
    single = calbias.audit(np.repeat(scores, 4), np.repeat(hits, 4), weights=np.ones(1600))
    assert copies.design_effect > 3.5 * single.design_effect
    assert copies.n_clusters == 400


def test_no_event_where_one_was_expected_is_no_finding():
    """All residuals have one sign then, and signs alone reject."""
    risks = np.full(500, 0.002) * np.linspace(0.9, 1.1, 500)
    outcomes = Given(weights=np.ones(500)).outcomes(risks, np.zeros(500))
    scored = Data.of(of_scores(risks)).with_outcomes(outcomes).scored
    verdict = judge(scored)
    assert verdict.cluster_facts.p_signs < 0.01
    assert verdict.p_value > 0.3


def of_scores(scores):
    from calbias.reading.top_label import top_label_of_scores

    return top_label_of_scores(scores, np.zeros(scores.size))


def test_an_event_at_a_risk_of_0_decides_alone():
    scores, hits, rng = drawn()
    scores[:3], hits[:3] = 0.0, [1, 0, 0]
    audit = calbias.audit(probabilities=scores, labels=hits, weights=rng.random(600) + 0.5)
    assert audit.verdict.parts[0].name == "certain"
    assert audit.p_value < 0.001
    hits[0] = 0
    audit = calbias.audit(probabilities=scores, labels=hits, weights=rng.random(600) + 0.5)
    assert audit.verdict.parts[0].name != "certain"


def test_a_subgroup_is_found():
    rng = np.random.default_rng(3)
    n = 3000
    risk, site = rng.beta(2, 4, n), np.arange(n) % 3
    chance = np.where(site == 1, risk**0.5, risk)
    time = 5 * np.log1p(-rng.random(n)) / np.log1p(-chance)
    end = rng.exponential(8, n)
    follow_up = {"times": np.minimum(time, end), "events": (time <= end) * 1, "horizon": 5}
    audit = calbias.audit(probabilities=risk, by={"site": site}, **follow_up)
    assert audit.subgroups.table.loc[audit.subgroups.table["apart"], "segment"].tolist() == [
        "site = 1"
    ]
    fair = calbias.audit(probabilities=chance, by={"site": site}, **follow_up)
    assert fair.subgroups.table["p_value"].min() > 0.05


def test_recalibration_repairs_what_follow_up_shows():
    rng = np.random.default_rng(4)
    n = 3000
    risk = rng.beta(2, 4, n)
    time = 5 * np.log1p(-rng.random(n)) / np.log1p(-(risk**2))
    end = rng.exponential(8, n)
    follow_up = {"times": np.minimum(time, end), "events": (time <= end) * 1, "horizon": 5}
    recalibrator = Recalibrator("platt").fit(risk, **follow_up)
    assert recalibrator.gain_interval_[0] > 0
    after = calbias.audit(probabilities=recalibrator.predict(risk), **follow_up)
    assert after.risk.loc["observed/expected", "value"] == pytest.approx(1, abs=0.02)
    inside = risk < 0.6
    assert recalibrator.predict(risk)[inside] == pytest.approx(risk[inside] ** 2, abs=0.06)
    for method in ("isotonic", "spline"):
        repaired = Recalibrator(method).fit(risk, **follow_up).predict(risk)
        assert repaired[inside] == pytest.approx(risk[inside] ** 2, abs=0.2)
    with pytest.raises(InputError, match="a spline takes no weights"):
        Recalibrator("spline").fit(risk, risk > 0.5, weights=risk)


def test_one_row_of_a_kind_is_named_in_the_singular():
    risk, time = np.linspace(0.1, 0.9, 60), np.arange(60.0)
    follow_up = {"times": time, "events": np.arange(60) == 3, "horizon": 30}
    audits = (
        calbias.audit(probabilities=risk, by=(np.arange(60) < 55), **follow_up),
        calbias.audit(probabilities=risk, labels=np.arange(60) == 3),
    )
    texts = [str((each.sentence, each.warnings, each.notes)) for each in audits]
    assert "(risk at 30: 1 event, 29 censored" in texts[0]
    assert "Events by 30: 1, which are few" in texts[0]
    assert ", 1 event (" in texts[1]
    assert not re.search(r"\b1 (events|rows|subgroups)", " ".join(texts))
    assert "was found in 1 subgroup (" in audits[0].subgroups.sentence


@pytest.mark.parametrize("power", [-1070, -600, 600, 1020])
def test_weights_may_have_any_unit(power):
    scores, hits, rng = drawn()
    weights = rng.integers(1, 9, 600) * 1.0
    audits = [calbias.audit(scores, hits, weights=w) for w in (weights, np.ldexp(weights, power))]
    assert audits[0].to_json() == audits[1].to_json()


def test_columns_of_rows_that_are_not_judged_go_with_them():
    rng = np.random.default_rng(0)
    risk = rng.beta(2, 5, 1000)
    time = 5 * (np.log1p(-rng.random(1000)) / np.log1p(-risk)) ** (1 / 1.3)
    end = rng.exponential(1, 1000) * 15 / np.exp(6 * risk)
    site = np.where(risk > np.median(risk), "high", "low")
    audit = calbias.audit(
        probabilities=risk, times=np.minimum(time, end), events=(time <= end) * 1, horizon=5,
        by={"site": site}, clusters=np.arange(1000) // 2,
    )  # fmt: skip
    assert audit.n == sum(stratum.rows for stratum in audit.strata if stratum.judged) < 1000
    sizes = audit.subgroups.table.set_index("segment")["n"]
    assert sizes["site = high"] + sizes["site = low"] == audit.n
    assert segments_of({"site": site}, 1000).words[0] == "all rows"


def refused(**options):
    scores = np.linspace(0.05, 0.95, 40)
    calbias.audit(**{"scores": scores, "hits": np.arange(40) % 2} | options)


SCORES = np.linspace(0.05, 0.95, 40)
FOLLOW_UP = {
    "scores": None, "hits": None, "probabilities": SCORES, "times": np.arange(1, 41),
    "events": np.arange(40) % 2, "horizon": 20,
}  # fmt: skip
test_what_such_outcomes_do_not_allow_is_refused = refuses(
    refused,
    ({**FOLLOW_UP, "estimators": "all"}, "the bias of an estimator is that of redrawn hits"),
    ({**FOLLOW_UP, "class_wise": True}, "classes, one against the rest, need labels"),
    (
        {**FOLLOW_UP, "labels": np.ones(40)},
        "follow-up goes with probabilities of the event, without",
    ),
    ({**FOLLOW_UP, "horizon": None}, "times and events need horizon too"),
    ({**FOLLOW_UP, "weights": np.ones(40)}, "follow-up goes without weights"),
    ({**FOLLOW_UP, "logits": np.ones((40, 2))}, "go without logits and top_label"),
    ({"weights": -np.ones(40)}, "row 0 .*weights: -1; a weight is at least 0"),
    ({"weights": np.zeros(40)}, "all weights are 0"),
    ({"weights": np.arange(40) ** 9.0}, r"weights 40 rows count like \d\.\d: give rows"),
    ({"judge": SCORES[:8], "scores": SCORES[:8], "hits": np.arange(8) % 2}, "8 rows are too few"),
    ({**FOLLOW_UP, "times": np.zeros(40)}, "all times are 0"),
    ({"weights": np.ones(3)}, r"weights has the shape \(3,\), for 40 rows: give one"),
    ({**FOLLOW_UP, "times": np.ones((2, 20))}, r"times has the shape \(2, 20\): give one number"),
    ({**FOLLOW_UP, "hits": np.ones(40)}, "leave scores and hits out"),
    ({"weights": np.ones(40), "labels": np.ones(40)}, "give these instead of labels"),
    ({"scores": np.arange(40) % 2, "hits": SCORES}, "give the scores first, then the hits"),
    ({"hits": SCORES}, "give the scores first, then the hits"),
    ({"weights": np.ones(40), "by": SCORES > 0.5}, "subgroups take no weights"),
    ({"labelled": 0.5}, "the chance of being labelled goes with a judge"),
    ({"event": 2}, "event goes with follow-up"),
    ({"judge": SCORES * 2}, "row 20 .*judge: 1.0.*; give labels from 0 to 1"),
    ({"judge": SCORES, "hits": np.full(40, np.nan)}, "rows with a human label: 0; give"),
    ({"judge": SCORES, "labelled": [0.5] * 3}, r"labelled has the shape \(3,\), for 40 rows"),
    ({"judge": SCORES, "labelled": 0.01}, "about 0.4 rows have a human label, and 40 have one"),
    (
        {"judge": SCORES, "labelled": 1.0, "hits": np.where(SCORES > 0.5, 1, np.nan)},
        "row 0 .*labelled: 1; a row of this chance has a human label",
    ),
    ({**FOLLOW_UP, "horizon": True}, "horizon must be a number above 0, not True"),
    ({**FOLLOW_UP, "event": "dead"}, "event must be a whole number, a code of events, not 'dead'"),
    ({**FOLLOW_UP, "event": 1.5}, "event must be a whole number, a code of events, not 1.5"),
    ({**FOLLOW_UP, "censored": None}, "censored must be a whole number"),
    ({**FOLLOW_UP, "censoring": ["a", None] * 20}, "row 1 .*censoring: missing"),
    ({**FOLLOW_UP, "censoring": ["a", np.nan] * 20}, "row 1 .*censoring: missing"),
    ({**FOLLOW_UP, "censoring": None}, "censoring must be by-risk, marginal or a column, not None"),
    ({"judge": SCORES, "labelled": 0.0}, r"a chance of being labelled is in \(0, 1\]"),
)


def test_what_is_given_keeps_its_values_and_its_types():
    scores, hits, rng = drawn()
    human = np.where((scores > 0.3) & (rng.random(600) < 0.5), hits, np.nan)
    says = hits.copy()
    audit = calbias.audit(scores, human, judge=says)
    assert "are not judged" in " ".join(audit.warnings)
    assert np.array_equal(says, hits)
    plain = calbias.audit(scores, hits, event=np.int64(1), censored=np.float64(0))
    assert plain.p_value == calbias.audit(scores, hits).p_value


def test_another_keyword_is_named():
    with pytest.raises(TypeError, match=r"audit\(\) got an unexpected keyword argument 'time'"):
        calbias.audit([0.5], [1], time=[3])


def test_a_lone_fraction_is_a_mistake():
    with pytest.raises(InputError, match=r"hit 0\.5 is neither 0 nor 1"):
        calbias.audit([0.5, 0.6, 0.7], [0, 0.5, 1])
