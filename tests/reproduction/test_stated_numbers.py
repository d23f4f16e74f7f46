"""Numbers and sides that sentences, tables and pages state to a reader, each by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student_t
from verdicts import judge

import calbias
from calbias.auditing.description import description_of
from calbias.auditing.inputs import prepared
from calbias.auditing.page.advice import (
    recalibration_code,
    recalibration_sentence,
    things_to_do,
)
from calbias.auditing.recalibrations import recalibration_table
from calbias.auditing.risk_model import risk_summary
from calbias.auditing.verdict.words import ORDER, SPREAD
from calbias.engine.posterior import PosteriorCurve
from calbias.samples.by_score import Scored
from reproduction.steps.write_numbers import findings


def test_a_verdict_that_differs_from_the_interval_says_why():
    """Counted on 200 data sets of 20 kinds: 10 had no such words."""
    audit = calbias.audit(np.linspace(0.1, 0.9, 100), np.arange(100) % 2)
    for p_value, low, words in (
        (0.3, 0.012, "although the interval excludes 0"),
        (0.3, 0.0004, ""),  # printed as 0.0
        (0.0005, 0.0, "although the interval includes 0"),
        (0.02, 0.0, ""),
        (0.0005, 0.012, ""),
    ):
        verdict = replace(audit.verdict, p_value=p_value, miscalibrated=p_value <= 0.05)
        found = replace(audit, verdict=verdict, interval=(low, 0.1))
        assert found.contrast.startswith(words)
        assert bool(found.contrast) == bool(words)
        assert found.contrast in found.sentence
        assert not words or found.contrast in found.to_html()


def repeated(n_clusters=60, rows=20, shift=0.0):
    """Return scores, hits and clusters whose rows are all the same."""
    generator = np.random.default_rng(0)
    scores = np.repeat(generator.uniform(0.2, 0.8, n_clusters), rows)
    hits = np.repeat(generator.random(n_clusters), rows) < scores - shift
    return scores, hits, np.repeat(np.arange(n_clusters), rows)


def test_a_recalibration_helps_after_holms_correction():
    generator = np.random.default_rng(31)
    scores = generator.beta(4, 1.5, 300)
    hits = (generator.random(300) < scores**1.25).astype(int)
    table = recalibration_table(prepared(scores, hits))
    assert (table["p_value"].min() < 0.05) & (table["gain"].min() > 0)
    assert not table["helps"].any()


def advised(low, high, miscalibrated=False, recalibration=None, mean=0.5, error=None):
    finding, ends = SimpleNamespace(kind="shape"), np.array([0.0, 1.0])
    return SimpleNamespace(
        kind="event",
        n=400,
        miscalibrated=miscalibrated,
        error=(low + high) / 2 if error is None else error,
        interval=(low, high),
        n_clusters=None,
        curve=PosteriorCurve(ends, ends, 0 * ends, 0 * ends + 1),
        bins=SimpleNamespace(mean_score=np.array([0.5]), n_in_bin=np.array([100])),
        recalibration=recalibration,
        verdict=SimpleNamespace(finding=finding, second=None),
        description={"mean_score": mean},
        subgroups=None,
    )


def test_the_advice_by_the_upper_end_and_the_length_of_the_interval():
    assert "an error of 5.0 % would matter" in things_to_do(advised(0.0, 0.05))[0]
    assert things_to_do(advised(0.0, 0.015))[0].startswith("Nothing: an error above 1.5 %")
    assert len(things_to_do(advised(0.04, 0.05, True))) == 1
    assert "2 % is inside its interval" in things_to_do(advised(0.01, 0.05, True))[1]
    assert len(things_to_do(advised(0.01, 0.05, True, error=0.021))) == 1
    assert len(things_to_do(advised(0.13, 0.15, True))) == 1


SHIFT = pd.DataFrame(
    {"helps": True, "brier_before": 0.2, "brier_after": 0.19, "gain": 0.01, "gain_se": 0.001,
     "parameter": 0.2, "least": 0.01, "greatest": 0.99, "validation_rows": 0}, index=["shift"],
)  # fmt: skip


def test_no_recalibration_is_printed_without_a_finding():
    """The scores are calibrated; a shift that is not advised has no recipe either."""
    for finding, high in (("shape", 0.05), ("level", 0.015)):
        found = advised(0.0, high, False, SHIFT)
        found.verdict.finding.kind = finding
        assert recalibration_code(found) == ""
        found.miscalibrated = True
        assert 'Recalibrator("shift")' in recalibration_code(found)


def test_advice_for_clusters_and_for_a_small_error():
    grouped = advised(0.0, 0.05)
    grouped.n_clusters = 40
    assert things_to_do(grouped)[0].startswith("Get labels of more clusters if")
    small = things_to_do(advised(0.001, 0.01, True, SHIFT))
    assert len(small) == 1
    assert "Leave the risks alone; where smaller errors matter, recalibrate: adding" in small[0]


def test_a_shift_that_moves_most_rows_away_from_the_curve_is_not_advised():
    """Nineteen rows of twenty are right at .01, the others are hits in 65 % at .9."""
    generator = np.random.default_rng(0)
    scores = np.repeat([0.01, 0.9], [1900, 100])
    hits = generator.random(2000) < np.where(scores < 0.5, 0.01, 0.65)
    found = calbias.audit(scores, hits)
    assert found.recalibration["helps"]["shift"]
    assert 'Recalibrator("slope")' in recalibration_code(found)
    found = replace(found, recalibration=found.recalibration.drop(index="slope"))
    assert "a shift moves most rows away from the curve" in things_to_do(found)[0]
    assert recalibration_code(found) == ""


def test_a_tolerable_error_is_small_beside_rare_outcomes():
    """Risks of 0.1 % on average: an error of 0.5 % is not excluded, and that is five times them."""
    assert "an error of 0.50 % would matter" in things_to_do(advised(0.0, 0.005, mean=0.001))[0]
    assert "an error of 0.50 % would matter" in things_to_do(advised(0.0, 0.005, mean=0.999))[0]
    assert things_to_do(advised(0.0, 0.005))[0].startswith("Nothing")
    assert things_to_do(advised(0.0, 0.3))[0].startswith("Get more labels: these rows do not")
    assert things_to_do(advised(0.004, 0.009, True))[0].startswith("The error is small")


def test_scores_in_the_wrong_order_are_a_mistake_first():
    generator = np.random.default_rng(0)
    risk = generator.beta(2, 2, 600)
    found = calbias.audit(probabilities=risk, labels=(generator.random(600) < 1 - risk).astype(int))
    assert f"{ORDER} (slope -" in found.sentence
    assert things_to_do(found) == [
        "Check labels and columns first: rows of higher risk have fewer events."
    ]
    assert recalibration_code(found) == ""
    assert any("1 - p fits the given events better" in text for text in found.warnings)


def test_a_shift_that_the_verdict_finds_is_advised_where_the_brier_score_cannot_tell():
    generator = np.random.default_rng(1003)
    risk = generator.beta(1, 12, 400)
    events = (generator.random(400) < 0.6 * risk).astype(int)
    found = calbias.audit(probabilities=risk, labels=events)
    assert found.verdict.finding.kind == "level"
    assert not found.recalibration["helps"].any()
    first = things_to_do(found)[0]
    assert first.startswith("Recalibrate: adding −0.58 to the log odds of each risk makes")
    assert first.endswith("which may be chance.")
    assert 'Recalibrator("shift")' in recalibration_code(found)
    assert found.error >= abs(found.verdict.finding.gap)


def test_a_curve_that_no_threshold_separates_has_a_finite_slope():
    """Half of the rows are hits at every score above 1/2: Newton's whole steps diverge there.

    A slope of 0, or slightly below, is no wrong order.
    """
    samples = []
    for seed, slope in ((1051, "0.04"), (7041, "-0.02")):
        generator = np.random.default_rng(seed)
        samples.append((generator.uniform(0.5, 1, 1000), generator.random(1000) < 0.5))
        assert f"{SPREAD[0]} (slope {slope})" in judge(*samples[-1], replicates=199).sentence
    assert things_to_do(calbias.audit(*samples[-1]))[0].startswith("Recalibrate: Platt scaling")


def test_the_share_of_hits_allows_for_clusters():
    """Twenty equal rows a cluster: the limits are those of one row a cluster, with Student's."""
    scores, hits, clusters = repeated(shift=0.25)
    found = calbias.audit(scores, hits, clusters=clusters)
    alone = description_of(prepared(scores[::20], hits[::20]), 0.95)
    widths = [each["accuracy_high"] - each["accuracy_low"] for each in (found.description, alone)]
    assert widths[0] == pytest.approx(widths[1], rel=0.06)
    assert found.mean_design_effect > 10
    finding = found.verdict.finding
    assert finding.kind == "level"
    sums = (scores - hits)[::20]
    reach = student_t.ppf(0.975, 59) * sums.std(ddof=1) / np.sqrt(60)
    assert finding.gap_high - finding.gap == pytest.approx(reach, rel=1e-6)


