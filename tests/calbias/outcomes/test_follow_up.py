"""Risks by a horizon under censoring: R's numbers, a slow jackknife, and what R does silently."""

import numpy as np
import pytest
from follow_up_by_r import FILES, TINY
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from calbias.outcomes.follow_up import FollowUp, strata_of_scores
from calbias.outcomes.incidence import incidence, inverse_weights

by_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


def slow_risk(times, causes, horizon, event):
    free, risk = 1.0, 0.0
    for t in sorted({t for t, cause in zip(times, causes, strict=True) if cause and t <= horizon}):
        rows = [cause if u == t else 0 for u, cause in zip(times, causes, strict=True) if u >= t]
        risk += free * rows.count(event) / len(rows)
        free *= 1 - sum(map(bool, rows)) / len(rows)
    return risk


def brier(file, times, causes):
    is_event = (causes == file.event) & (times <= file.horizon)
    weights = inverse_weights(times, causes, file.horizon)
    return np.mean(weights * (is_event - file.table.risk) ** 2)


@by_file
def test_risk_pseudo_observations_and_brier_score_are_those_of_r(file):
    found = incidence(*file.columns, file.horizon, file.event)
    assert found.risk == pytest.approx(file.risk, rel=5e-8)
    assert found.pseudo[:3] == pytest.approx(file.first, rel=2e-7)
    pseudo = found.pseudo
    spread = pseudo.std(ddof=1), pseudo.min(), pseudo.max(), pseudo @ pseudo
    assert spread == pytest.approx(file.spread, rel=5e-8)
    assert brier(file, *file.columns) == pytest.approx(file.brier, rel=5e-8)
    assert found.risk * (1 - found.risk) == pytest.approx(file.null_brier, rel=5e-8)


@by_file
def test_ten_strata_are_those_of_r(file):
    follow_up = FollowUp.of(*file.columns, file.horizon, event=file.event)
    outcomes = follow_up.outcomes(file.table.risk.to_numpy())
    values = outcomes.values
    in_strata = values.mean(), values.std(ddof=1), values @ values
    assert in_strata == pytest.approx(file.in_strata, rel=5e-8)
    first = outcomes.strata[:3]
    assert [stratum.risk for stratum in first] == pytest.approx(file.strata_risks, rel=5e-8)
    assert [stratum.followed for stratum in first] == pytest.approx(file.followed, rel=5e-8)
    assert len(outcomes.strata) == 10


@pytest.mark.parametrize(("horizon", "any_event", "last"), TINY)
def test_ties_and_events_at_the_horizon_are_those_of_r(horizon, any_event, last):
    times = np.array([0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 8, 9.0])
    causes = np.array([1, 0, 1, 1, 0, 2, 1, 0, 2, 1, 0, 1, 0, 1, 0, 1])
    together = incidence(times, np.minimum(causes, 1), horizon)
    assert together.pseudo[:6] == pytest.approx(any_event, rel=1e-7)
    assert incidence(times, causes, horizon).pseudo[-3:] == pytest.approx(last, rel=1e-7)


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=12)


@given(rows, st.integers(0, 5), st.sampled_from([1, 2]))
def test_pseudo_observations_are_those_of_leaving_each_row_out(rows, horizon, event):
    times, causes = (np.array(column) for column in zip(*rows, strict=True))
    found, n = incidence(times.astype(float), causes, horizon, event), len(rows)
    whole = slow_risk(times, causes, horizon, event)
    others = [
        slow_risk(np.delete(times, i), np.delete(causes, i), horizon, event) for i in range(n)
    ]
    assert found.risk == pytest.approx(whole, abs=1e-12)
    assert found.pseudo == pytest.approx(n * whole - (n - 1) * np.array(others), abs=1e-11)


@by_file
def test_rows_that_end_at_the_horizon_were_followed_to_it(file):
    """riskRegression::Score gives them no weight: 0.0955 for 0.2244 where all are cut there."""
    times, causes = file.columns
    late = times > file.horizon
    cut = np.where(late, file.horizon, times), np.where(late, 0, causes)
    assert brier(file, *cut) == pytest.approx(file.brier, rel=5e-8)
    follow_ups = (FollowUp.of(*x, file.horizon, event=file.event) for x in (file.columns, cut))
    whole, ended = (each.outcomes(file.table.risk.to_numpy()).values for each in follow_ups)
    assert np.array_equal(whole, ended)


def test_an_event_that_does_not_occur_keeps_its_number():
    """prodlim numbers the causes anew where the first is missing: a risk of 0 became 0.33."""
    found = incidence(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), 2.5, event=1)
    assert found.risk == 0
    assert not found.pseudo.any()


def test_censoring_is_no_cause():
    """riskRegression 24: the shares of all events and of none are 1, row by row."""
    times, causes = FILES[1].columns
    parts = [incidence(times, causes, 120, event).pseudo for event in (1, 2)]
    free = 1 - incidence(times, np.minimum(causes, 1), 120).pseudo
    assert sum(parts) + free == pytest.approx(np.ones(times.size))


