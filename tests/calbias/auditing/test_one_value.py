"""A walk through the line, the page, the JSON and every table: no quantity has two values."""

import json
import math
import re
from functools import cache

import numpy as np
import pytest
from nightly import daily
from scipy import stats
from scipy.special import expit

import calbias
from calbias.auditing.description import description_of, warnings_of
from calbias.auditing.inputs import prepared

GENERATOR = np.random.default_rng(1)
N = 1500
X = GENERATOR.normal(-1, 1.5, N)
RISKS = expit(X)
EVENTS = (GENERATOR.random(N) < expit(0.7 * X - 0.3)).astype(int)
GROUPS, CLUSTERS = GENERATOR.integers(0, 3, N), GENERATOR.integers(0, 100, N)
LOGITS = np.stack([0 * X, X], axis=1)
EVENT = {"probabilities": RISKS, "labels": EVENTS, "by": GROUPS}
AUDITS = {
    "event": {**EVENT, "estimators": ["ece_bin_ew"]},
    "another seed and level": {**EVENT, "seed": 3, "confidence_level": 0.9},
    "clusters": {**EVENT, "clusters": CLUSTERS, "estimators": ["ece_bin_ew"]},
    "two decimals": {**EVENT, "probabilities": RISKS.round(2)},
    "tenths": {"scores": RISKS.round(1), "hits": EVENTS, "by": GROUPS},
    "saturated": {**EVENT, "probabilities": expit(4 * X + 9).astype(np.float32)},
    "no event": {"probabilities": RISKS[:300] / 50, "labels": 0 * EVENTS[:300]},
    "all hits": {"scores": RISKS[:300], "hits": 0 * EVENTS[:300] + 1},
    "logits": {"logits": LOGITS, "labels": EVENTS},
    "top label, ℓ2": {"logits": LOGITS, "labels": EVENTS, "top_label": True, "norm": 2},
}


@cache
def audit_of(name):
    return calbias.audit(**AUDITS[name])


INTERVALS = {"accuracy": "prevalence", "observed_expected": "observed/expected"}


def values_of(told):
    """Return (quantity, place, value) of all that an audit's JSON says, unknown ones left out."""
    n, what = told["n"], told["description"]
    rows = {row["name"]: row for row in told.get("risk", ())}
    found = [(told["verdict"][key] or {}) for key in ("finding", "second")]
    segments = told.get("subgroups", {}).get("table", ())
    found += [row for row in segments if row["segment"] == "all rows"]
    yield from (
        ("n", "bins", sum(told["bins"]["n_in_bin"])),
        ("n", "verdict", told["verdict"]["rows"]),
    )
    yield from (
        ("n", "audit", n),
        ("p", "audit", told["p_value"]),
        ("p", "verdict", told["verdict"]["p_value"]),
    )
    for quantity in ("accuracy", "mean_score", "mean_gap", "brier"):
        yield quantity, "description", what[quantity]
    for name, column in (("accuracy", "mean_hit"), ("mean_score", "mean_score")):
        yield name, "bins", np.dot(told["bins"][column], told["bins"]["n_in_bin"]) / n
    for finding in found:
        if finding.get("rows", finding.get("n")) == n:
            yield "accuracy", "finding", finding.get("rate", finding.get("accuracy"))
            yield "mean_score", "finding", finding["mean_score"]
            yield "mean_gap", "finding", finding["gap"]
            for quantity in ("slope", "intercept", "shift"):
                yield quantity, "finding", finding.get(quantity)
    for key, name in INTERVALS.items():
        for end in ("low", "high") if rows else ():
            yield f"{key} {end}", "description", what.get(f"{key}_{end}")
            yield f"{key} {end}", "risk", rows[name][end]
    if rows:
        for quantity, name in (("accuracy", "prevalence"), ("mean_score", "mean risk"),
                               ("brier", "Brier score"), ("slope", "slope"),
                               ("intercept", "intercept with the slope"),
                               ("shift", "intercept, slope fixed at 1")):  # fmt: skip
            yield quantity, "risk", rows[name]["value"]
        for end in ("low", "high"):
            yield end, "ICI", rows["ICI"][end]
            yield end, "audit", told["interval"][end]
    for row in told.get("recalibration", ()):
        yield "brier", row["method"], row["brier_before"]
        if row["method"] == "shift":
            yield "shift", "recalibration", row["parameter"]
    for row in told.get("estimates", ()):
        for quantity, key in (("ece", "value"), ("noise_floor", "noise_floor")):
            yield quantity, "estimates", row[key]
            yield quantity, "audit", told[quantity]