@pytest.mark.parametrize("method", ["shift", "platt", "isotonic", "temperature"])
def test_the_lines_of_the_advice_run_as_printed(method):
    generator = np.random.default_rng(1)
    scores = generator.beta(4, 1.5, 2000)
    hits = (generator.random(2000) < scores**1.5).astype(int)
    logits = np.stack([np.zeros(2000), logit(scores)], axis=1)
    logits3 = np.append(logits, np.full((2000, 1), -50.0), axis=1)
    scores = scores.astype(np.float32)
    scores[:20] = 1.0  # a network's scores that rounded, in single precision
    data = prepared(scores, hits)
    if method == "temperature":
        data = prepared(logits=logits, labels=hits, top_label=True)
    table = recalibration_table(data).loc[[method]].assign(helps=True)
    names = {"scores": pd.Series(scores), "hits": pd.Series(hits)}
    names |= {"new_scores": pd.Series(scores), "labels": pd.Series(hits)}
    names |= {"logits": pd.DataFrame(logits3), "new_logits": pd.DataFrame(logits3)}
    exec(recalibration_code(advised(0, 0, True, table)), names)
    recalibrated = names["recalibrated"]
    recalibrated = recalibrated[:, 1] if recalibrated.ndim == 2 else recalibrated
    assert np.mean((recalibrated - hits) ** 2) < np.mean((scores - hits) ** 2)


