"""The league's ranking, its sensitivity, its words, and the limit of an unbiased estimate."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from calbias.truth.scenarios import Scenario
from calbias.truth.targets import Population
from evidence.league import CURVES, DISTRIBUTIONS
from evidence.reading import detection_reading, league_reading, power_reading
from evidence.steps.rank_league import (
    information_limit,
    league_errors,
    league_ranking,
    league_sensitivity,
    ranks,
    relative_limit,
)
from evidence.steps.write_evidence_page import honesty_of, standings
from pipeline.table_schema import columns_of


def league(shares, targets=None, m=400):
    """Table ``league`` of unbiased measures with RMSE/truth ``shares[estimator](curve, n)``."""
    rows = []
    for distribution, curve, n in itertools.product(("saturated", "spread"), CURVES, (500, 5000)):
        truth = 0.0 if curve == "calibrated" else 0.1
        for name, share in shares.items():
            rmse = 0.1 * share(curve, n)
            target, relative = (targets or {}).get(name, "l1"), rmse / truth if truth else np.nan
            known = (f"{distribution}_{curve}", name, target, n, m, truth, truth)
            rows.append((*known, 0.0, rmse / m**0.5, rmse, rmse, relative))
    columns = list(columns_of("league"))
    return pd.DataFrame(rows, columns=columns[:12]).reindex(columns=columns)


def with_honesty(table):
    """The table with measures of which hiding pays for "a", by 4 thousandths, and not for "b"."""
    rows = table.groupby(["estimator", "target"], as_index=False).first()
    values = rows["estimator"].map({"a": 0.016}).fillna(0.021)
    rows = rows.assign(
        scenario="uniform_calibrated", mean_estimate=0.02, bias_se=0.001, two_values=values,
        base_rate=0.02, sharpened=0.1, two_values_se=0.001, base_rate_se=0.001, sharpened_se=0.001,
    )  # fmt: skip
    return pd.concat([table, rows], ignore_index=True)


GOOD = {
    "e50_glm": lambda curve, n: 0.4 if n == 500 else 0.1,
    "b": lambda curve, n: 0.41 if n == 500 else 0.2,
    "stuck": lambda curve, n: 0.5 if n == 500 else 0.48,
}
NEVER = ("ece_bin_em", "ece_sweep_em", "kde", "kde_unrooted", "mce_em")


@pytest.fixture(scope="module")
def ranking():
    """Of GOOD, and of five that are worse than a report of zero, two with targets of their own."""
    never = dict.fromkeys(NEVER, lambda curve, n: 3.0 if n == 500 else 1.2)
    never["kde_unrooted"] = lambda curve, n: 6.0 if n == 500 else 2.4  # of a square: halved
    return league_ranking(
        league({**GOOD, **never}, {"kde_unrooted": "l2_squared", "mce_em": "mce"})
    )


def test_errors_by_hand():
    table = league({"a": GOOD["e50_glm"], "s": GOOD["e50_glm"]}, {"s": "l2_squared"}, m=200)
    rows = league_errors(table).query("curve == 'wave'").drop_duplicates("entry").set_index("entry")
    # of an unbiased normal
    expected = {"error": 0.4, "error_se": 0.4 * np.sqrt(0.5 / 200), "points": 4.0}
    assert rows.loc["a → l1", list(expected)].to_dict() == pytest.approx(expected)
    halves = {name: expected[name] / 2 for name in ("error", "error_se")}
    assert rows.loc["s → l2_squared", list(halves)].to_dict() == pytest.approx(halves)
    assert np.isnan(rows.loc["s → l2_squared", "points"])


def test_measures_that_cannot_be_told_apart_share_a_rank(ranking):
    assert set(ranking.columns) == set(columns_of("league_ranking"))
    at = ranking[ranking["distribution"] == "spread"].groupby("n_samples")
    places = {n: list(zip(rows["estimator"], rows["rank"], strict=True)) for n, rows in at}
    assert dict(places[500]) == {"e50_glm": 1, "b": 1, "stuck": 3, **dict.fromkeys(NEVER, 4)}
    assert places[5000] == [("e50_glm", 1), ("b", 2), ("stuck", 3), *((name, 4) for name in NEVER)]


def test_ranks_are_apart_by_two_monte_carlo_errors():
    rows = pd.DataFrame({"error": [0.1, 0.12, 0.13], "error_se": 0.01})
    assert list(ranks(rows)) == [1, 1, 2]


def test_a_measure_that_one_scenario_carries_loses_its_place_without_it():
    """Of five errors 0.1, 0.1, 0.1, 0.9, 0.9 the median is 0.1; without one 0.1 it is 0.5."""
    luck = {"slope_0.5": 0.1, "slope_0.8": 0.1, "wave": 0.1}
    shares = {"lucky": lambda curve, n: luck.get(curve, 0.9), "steady": lambda curve, n: 0.3}
    ranking = league_ranking(league(shares)).set_index(["distribution", "n_samples", "estimator"])
    lucky = ranking.loc["spread", 500, "lucky"]
    names = ["rank", "rank_low", "rank_high", "error", "worst"]
    assert lucky[names].to_list() == pytest.approx([1, 1, 2, 0.1, 0.9])
    rules = pd.DataFrame(league_sensitivity(league(shares)))
    assert set(rules.columns) == set(columns_of("league_sensitivity"))
    best = rules.query("distribution == 'spread' and n_samples == 500").set_index("choice")["best"]
    assert best["without shift"] == "lucky → l1"
    for choice in ("without wave", "mean over scenarios", "worst scenario"):
        assert best[choice] == "steady → l1"


def test_the_reading_of_the_league(ranking):
    words = dict(league_reading(ranking))
    few, many, limit, nothing, stuck = words["a classifier with spread scores"]
    best = "“E50 of a logistic fit” is nearest to the ℓ1 error"
    assert few == f"With 500 samples {best} (off by 40%, tied with 1 other)."
    assert many == f"With 5,000 samples {best} (off by 10%)."
    assert "off by at least 17% of the ℓ1 error" in limit
    assert "5 of 8 measures with 500 samples and 5 of 8 measures with 5,000 samples" in nothing
    assert stuck.endswith("and 2 others stay so at every n; more data hardly help “stuck”.")
    assert "_" not in stuck


def test_the_information_limit_falls_with_the_root_of_n_and_is_known_for_two_errors(ranking):
    limits = ranking.set_index(["estimator", "distribution", "n_samples"])["information_limit"]
    assert limits["b", "spread", 500] == pytest.approx(10**0.5 * limits["b", "spread", 5000])
    shares = [relative_limit(Scenario("", *DISTRIBUTIONS["spread"], CURVES[name]), 2)
              for name in CURVES if name != "calibrated"]  # fmt: skip
    assert limits["kde_unrooted", "spread", 500] == pytest.approx(np.median(shares) / 500**0.5)
    assert limits["mce_em"].isna().all()


def test_the_reading_of_power():
    rates = {
        ("sees", "spread_calibrated"): 0.05, ("blind", "spread_calibrated"): 0.12,
        ("sees", "spread_wave"): 0.9, ("blind", "spread_wave"): 0.1,
        ("sees", "spread_shift"): 0.3, ("blind", "spread_shift"): 0.1,
    }  # fmt: skip
    rows = [(*key, n, rate, 0.01, 0.05, 400) for key, rate in rates.items() for n in (200, 1000)]
    table = pd.DataFrame(rows, columns=list(columns_of("test_power")))
    sizes, blind, hard = power_reading(table)
    assert "Of 4 sizes (test, distribution of scores, n) 2 differ" in sizes
    assert "“blind” 12% (spread scores, n = 200)" in sizes
    assert blind == "“blind” is blind to wave, spread scores (10% at n = 1000)."
    assert "shift, spread scores (best 30%)" in hard


DETECTION = [("x", 200, 0.1, 9.0, 8.0, 10.0), ("y", 200, 0.1, 12.0, 11.0, 13.0),
             ("z", 200, 0.1, np.nan, 22.0, np.nan)]  # fmt: skip


def test_the_reading_of_detection():
    table = pd.DataFrame(DETECTION, columns=list(columns_of("test_detection")))
    (sentence,) = detection_reading(table)
    assert "“x” detects an ℓ2 error of 9.0 %" in sentence
    assert "“y” one of 12.0 %, and “z” none that was tried" in sentence


def test_standings_say_tied_where_errors_cannot_be_told_apart_and_whether_hiding_pays():
    table = with_honesty(league({"a": GOOD["e50_glm"], "b": GOOD["b"]}))
    ranking = league_ranking(table)
    assert dict(zip(ranking["estimator"], ranking["hiding_pays"], strict=True)) == {
        "a": True, "b": False,
    }  # fmt: skip
    (_, (block,)), _ = standings(ranking)
    words = {row.code: [cell.standing for cell in row.cells] for row in block.rows}
    assert words == {"a": ["tied", "best"], "b": ["tied", ""]}
    assert block.rows[0].cells[0].margin == "±\u20093\u2009%"  # 2 · 0.4/√800
    assert (block.target, block.sizes, len(block.limits)) == ("ℓ1 error", [500, 5000], 2)
    (block,) = honesty_of(table)
    assert (block.n, block.hides, block.sharpens) == (500, 1, 0)
    assert block.rows[0].cells[:2] == [("20.00 ± 2.00", False), ("16.00 ± 2.00", True)]


def population(gap, n_points=20_000):
    scores = (np.arange(n_points) + 0.5) / n_points
    return Population(scores, gap(scores), np.full(n_points, 1 / n_points))


def test_a_constant_gap_is_limited_by_the_noise_of_the_hits():
    """Scores of ½ with 0.6 hits: |mean hit − ½| has variance 0.24/n, and so has ℓ2."""
    points = Population(np.array([0.5]), np.array([0.1]), np.array([1.0]))
    assert information_limit(points, 1) == pytest.approx(math.sqrt(0.24))
    assert information_limit(points, 2) == pytest.approx(math.sqrt(0.24))


@pytest.mark.parametrize("norm", [1, 2])
def test_few_scores_reach_the_limit_by_the_empirical_error(norm):
    """Two scores far from calibration: the plug-in of the groups' means is efficient."""
    scores, gaps, weights = np.array([0.3, 0.8]), np.array([0.2, -0.3]), np.array([0.6, 0.4])
    n, generator = 4000, np.random.default_rng(0)
    rows = generator.multinomial(n, weights, 20_000)
    means = generator.binomial(rows, scores + gaps) / rows
    found = np.sum(rows / n * abs(means - scores) ** norm, axis=1) ** (1 / norm)
    limit = information_limit(Population(scores, gaps, weights), norm) / math.sqrt(n)
    assert np.std(found) == pytest.approx(limit, rel=0.02)


