"""The league: the wave, each estimator's own truth and time; predicted and observed bias."""

import itertools
import math
import os
import time

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from nightly import daily
from refusals import refuses
from scipy.integrate import quad
from shipped import shipped, shipped_path

from calbias import Curve, Scenario, true_calibration_error
from calbias.engine.sampler import Sampler, draw
from calbias.engine.seeding import stream
from calbias.estimation.registry import estimator_target
from calbias.reading.top_label import TopLabel
from evidence import league
from evidence.cells.beta import Wave
from evidence.cells.samples import by_score
from evidence.estimators import estimate, estimator_file, known_estimators
from evidence.league import CURVES, DISTRIBUTIONS, TIED, league_measures, league_rows
from evidence.reading import subsampled_summary
from evidence.steps.predict_bias import REFERENCE, predicted_bias, reference_and_error
from evidence.steps.subsample_genuine import subsampled_rows
from evidence.targets import target_value
from pipeline.logits import read_scores


@pytest.mark.parametrize("norm", [1, 2])
def test_the_waves_error_on_uniform_scores(norm):
    """∫ |0.03 sin 12πc|^p dc: the mean of |sin| is 2/π, of its square 1/2."""
    value = 0.03 * (2 / math.pi if norm == 1 else math.sqrt(0.5))
    scenario = Scenario("wave", 1.0, 1.0, Wave())
    assert true_calibration_error(scenario, norm=norm) == pytest.approx(value, rel=1e-9)
    largest = quad(lambda c: 0.03 * math.sin(12 * math.pi * c), 0, 1 / 12)[0]
    assert target_value("max_deviation", scenario) == pytest.approx(largest, rel=1e-4)


def test_the_wave_is_a_probability():
    c = np.linspace(1e-6, 1 - 1e-6, 1001)
    logs, wave, expected = (np.log(c), np.log1p(-c)), Wave(), c + 0.03 * np.sin(12 * np.pi * c)
    assert 0 < expected.min() < expected.max() < 1
    for found in (wave.hit(*logs), np.exp(wave.log_hit(*logs))):
        assert found == pytest.approx(expected, abs=1e-12)
    assert np.exp(wave.log_not_hit(*logs)) == pytest.approx(1 - expected, abs=1e-12)
    sign, log_slope = wave.log_abs_slope(*logs)
    slope = np.gradient(expected, c)[1:-1]
    assert (sign * np.exp(log_slope))[1:-1] == pytest.approx(slope, abs=1e-2)


def test_every_estimator_has_a_truth_of_its_own(monkeypatch):
    monkeypatch.setattr(league, "_GRID", 1 << 12)
    scenario = Scenario("slope", *DISTRIBUTIONS["spread"], CURVES["slope_0.5"])
    truths = {
        (entry.name, league.target_label(entry.target, entry.norm)): entry.truth(scenario)
        for entry in league_measures(known_estimators())
    }
    targeted = {n for n, path in known_estimators().items() if estimator_target(n, path) != "none"}
    assert {name for name, _ in truths} == targeted
    assert all(0 < value < 0.5 for value in truths.values())
    l1, l2 = (true_calibration_error(scenario, norm=p) for p in (1, 2))
    for name, target, value in (
        *(("ece_bin_em", "l1", l1), ("variational_platt", "l1", l1), ("ece_bin_em", "l2", l2)),
        *((name, "l2_squared", l2**2) for name in ("kde_unrooted", "variational_platt")),
    ):
        assert truths[name, target] == pytest.approx(value)
    assert ("smce", "smooth_ce") in truths


def test_fewer_data_sets_at_larger_sizes():
    sizes = [500, 2000, 10_000]
    for most, expected in ((200, [200, 100, 100]), (4, [4, 4, 4])):
        assert [league.n_replicates(n, sizes, most) for n in sizes] == expected