def votes_of_ten(seed=0, n=800):
    """Return shares of ten votes, 0 and 1 among them, and hits of the slope 1/2."""
    generator = np.random.default_rng(seed)
    rate = generator.beta(1.1, 1.3, n)
    share = generator.binomial(10, rate) / 10
    return share, generator.random(n) < expit(0.5 * logit(rate))


def test_the_slope_of_votes_is_one_number_in_sentence_and_table():
    share, events = votes_of_ten()
    found = calbias.audit(probabilities=share, labels=events.astype(int))
    slope = found.risk.loc["slope", "value"]
    assert 0.3 < slope < 0.6
    assert f"{SPREAD[0]} (slope {slope:.2f})" in found.sentence
    assert found.verdict.finding.slope == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("method", ["shift", "platt"])
def test_the_lines_of_the_advice_do_to_votes_what_was_judged(method):
    """Scores of 0 and 1 are taken where the fit took them: the mean is then that of the hits."""
    share, hits = votes_of_ten()
    table = recalibration_table(prepared(share, hits)).assign(helps=True)
    assert 0.005 < table.loc[method, "least"] < 0.025
    assert 0.975 < table.loc[method, "greatest"] < 0.995
    names = {"scores": share, "hits": hits, "new_scores": share}
    exec(recalibration_code(advised(0, 0, True, table.loc[[method]])), names)
    assert names["recalibrated"].mean() == pytest.approx(hits.mean(), abs=1e-4)
    assert names["recalibrated"][share == 1].max() < 0.995


def test_platt_scaling_helps_votes_whose_slope_is_wrong():
    table = recalibration_table(prepared(*votes_of_ten()))
    assert table.loc["platt", "helps"]
    assert table.loc["platt", "gain"] > table.loc["shift", "gain"]


def test_too_few_rows_for_a_recalibration_are_said_to_be_too_few():
    """One hit in seven rows at .9."""
    for rows, is_few in ((49, True), (50, False)):
        found = calbias.audit(np.full(rows, 0.9), np.arange(rows) % 7 == 0)
        assert found.miscalibrated
        assert ("takes 50 rows of both outcomes" in things_to_do(found)[0]) == is_few
        assert (recalibration_code(found) == "") == is_few


def test_few_events_allow_one_parameter():
    generator = np.random.default_rng(0)
    risks = generator.beta(1, 9, 400)
    hits = (np.arange(400) % 8 == 0).astype(int)  # 50 events
    table = recalibration_table(prepared(risks, hits))
    assert {*table.index} == {"shift", "slope"}
    assert expit(logit(risks) + table["parameter"]["shift"]).sum() == pytest.approx(50)


