"""A risk model's numbers, against formulas, general software and brute force."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

import calbias
from calbias.auditing.risk_model import FEWEST, local_parabola, risk_summary
from calbias.samples.by_score import Scored

GENERATOR = np.random.default_rng(0)
RISKS = GENERATOR.beta(1, 4, 600)
EVENTS = (GENERATOR.random(600) < expit(0.8 * logit(RISKS) - 0.4)).astype(int)


@pytest.fixture(scope="module")
def rows():
    return {row.name: row for row in risk_summary(Scored.of(RISKS, EVENTS))}


def test_the_numbers_by_their_formulas(rows):
    x = logit(RISKS)

    def loss(ab, slope=None):
        eta = ab[0] + (ab[1] if slope is None else slope) * x
        return np.sum(np.logaddexp(0, eta) - EVENTS * eta)

    intercept, slope = minimize(loss, [0.0, 1.0], options={"gtol": 1e-8}).x
    shift = minimize(loss, [0.0], args=(1.0,), options={"gtol": 1e-8}).x[0]
    pairs = RISKS[EVENTS == 1][:, None] - RISKS[EVENTS == 0]
    expected = {
        "prevalence": EVENTS.mean(),
        "mean risk": RISKS.mean(),
        "observed/expected": EVENTS.sum() / RISKS.sum(),
        "intercept, slope fixed at 1": shift,
        "slope": slope,
        "intercept with the slope": intercept,
        "Brier score": np.mean((EVENTS - RISKS) ** 2),
        "Brier skill score": 1 - np.mean((EVENTS - RISKS) ** 2) / EVENTS.var(),
        "uncertainty (UNC)": EVENTS.mean() * (1 - EVENTS.mean()),
        "c statistic": np.mean(pairs > 0) + np.mean(pairs == 0) / 2,
    }
    for name, value in expected.items():
        assert rows[name].value == pytest.approx(value, abs=2e-5), name


def test_the_parts_of_the_brier_score_add_up(rows):
    parts = [rows[name].value for name in ("miscalibration (MCB)", "discrimination (DSC)")]
    assert rows["Brier score"].value == pytest.approx(
        parts[0] - parts[1] + rows["uncertainty (UNC)"].value
    )


def test_the_interval_of_the_skill_score_is_that_of_the_jackknife(rows):
    loss, n = (EVENTS - RISKS) ** 2, EVENTS.size
    rates = (EVENTS.sum() - EVENTS) / (n - 1)
    without = 1 - (loss.sum() - loss) / (n - 1) / (rates * (1 - rates))
    half = 1.96 * np.sqrt((n - 1) * without.var())
    row = rows["Brier skill score"]
    assert [row.value - row.low, row.high - row.value] == pytest.approx([half, half], rel=0.01)
    none = {row.name: row for row in risk_summary(Scored.of([0.1, 0.2], [0, 0]))}
    assert math.isnan(none["Brier skill score"].value)


def test_the_corp_diagram_is_isotonic_regression(rows):
    fitted = IsotonicRegression().fit(RISKS, EVENTS).predict(RISKS)
    diagram = calbias.corp_diagram(probabilities=RISKS, labels=EVENTS)
    pools = [fitted == value for value in np.unique(fitted)]
    assert diagram.mean_hit == pytest.approx(np.unique(fitted))
    for values, of_pool in (
        (diagram.n_in_bin, np.size), (diagram.mean_score, np.mean),
        (diagram.lowest_score, np.min), (diagram.highest_score, np.max),
    ):  # fmt: skip
        assert values == pytest.approx([of_pool(RISKS[pool]) for pool in pools])
    for name, key in (
        ("miscalibration", "MCB"), ("discrimination", "DSC"), ("uncertainty", "UNC"),
    ):  # fmt: skip
        assert getattr(diagram, name) == pytest.approx(rows[f"{name} ({key})"].value)


def test_the_band_of_the_corp_diagram_is_that_of_a_calibrated_model():
    s, risks = 0.3, np.full(400, 0.3)
    diagram = calbias.corp_diagram(probabilities=risks, labels=np.arange(400) < 90, replicates=4000)
    half = 1.96 * np.sqrt(s * (1 - s) / 400)
    band = [diagram.band_low[0], diagram.band_high[0]]
    assert band == pytest.approx([s - half, s + half], abs=0.005)
    assert diagram.mean_hit[0] == 0.225 < band[0]
    generator = np.random.default_rng(2)
    risks = generator.random(1000)
    outside = []
    for power in (1, 2):
        events = generator.random(1000) < risks**power
        found = calbias.corp_diagram(probabilities=risks, labels=events, confidence_level=0.9)
        above, below = found.mean_hit > found.band_high, found.mean_hit < found.band_low
        outside.append((above | below) @ found.n_in_bin / 1000)
    assert outside[0] < 0.25 < 0.5 < outside[1]


def test_an_audit_and_its_page_have_the_corp_diagram():
    """The band is that of redraws in cells, in a sample that has more scores than cells."""
    generator = np.random.default_rng(3)
    risks = generator.beta(1, 4, 8000)
    rows = {"probabilities": risks, "labels": (generator.random(8000) < risks).astype(int)}
    corp = calbias.audit(**rows).corp
    alone = calbias.corp_diagram(**rows)._asdict()
    for name, value in corp._asdict().items():
        assert value == pytest.approx(alone[name], abs=0.03 * name.startswith("band")), name
    page = calbias.audit(**rows).to_html()
    assert page.count('class="pools"') == page.count('class="consistent"') > 0
    for number in (corp.miscalibration, corp.discrimination, corp.uncertainty):
        assert f"{number:.4f}" in page


def test_intervals_hold_their_values_and_narrow_with_the_level(rows):
    narrow = {row.name: row for row in risk_summary(Scored.of(RISKS, EVENTS), 0.5)}
    for name, row in rows.items():
        if not math.isnan(row.low):
            outside = row.coverage == "value outside"
            assert outside == (not row.low <= row.value <= row.high), name
            assert name in ("ICI", "E50", "E90") or not outside
            assert narrow[name].high - narrow[name].low < row.high - row.low, name
        else:
            assert row.coverage == "not measured"


def test_distances_of_the_local_parabola_are_those_of_least_squares():
    s, y = np.sort(RISKS), EVENTS[np.argsort(RISKS)].astype(float)
    at, nearest = np.unique(s[np.linspace(0, 599, 101).astype(int)]), 450
    slow = []
    for point in at:
        distance = np.abs(s - point)
        weight = np.sqrt(
            np.clip(1 - (distance / np.sort(distance)[nearest - 1]) ** 3, 0, None) ** 3
        )
        design = np.stack([np.ones_like(s), s - point, (s - point) ** 2], axis=1)
        slow.append(np.linalg.lstsq(design * weight[:, None], y * weight, rcond=None)[0][0])
    found = local_parabola(Scored.of(s, y))
    assert found == pytest.approx(np.interp(s, at, slow), abs=1e-9)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.3] * 8, [0.5] * 8),
        (np.repeat([0.2, 0.6], 4), np.repeat([0.25, 0.75], 4)),
        ([0.1, 0.9], [0.0, 1.0]),
    ],
)
def test_local_parabolas_of_few_distinct_scores(scores, expected):
    labels = {2: [0, 1], 8: [0, 0, 0, 1, 1, 1, 0, 1]}[len(scores)]
    if len(set(scores)) == 1:
        labels = [0, 1] * 4
    sample = Scored.of(scores, labels)
    found = np.repeat(local_parabola(sample), sample.rows)
    assert found == pytest.approx(expected)


def test_what_the_data_do_not_determine_is_unknown():
    for events in (np.zeros(10), np.ones(10), np.arange(10) > 4):
        rows = {row.name: row for row in risk_summary(Scored.of(np.linspace(0.1, 0.9, 10), events))}
        assert math.isnan(rows["slope"].value)
        assert rows["ICI"].coverage == f"below {FEWEST} events"
        assert math.isnan(rows["E50"].low)
        assert math.isnan(rows["E90"].high)
    rows = {row.name: row for row in risk_summary(Scored.of([0.2] * 6, [0, 0, 1, 0, 1, 0]))}
    assert math.isnan(rows["slope"].value)
    assert rows["intercept, slope fixed at 1"].value == pytest.approx(logit(1 / 3) - logit(0.2))


def test_the_printed_table_shows_its_intervals():
    import pandas as pd

    audit = calbias.audit(probabilities=RISKS[:200], labels=EVENTS[:200])
    with pd.option_context("display.width", 80, "display.max_columns", 0):
        lines = str(audit.risk).splitlines()
    assert lines[0].split() == ["value", "low", "high", "coverage"]
    page = audit.to_html()
    assert "Elsewhere" in page
    assert "calibration in the large" in page
