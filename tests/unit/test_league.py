"""The league: the wave curve, every estimator's own truth and time, one-file additions."""

import math
import time

import numpy as np
import pytest
from scipy.integrate import quad

from calbias.beyond.league import (
    CURVES,
    LAWS,
    league_entries,
    league_rows,
    n_replicates,
    target_label,
)
from calbias.engine.sampler import Sampler, draw
from calbias.estimation.registry import FOLDER, known_estimators
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from calbias.truth.targets.registry import target_value
from calbias.truth.true_error import true_calibration_error
from calbias.truth.wave import Wave


@pytest.mark.parametrize("norm", [1, 2])
def test_the_waves_error_on_uniform_scores(norm):
    """∫ |0.03 sin 12πc|^p dc: the mean of |sin| is 2/π, of its square 1/2."""
    value = 0.03 * (2 / math.pi if norm == 1 else math.sqrt(0.5))
    scenario = Scenario("wave", 1.0, 1.0, Wave())
    assert true_calibration_error(scenario, norm) == pytest.approx(value, rel=1e-9)
    assert target_value("max_deviation", scenario) == pytest.approx(
        quad(lambda c: 0.03 * math.sin(12 * math.pi * c), 0, 1 / 12)[0], rel=1e-4
    )


def test_the_wave_is_a_probability():
    c = np.linspace(1e-6, 1 - 1e-6, 1001)
    logs = np.log(c), np.log1p(-c)
    wave = Wave()
    expected = c + 0.03 * np.sin(12 * np.pi * c)
    assert wave.hit(*logs) == pytest.approx(expected, abs=1e-12)
    assert np.exp(wave.log_hit(*logs)) == pytest.approx(expected, abs=1e-12)
    assert np.exp(wave.log_not_hit(*logs)) == pytest.approx(1 - expected, abs=1e-12)
    assert 0 < expected.min() < expected.max() < 1
    sign, log_slope = wave.log_abs_slope(*logs)
    assert sign[1:-1] * np.exp(log_slope[1:-1]) == pytest.approx(
        np.gradient(expected, c)[1:-1], abs=1e-2
    )


def test_every_estimator_has_a_truth_of_its_own():
    scenario = Scenario("slope", *LAWS["spread"], CURVES["slope_0.5"])
    truths = {
        (entry.name, target_label(entry.target, entry.norm)): entry.truth(scenario)
        for entry in league_entries(known_estimators())
    }
    assert {name for name, _ in truths} == set(known_estimators())
    assert all(0 < value < 0.5 for value in truths.values())
    l1, l2 = (true_calibration_error(scenario, p) for p in (1, 2))
    assert truths["ece_bin_em", "l1"] == truths["variational_platt", "l1"] == pytest.approx(l1)
    assert truths["ece_bin_em", "l2"] == pytest.approx(l2)
    assert truths["kde_unrooted", "l2_squared"] == pytest.approx(l2**2)
    assert truths["variational_platt", "l2_squared"] == pytest.approx(l2**2)
    assert ("smce", "smooth_ce") in truths


def test_fewer_data_sets_at_larger_sizes():
    sizes = [500, 2000, 10_000]
    assert [n_replicates(n, sizes, 200) for n in sizes] == [200, 50, 12]
    assert [n_replicates(n, sizes, 4) for n in sizes] == [4, 4, 4]


def test_rows_by_hand_and_the_same_data_for_all(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import numpy as np\n\n\ndef estimate(scores, hits, n_bins, norm):\n"
        "    return abs(np.mean(hits - scores))\n\n\n"
        "def truth(scores, gaps, weights, norm):\n    return abs(float(np.dot(weights, gaps)))\n"
    )
    scenario = Scenario("shift", *LAWS["spread"], CURVES["shift"])
    files = {"mine": mine, "ece_bin_ew": FOLDER / "ece_bin.py"}
    rows = league_rows(files, [scenario], [100, 120], 50, seed=1)
    assert [(r["estimator"], r["target"], r["n_samples"]) for r in rows] == [
        (name, target, n)
        for n in (100, 120)
        for name, target in [("mine", "own"), ("ece_bin_ew", "l1"), ("ece_bin_ew", "l2")]
    ]
    estimates = []
    for data in Sampler(scenario, 100, 1).batches(range(50)):
        estimates += [abs(x) for x in (data.hits() - data.scores).mean(axis=1)]
    assert rows[0]["mean_estimate"] == pytest.approx(np.mean(estimates))
    assert rows[0]["sd"] == pytest.approx(np.std(estimates, ddof=1))
    assert rows[0]["bias"] == pytest.approx(rows[0]["mean_estimate"] - rows[0]["truth"])
    assert rows[0]["relative_rmse"] == pytest.approx(rows[0]["rmse"] / rows[0]["truth"])
    alone = league_rows({"ece_bin_ew": FOLDER / "ece_bin.py"}, [scenario], [100], 50, seed=1)
    assert alone == rows[1:3]


# About linear in the number of samples, in units of a sort

N = 100_000
MOST = 150  # times numpy.argsort of as many scores; the slowest needs about 45
DATA = draw(Scenario("slope", 2.8, 0.05, Curve("logit_logit_b1", 0.0, 0.8)), N, 0, seed=0)
ENTRIES = {entry.name: entry for entry in league_entries(known_estimators())}


def seconds(call):
    """Return the least CPU time of three calls; the first one may compile."""
    times = []
    for _ in range(3):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize("name", [x for x, entry in ENTRIES.items() if not entry.is_quadratic])
def test_a_call_on_1e5_scores_takes_no_longer_than_a_few_sorts(name):
    unsorted = np.random.default_rng(0).permutation(DATA.scores[0])
    sort = seconds(unsorted.argsort)
    entry = ENTRIES[name]
    assert seconds(lambda: entry.run(DATA, 15, entry.norm)) < MOST * sort