@pytest.mark.parametrize("norm", [1, 2])
def test_the_influence_function_is_the_derivative_along_tilted_curves(norm):
    """Along c + t·h the error changes by E[influence·score of the path], for any h."""
    points = population(lambda s: 0.15 * (0.5 - s))
    scores, gaps, weights = points
    direction = np.cos(5 * scores)
    c = scores + gaps

    def error(t):
        return float(weights @ abs(gaps + t * direction) ** norm) ** (1 / norm)

    derivative = (error(1e-5) - error(-1e-5)) / 2e-5
    influence = np.sign(gaps) if norm == 1 else gaps / error(0)  # the factor of (Y − c)
    # the path's score is h (Y − c)/(c(1 − c)); E (Y − c)² = c(1 − c)
    assert derivative == pytest.approx(float(weights @ (influence * direction)), rel=1e-4)
    noise = weights @ (influence**2 * c * (1 - c))
    size = abs(gaps) if norm == 1 else gaps**2 / (2 * error(0))
    spread = weights @ (size - weights @ size) ** 2
    assert information_limit(points, norm) == pytest.approx(math.sqrt(noise + spread), rel=1e-9)


def test_a_calibrated_model_has_no_limit():
    assert math.isnan(information_limit(population(lambda s: 0 * s), 1))