@pytest.mark.parametrize("name", daily(AUDITS, 4))
def test_no_quantity_has_two_values(name):
    audit = audit_of(name)
    by_quantity = {}
    for quantity, place, value in values_of(json.loads(audit.to_json())):
        if value is not None and math.isfinite(value):
            by_quantity.setdefault(quantity, {})[place] = value
    for quantity, places in by_quantity.items():
        first = next(iter(places.values()))
        assert places == {place: pytest.approx(first, rel=1e-6, abs=1e-9) for place in places}, (
            quantity
        )


@pytest.mark.parametrize("name", daily(["clusters", "event", "no event"], 1))
def test_the_line_and_the_page_say_the_intervals_of_the_tables(name):
    audit = audit_of(name)
    row = audit.risk.loc["observed/expected"]
    ratio = f"observed/expected {row.value:.2f} ({row.low:.2f} to {row.high:.2f})"
    page = re.sub("\u00a0|&nbsp;", " ", audit.to_html())
    assert ratio in audit.sentence
    assert ratio in page
    low, high = (f"{100 * end:.{1 if name != 'no event' else 2}f}" for end in audit.interval)
    assert f"({low} to {high} %, 95 %)" in audit.sentence
    assert f"between {low} and {high} %" in page


def test_the_ratio_of_events_takes_the_mean_risk_as_random():
    """One cluster a row is as independent rows; copies of rows as clusters change nothing."""
    ratio = EVENTS.sum() / RISKS.sum()
    error = np.std(EVENTS - ratio * RISKS, ddof=1) / np.sqrt(N) / EVENTS.mean()
    row = audit_of("event").risk.loc["observed/expected"]
    assert (row.low, row.high) == pytest.approx(
        ratio * np.exp([-1.959964 * error, 1.959964 * error])
    )
    risks, events, ids = (np.repeat(each, 3) for each in (RISKS, EVENTS, np.arange(N)))
    copied = description_of(prepared(probabilities=risks, labels=events, clusters=ids), 0.95)
    ends = copied["observed_expected_low"], copied["observed_expected_high"]
    assert ends == pytest.approx((row.low, row.high), rel=2e-3)


def test_limits_of_events_by_their_formulas():
    """Of events less risks, in clusters of ten like rows, and without an event."""
    ids = np.argsort(np.argsort(X)) // 10
    found = description_of(prepared(probabilities=RISKS / 2, labels=EVENTS, clusters=ids), 0.95)
    gaps = EVENTS - RISKS / 2 - np.mean(EVENTS - RISKS / 2)
    number = N // 10
    effect = number / (number - 1) * np.sum(np.bincount(ids, gaps) ** 2) / np.sum(gaps**2)
    assert 1 < effect < 2
    effect *= (stats.t.ppf(0.975, number - 1) / stats.norm.ppf(0.975)) ** 2
    hits, misses = EVENTS.sum() / effect, (N - EVENTS.sum()) / effect
    expected = stats.beta.ppf([0.025, 0.975], [hits, hits + 1], [misses + 1, misses])
    assert (found["accuracy_low"], found["accuracy_high"]) == pytest.approx(tuple(expected))
    none = description_of(prepared(probabilities=np.full(30, 0.1), labels=np.zeros(30, int)), 0.95)
    ends = none["observed_expected_low"], none["observed_expected_high"]
    assert ends == pytest.approx((0.0, (1 - 0.025 ** (1 / 30)) / 0.1))


def test_a_curve_of_fewer_than_five_events_is_uncertain():
    for events, warned in ((4, True), (5, False), (495, False), (496, True)):
        data = prepared(probabilities=np.linspace(0.01, 0.9, 500), labels=np.arange(500) < events)
        texts = warnings_of(data, description_of(data))
        assert any("curve is uncertain" in text for text in texts) == warned