def test_rows_by_hand_and_the_same_data_for_all(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import numpy as np\n\n\ndef estimate(scores, hits, n_bins, norm):\n"
        "    return abs(np.mean(hits - scores))\n"
    )
    scenario = Scenario("shift", *DISTRIBUTIONS["spread"], CURVES["shift"])
    files = {"mine": mine, "ece_bin_ew": estimator_file("ece_bin_ew")}
    rows = league_rows(files, [scenario], [100, 120], 50, seed=1)
    entries = [(name, target) for name in files for target in ("l1", "l2")]
    keys = [(r["n_samples"], r["estimator"], r["target"]) for r in rows]
    assert keys == [(n, *entry) for n in (100, 120) for entry in entries]
    batches = Sampler(scenario, 100, 1).batches(range(50))
    estimates = np.concatenate([abs((b.hits() - b.scores).mean(axis=1)) for b in batches])
    row = rows[0]
    found = row["mean_estimate"], row["sd"], row["bias"], row["relative_rmse"]
    assert found == pytest.approx(
        (estimates.mean(), estimates.std(ddof=1), estimates.mean() - row["truth"],
         row["rmse"] / row["truth"])
    )  # fmt: skip
    alone = league_rows({"ece_bin_ew": estimator_file("ece_bin_ew")}, [scenario], [100], 50, seed=1)
    assert alone == rows[2:4]


MOST = 150  # times numpy.argsort of as many scores; the slowest needs about 45


def seconds(call):
    """Return the least CPU time of three calls; the first one may compile."""
    times = []
    for _ in range(3):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


def test_a_call_on_many_scores_takes_no_longer_than_a_few_sorts():
    curve = Curve("logit_logit_b1", 0.0, 0.8)
    data = draw(Scenario("slope", 2.8, 0.05, curve), 30_000, 0, seed=0)
    sort = seconds(np.random.default_rng(0).permutation(data.scores[0]).argsort)
    for entry in league_measures(known_estimators()):
        if not entry.is_quadratic:
            assert seconds(lambda entry=entry: entry.values(data)) < MOST * sort, entry.name


ESTIMATORS = ["ece_bin_em", "ece_sweep_em"]


def rows_of(n, seed=0, atom=0):
    """Return a TopLabel of n rows with a slope of 0.6 in the log-odds, ``atom`` of them at 1."""
    generator = np.random.default_rng(seed)
    scores = generator.beta(3, 0.8, n)
    scores[:atom] = 1.0
    with np.errstate(divide="ignore"):
        logs = np.log(scores), np.log1p(-scores)
        rate = 1 / (1 + np.exp(-0.6 * np.where(scores < 1, logs[0] - logs[1], 6.0)))
    return TopLabel(scores, *logs, (generator.random(n) < rate).astype(np.uint8))


@pytest.mark.parametrize("atom", daily([1200, 0], 1))
def test_a_curve_of_the_family_predicts_the_bias(atom):
    rows = predicted_bias(rows_of(8000, atom=atom), ESTIMATORS, [200, 800], 80, 6, name="made")
    keys = list(itertools.product((200, 800), ESTIMATORS))
    assert [(row["n_samples"], row["estimator"]) for row in rows] == keys
    for row in rows:
        error = np.hypot(row["observed_bias_se_percent"], row["predicted_bias_se_percent"])
        distance = row["observed_bias_percent"] - row["predicted_bias_percent"]
        assert abs(distance) < 4 * error + 0.05
    biased = rows[0]
    assert biased["observed_bias_percent"] > 1  # ECE_bin with 15 bins of 13 samples
    assert abs(biased["predicted_from_subsample_percent"] - biased["observed_bias_percent"]) < 1


def test_the_whole_file_as_its_only_subsample():
    """With n = N every subsample is the file: the observed bias follows from two estimates."""
    top = rows_of(300)
    (row,) = predicted_bias(top, ["ece_bin_ew"], [300], 2, 2, name="whole")
    value, reference = (
        100 * estimate(name, top.score, top.hit, norm=2).value for name in ("ece_bin_ew", REFERENCE)
    )
    found = row["observed_bias_percent"], row["reference_percent"]
    assert found == pytest.approx((value - reference, reference))
    _, error = reference_and_error(by_score(top), 2, stream(0, "reference", "whole"))
    assert row["observed_bias_se_percent"] == pytest.approx(100 * error)