def test_the_gain_of_a_recalibration_has_its_95_percent_interval():
    for method, gain, words in (
        ("platt", 0.01, "from 20.00 to 19.00, by 1.00 ± 0.20 (95 %; times 100, cross-validated)"),
        ("shift", 0.001, "The Brier score falls from 20.00 to 19.90, by 0.10 ± 0.20 (95 %"),
        ("shift", 0.0021, "falls from 20.00 to 19.79, by 0.21 ± 0.20 (95 %"),
        ("shift", -0.001, "a shift does not lower the Brier score by more than chance"),
    ):
        table = SHIFT.assign(helps=gain == 0.01, brier_after=0.2 - gain, gain=gain)
        found = advised(0, 0, True, table.rename(index={"shift": method}))
        found.verdict.finding.kind = "level"
        sentence = recalibration_sentence(found)
        assert words in sentence
        assert ("which may be chance." in sentence) == (gain == 0.001)
        assert ("which may be chance: the best of 1 methods." in sentence) == (gain == 0.0021)


def test_with_few_rows_nothing_is_advised_that_may_be_luck():
    table = SHIFT.assign(helps=False, gain=0.0015)
    found = advised(0, 0, True, table)
    found.verdict.finding.kind = "level"
    assert recalibration_sentence(found).startswith("Recalibrate: adding 0.20")
    found.n = 199
    sentence = recalibration_sentence(found)
    assert "199 rows do not tell whether a recalibration helps: by a shift" in sentence
    assert "falls by 0.15, with a standard error of 0.10 (times 100). Get more labels" in sentence
    assert recalibration_code(found) == ""


def test_one_parameter_is_the_one_that_the_verdict_names():
    two = pd.concat([SHIFT, SHIFT.rename(index={"shift": "slope"}).assign(gain=0.02)])
    for helps in (True, False):
        found = advised(0, 0, True, two.assign(helps=helps))
        for kind, method in (("level", "shift"), ("line", "slope")):
            found.verdict.finding = SimpleNamespace(kind=kind, is_reversed=False)
            assert f'Recalibrator("{method}")' in recalibration_code(found)


def test_the_brier_interval_of_a_comparison_is_two_sided_students():
    generator = np.random.default_rng(0)
    scores = generator.beta(2, 2, 40)
    hits = generator.random(40) < scores
    found = calbias.compare(scores, scores**1.3, hits, confidence_level=0.8)
    falls = (scores**1.3 - hits) ** 2 - (scores - hits) ** 2
    reach = student_t.ppf(0.9, 39) * falls.std(ddof=1) / np.sqrt(40)
    assert found.brier_high - found.brier_low == pytest.approx(2 * reach)


def test_intervals_of_a_risk_model():
    generator = np.random.default_rng(0)
    risk = generator.beta(4, 4, 500)
    rows = {row.name: row for row in risk_summary(Scored.of(risk, generator.random(500) < risk))}
    assert rows["prevalence"].low < 0.5 < rows["prevalence"].high
    assert rows["uncertainty (UNC)"].high == 0.25


def test_the_finding_on_intervals_has_the_coverage_of_each_method():
    methods = ("percentile_bootstrap", "basic_bootstrap", "sun2024", *2 * ["calbias"])
    table = pd.DataFrame({"case": methods, "value": [41.0, 52.0, 63.0, 96.0, 85.0]})
    judged = "mean coverage, cells that it was not made on"
    table = table.assign(id="C02", name=4 * ["mean coverage"] + [judged])
    [finding] = findings({"own_measurements": table}, topics=("coverage",))
    for words in ("Percentile bootstrap: 41.", "Basic bootstrap: 52.", "Sun et al. (2024): 63.",
                  "`calbias audit`: 96, and 85 on settings"):  # fmt: skip
        assert words in finding.text


def test_the_findings_on_trained_networks_have_the_numbers_of_the_claims():
    columns = ["id", "name", "case", "value", "error"]
    name = "|debias_em| − |sweep_em| on the truth"
    rows = [
        ("N11", name, "all (9):", -3.0, 0.5),
        ("N11", name, "drawn at random (4):", -1.5, 0.125),
        ("N11", name, "drawn at random (5):", 1.0, 0.25),
    ]
    claims = pd.DataFrame(
        {"id": ["N09", "N11"], "claim": "On networks: it is so", "verdict": "not_reproduced",
         "note": ["on those drawn first approximate: x", "on those drawn first does not carry: x"]}
    )  # fmt: skip
    measurements = pd.DataFrame(rows, columns=columns)
    tables = {"network_measurements": measurements, "network_claims": claims}
    debias, sweep = findings(tables, topics=("truth",))
    assert "On 4 networks drawn at random debias is nearer by 1.500 ± 0.125" in debias.text
    assert "On 5 networks drawn at random the sweep is nearer by 1.000 ± 0.250" in sweep.text
    n09, n11 = findings(tables, topics=("networks",))
    assert n09.title + n09.text == "N09, does not carry over (first: approximate): it is so."
    assert n11.text == ", does not carry over: it is so."