def made(n=1000, horizon=5.0, seed=0):
    """Return risks, and times and causes whose censoring is harsh for high risks."""
    rng = np.random.default_rng(seed)
    risk = rng.beta(2, 5, n)
    time = horizon * (np.log1p(-rng.random(n)) / np.log1p(-risk)) ** (1 / 1.3)
    ends = rng.exponential(1, n) * 15 / np.exp(6 * risk)
    return risk, np.minimum(time, ends), (time <= ends).astype(int)


def test_strata_with_too_little_follow_up_are_left_out_and_named():
    risk, times, causes = made()
    outcomes = FollowUp.of(times, causes, 5.0).outcomes(risk)
    gone = [stratum for stratum in outcomes.strata if not stratum.judged]
    assert gone
    assert all(stratum.followed < 0.1 for stratum in gone)
    assert (~outcomes.kept).sum() == sum(stratum.rows for stratum in gone)
    assert f"{(~outcomes.kept).sum()} of 1000 rows are not judged" in outcomes.warnings[0]


def test_without_censoring_outcomes_are_0_and_1():
    outcomes = FollowUp.of([1, 2, 9, 5], [1, 2, 0, 1], 5).outcomes(np.full(4, 0.5))
    assert outcomes.is_exact
    assert outcomes.values.tolist() == [1, 0, 0, 1]


def test_codes_of_censoring_and_event_can_be_named():
    risk, times, causes = made()
    usual = FollowUp.of(times, causes, 3.0).outcomes(risk).values
    swapped = FollowUp.of(times, 1 - causes, 3.0, event=0, censored=1).outcomes(risk).values
    lung = FollowUp.of(times, causes + 1, 3.0, event=2, censored=1).outcomes(risk).values
    assert np.array_equal(usual, swapped, equal_nan=True)
    assert np.array_equal(usual, lung, equal_nan=True)


def test_a_column_of_censoring_makes_strata_of_its_own():
    risk, times, causes = made()
    site = np.arange(1000) % 2
    follow_up = FollowUp.of(times, causes, 1.0, censoring=site)
    parts = [
        FollowUp.of(times[site == k], causes[site == k], 1.0, censoring="marginal")
        for k in range(2)
    ]
    assert len(follow_up.outcomes(risk).strata) == 10
    follow_up = FollowUp.of(times, causes, 1.0, censoring=np.repeat(np.arange(10), 100))
    assert len(follow_up.outcomes(risk).strata) == 10
    assert all(len(part.outcomes(risk[site == k]).strata) == 1 for k, part in enumerate(parts))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=400))
def test_strata_have_fifty_rows_and_cut_no_score(scores):
    scores = np.array(scores) / 40
    number = strata_of_scores(scores, 10)
    sizes = np.bincount(number)
    assert sizes.size <= max(min(10, scores.size // 50), 1)
    assert sizes.size == 1 or sizes.min() >= 50
    order = np.argsort(scores, kind="stable")
    assert (np.diff(number[order]) >= 0).all()
    assert all(np.unique(number[scores == s]).size == 1 for s in np.unique(scores))


def refused(times, causes, horizon, **options):
    scores = np.linspace(0.1, 0.9, len(times))
    FollowUp.of(times, causes, horizon, **options).outcomes(scores)


test_follow_up_that_is_none_is_refused = refuses(
    refused,
    ([1, -1, 2], [1, 0, 1], 1, r"row 1 .*times: -1; a time of follow-up is at least 0"),
    ([1, np.nan, 2], [1, 0, 1], 1, r"row 1 .*times: missing"),
    ([1, 2, 3], [1, 0.5, 1], 1, r"row 1 .*events: 0.5; 0 is censored"),
    ([], [], 1, "times and events are empty"),
    ([1, 2], [1, 0, 1], 1, "times and events need one length: they have 2 and 3"),
    ([1, 2, 3], [1, 0, 1], 0, "horizon must be a number above 0, not 0"),
    ([1, 2, 3], [1, 0, 1], "5y", "horizon must be a number above 0, not '5y'"),
    ([1, 2, 3], [1, 2, 1], 2, "--censored 1 --event 2"),
    ([1, 2, 3], [0, 3, 0], 2, "events are never 1, the event: they are 0, 3"),
    ([1, 2, 3], [1, 0, 0], 4, "the last follow-up is at 3: give one of at most 3,"),
    ([1, 2, 3], [1, 0, 0], 40, "last follow-up is at 3: .*; are times and horizon in one unit"),
    ({"times": [1, 2, 3], "causes": [1, 0, 1], "horizon": 2, "censoring": "site"},
     "censoring must be by-risk, marginal or a column, not 'site'"),
    ({"times": [1, 2, 3], "causes": [1, 0, 1], "horizon": 2, "censored": 9},
     "events are never 9, the code of censored rows: they are 0, 1"),
)  # fmt: skip