def test_a_size_does_not_depend_on_the_other_sizes():
    top = rows_of(2000, seed=3)
    alone = predicted_bias(top, ESTIMATORS, [200], 5, 2, seed=1, name="a")
    among = predicted_bias(top, ESTIMATORS, [100, 200, 5000], 5, 2, seed=1, name="a")
    assert alone == among[2:]
    assert alone != predicted_bias(top, ESTIMATORS, [200], 5, 2, seed=2, name="a")


@pytest.mark.nightly
def test_subsamples_of_genuine_rows():
    """Of 700 rows there are samples of 300 at most; the sweep is its own yardstick."""
    table = pd.DataFrame(subsampled_rows("answers", "made", rows_of(700), 12, seed=1))
    assert list(table["n_samples"].unique()) == [100, 300]
    assert pd.DataFrame(subsampled_rows("scores", "made", rows_of(700), 12, seed=1)).empty
    sweep = table[table["estimator"] == "ece_sweep_em"]
    columns = ["ratio_to_sweep", "ratio_to_sweep_se", "own_ratio_to_sweep"]
    assert sweep[columns].to_numpy().tolist() == [[1, 0, 1]] * 2
    top = rows_of(700)
    value = 100 * estimate(REFERENCE, top.score, top.hit, norm=2).value
    assert table["reference_percent"].to_numpy() == pytest.approx(value)
    twice = pd.concat([table, table.assign(ratio_to_sweep=table["ratio_to_sweep"] ** 3)])
    found = subsampled_summary(twice).set_index(["n_samples", "estimator"]).loc[100, "plugin_loess"]
    ratio = table.set_index(["n_samples", "estimator"]).loc[(100, "plugin_loess"), "ratio_to_sweep"]
    assert found[["files", "ratio_to_sweep"]].to_list() == pytest.approx([2, ratio**2])


@pytest.mark.skipif(not os.environ.get("CALBIAS_NIGHTLY"), reason="nightly in CI")
def test_the_docs_have_the_forecasts_of_the_default_run():
    rows = []
    for name in shipped("forecasts"):
        top = read_scores(shipped_path("forecasts", name))[0]["test"]
        rows += subsampled_rows("forecasts", name, top, 40, seed=2022)
    found = subsampled_summary(pd.DataFrame(rows)).set_index(["n_samples", "estimator"])
    text = (ROOT / "evidence/docs/measured.md").read_text(encoding="utf-8")
    for n in (500, 2000):
        row = found.loc[n, "averaged_posterior"]
        cells = [
            f"{row[name]:.2f} ± {row[f'{name}_se']:.2f}"
            for name in ("ratio_to_sweep", "own_ratio_to_sweep")
        ]
        assert (
            f"| forecasts | 3 | {n} | {cells[0]} | {cells[1]} | {row['nearer_than_sweep']} of 3"
            in text
        )


test_refusals = refuses(
    predicted_bias,
    (rows_of(100), ESTIMATORS, [200], 5, 2, 0, "100 rows: give sample sizes of at most that"),
    (rows_of(100)._replace(hit=np.ones(100)), ESTIMATORS, [50], 5, 2, "all rows are hits, or none"),
)


def test_truths_of_tied_scores_are_sums_over_their_values():
    by_name = {cell.name: cell for cell in TIED}
    entries = {
        (e.name, e.norm): e for e in league_measures({"ece_bin_ew": estimator_file("ece_bin_ew")})
    }
    scenario = by_name["tied_verbalised_values"]
    for norm, value in ((1.0, 0.08), (2.0, 0.08)):  # but 0 and 1, which clipping holds
        truth = entries["ece_bin_ew", norm].truth(scenario)
        _, gaps, weights = scenario.population
        assert truth == pytest.approx(np.sum(weights * np.abs(gaps) ** norm) ** (1 / norm))
        assert 0.9 * value < truth <= value
    calibrated = by_name["tied_verbalised_calibrated"]
    assert entries["ece_bin_ew", 1.0].truth(calibrated) == 0.0
    rows = league_rows({"ece_bin_ew": estimator_file("ece_bin_ew")}, [scenario], [4000], 20, seed=1)
    assert rows[0]["n_replicates"] == 20
    assert rows[0]["bias"] == pytest.approx(0, abs=0.01)  # eleven values, no two in a bin
