"""An estimator that a user adds: the config key, the comparison, the parts of its page, the row."""

import json
import zlib
from itertools import product

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT, TABLE_2, TABLE_3
from configurations import EXPERIMENT, complete, refused
from nightly import daily
from scipy import stats
from verdicts import judge

import calbias
from calbias.auditing.error.interval import calibration_interval
from calbias.errors import InputError
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import FOLDER
from calbias.samples.by_score import Scored
from calbias.simulation import simulate_estimates
from calbias.truth.true_error import true_calibration_error
from pipeline.config import PAGE_EXPERIMENTS
from pipeline.logits import load_logits
from pipeline.scenarios import fitted_scenario
from pipeline.steps import time_estimator
from reproduction.judging import CELLS
from reproduction.steps import measure_judging_cells
from reproduction.steps.draw_estimator import worst
from reproduction.steps.judge_estimator import compared_rows
from reproduction.steps.select_by_estimator import selection_rows
from reproduction.steps.write_estimator_page import UNCLEAR, headline, network_lines

PLAIN = "def estimate(scores, hits, n_bins, norm):\n    return 0.0\n"
PAPER = {"experiments": dict.fromkeys(PAGE_EXPERIMENTS, EXPERIMENT)}


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "plain.py").write_text(PLAIN)
    (tmp_path / "several.py").write_text(
        "VARIANTS = {'first': {}, 'second': {}}\n" + PLAIN.replace("norm)", "norm, **options)")
    )
    (tmp_path / "_helper.py").write_text("")
    return tmp_path


def test_files_folders_and_names_are_pages_and_the_lists_stay(mine):
    """VARIANTS are one page; a known name is a page of its own."""
    plain, several = str(mine / "plain.py"), str(mine / "several.py")
    pages = {"plain": {"plain": plain}, "several": {"first": several, "second": several}}
    sweep = {"ece_sweep_em": {"ece_sweep_em": str(FOLDER / "ece_sweep.py")}}
    for given, expected in (
        (plain, {"plain": {"plain": plain}}),
        ([plain, "ece_sweep_em"], {"plain": {"plain": plain}} | sweep),
        (str(mine), pages),
        ([], {}),
    ):
        config = complete(estimator=given, **PAPER)
        assert config["estimator"] == expected
        assert config["estimators"] == config["experiments"]["perfect"]["estimators"] == ["kde"]


def test_a_page_that_cannot_be_made_is_refused(mine):
    plain = str(mine / "plain.py")
    refused("config: estimator: the page needs experiment detection", estimator=plain,
            experiments=dict.fromkeys(PAGE_EXPERIMENTS[:2], EXPERIMENT))  # fmt: skip
    refused("config: norm: 1: an estimator's page compares it", estimator=plain, norm=1, **PAPER)
    refused("config: score_precision: an estimator's page", estimator=plain,
            score_precision="float64", **PAPER)  # fmt: skip
    refused("config: fits: an estimator's page compares it on the paper's fits", estimator=plain,
            fits="own_scores", **PAPER)  # fmt: skip
    refused("x.py is no Python file, no folder", estimator=str(mine / "x.py"), **PAPER)
    refused("plain is given twice", estimator=[plain, str(mine)], **PAPER)
    for name, text, words in (
        ("kde", PLAIN, "defines kde already: give yours another name"),
        ("a-b", PLAIN, "'a-b' cannot be an estimator's name"),
        ("empty", "", "define estimate(scores, hits, n_bins, norm) in it"),
        ("first_norm", "NORMS = (1,)\n" + PLAIN, "defines first_norm for norm 1, and its page"),
    ):
        (mine / f"{name}.py").write_text(text)
        refused(words, estimator=str(mine / f"{name}.py"), **PAPER)


def bias_rows(name, biases, sd=0.0, experiment="realistic", tce=5.0):
    """Return rows of table ``bias``, a cell for each bias in percent."""
    bias, rows = np.array(biases, float), len(biases)
    columns = {"experiment": experiment, "scenario": "a", "estimator": name, "tce_percent": tce}
    columns |= {"n_samples": range(rows), "n_replicates": 100, "bias_percent": bias}
    columns |= {"bias_se_percent": sd / 10, "sd_percent": sd, "rmse_percent": np.hypot(bias, sd)}
    return pd.DataFrame(columns)


def test_cells_are_counted_and_tested_in_pairs():
    """Bounds of the error of a difference are 2 × 0.1 %: only |3| − |1| exceeds three of them."""
    mine = bias_rows("mine", [1.0, -2.0, 0.5, 3.0], sd=1.0)
    other = bias_rows("other", [-3.0, 2.3, 0.5, 3.3], sd=1.0)
    bias, rmse = compared_rows(mine, pd.concat([mine, other]))
    differences = np.array([2.0, 0.3, 0.0, 0.3])
    expected = stats.ttest_1samp(differences, 0)
    assert (bias["quantity"], bias["other"], bias["cells"]) == ("bias", "other", 4)
    assert (bias["better"], bias["worse"]) == (1, 0)
    assert bias["mean_difference"] == pytest.approx(differences.mean() / 100)
    assert bias["t_statistic"] == pytest.approx(expected.statistic)
    assert bias["p_value"] == pytest.approx(expected.pvalue)
    assert (rmse["quantity"], rmse["better"]) == ("rmse", 1)
    reverse, _ = compared_rows(other, mine)
    assert (reverse["better"], reverse["worse"]) == (0, 1)
    assert reverse["t_statistic"] == -bias["t_statistic"]


def test_only_cells_with_the_same_true_error_are_compared():
    mine = pd.concat(
        [bias_rows("mine", [1, 2, 3]), bias_rows("mine", [1, 2], experiment="perfect")]
    )
    other = bias_rows("other", [2, 3, 4, 5], tce=5.00001)
    rows = compared_rows(mine, other)
    assert [(row["quantity"], row["cells"]) for row in rows] == [("bias", 3), ("rmse", 3)]
    with pytest.raises(InputError, match="no cell of this configuration"):
        compared_rows(mine, bias_rows("other", [2, 3, 4], tce=5.1))


def test_the_worst_cells_lose_most_against_the_sweep():
    rows = [bias_rows("mine", [1, 5, -6, 2]), bias_rows("ece_sweep_em", [1, 4, -1, 0.5])]
    assert worst(pd.concat(rows), ["mine"]) == [
        ("realistic", "a", 2), ("realistic", "a", 3), ("realistic", "a", 1)
    ]  # fmt: skip


def test_bias_on_judging_cells_is_of_their_data_sets(mine, monkeypatch):
    """An estimate of zero has the truth as its bias."""
    cells = measure_judging_cells.CELLS[4:9]
    monkeypatch.setattr(measure_judging_cells, "CELLS", cells)
    files = {"plain": mine / "plain.py", "ece_bin_ew": FOLDER / "ece_bin.py"}
    rows = measure_judging_cells.judging_rows(files, [20], 2, 2.0, seed=1)
    assert set(rows["experiment"]) == {"judging"}
    assert rows["n_bins"].isna().all()
    plain, binned = (rows[rows["estimator"] == name] for name in files)
    truths = [100 * cell.truth("l2") for cell in cells]
    assert plain["bias_percent"].tolist() == [-x for x in truths]
    assert plain["rmse_percent"].tolist() == pytest.approx(truths)
    samples = [cells[0].draw(20, 1, number) for number in (0, 1)]
    values = [calbias.estimate("ece_bin_ew", x.scores, x.hits, norm=2).value for x in samples]
    assert binned["mean_estimate_percent"].iloc[0] == pytest.approx(100 * np.mean(values))


def populations(*names):
    """Return small populations that are miscalibrated."""
    cells = [-1, 0, 1, 2]
    return [calbias.CountedScenario(x, cells, [400] * 4, [120, 180, 260, 310], 1.0) for x in names]


def test_an_estimate_of_zero_has_the_truth_as_its_bias_on_networks(mine):
    """Estimators of a chosen number of bins, of a given one and of none are simulated at once."""
    files = {"plain": mine / "plain.py", "ece_sweep_em": FOLDER / "ece_sweep.py",
             "kde": FOLDER / "kde.py"}  # fmt: skip
    [population, _] = both = populations("a", "b")
    rows = measure_judging_cells.network_rows(files, both, [20, 30], 3, 2.0, seed=1)
    truth = 100 * true_calibration_error(population, norm=2)
    plain = rows[rows["estimator"] == "plain"]
    assert plain["bias_percent"].tolist() == pytest.approx([-truth] * 4)
    kde = simulate_estimates(population, 30, np.arange(3), ["kde"], seed=1)["kde"][0]
    cell = rows.set_index(["estimator", "scenario", "n_samples"]).loc[("kde", "a", 30)]
    assert cell["mean_estimate_percent"] == pytest.approx(100 * kde.mean())
    assert set(rows["experiment"]) == {"networks"}


def test_the_unit_on_networks_is_a_network():
    """Two sizes of four networks: means over sizes are tested, and shown with their spread."""
    mine, other = (
        pd.concat(
            [
                bias_rows(name, [signed, -signed / 2], sd=1.0, experiment="networks").assign(
                    scenario=network
                )
                for network, signed in zip("abcd", biases, strict=True)
            ]
        )
        for name, biases in (("mine", (1.0, 2.0, 3.0, 2.0)), ("other", (2.0, 2.4, 5.0, 1.6)))
    )
    bias, _ = compared_rows(mine, other)
    means = 0.75 * np.array([1.0, 0.4, 2.0, -0.4])
    expected = stats.ttest_1samp(means, 0)
    assert (bias["quantity"], bias["cells"]) == ("bias_networks", 8)
    assert bias["p_value"] == pytest.approx(expected.pvalue)
    first, second = network_lines("mine", {"bias": mine, "others_bias": other})
    assert (first["is_mine"], second["is_mine"]) == (True, False)
    assert first["size"] == f"{0.75 * 2:.2f} ± {2 * 0.75 * stats.sem([1, 2, 3, 2]):.2f}"
    assert second["less"] == f"+{means.mean():.2f} ± {2 * stats.sem(means):.2f}"
    assert second["networks"] == "3 of 4"


def test_ties_select_the_first_method_and_its_error_is_the_reference(mine):
    logits = load_logits(ROOT / "resources/outputs/resnet50_brier_c10.npz")
    [row] = selection_rows("m", logits, {"plain": mine / "plain.py"}, "exact", 2, seed=1)
    assert (row["estimator"], row["selected_method"]) == ("plain", "temperature_scaling")
    assert row["agrees"] == (row["selected_tce_percent"] == row["least_tce_percent"])


def test_a_size_that_would_take_too_long_is_left_out(monkeypatch):
    """Time per call is n², in CPU seconds; of numpy.sort 1 s: 100 rows take 10⁴ s."""
    monkeypatch.setattr(time_estimator, "_peak", lambda call: 2.0)
    monkeypatch.setattr(
        time_estimator,
        "_fastest",
        lambda call: 1.0 if call.func is np.sort else call.args[1].scores.size ** 2.0,
    )
    rows = [*time_estimator._rows("mine", lambda *arguments: None, [1, 3, 100], 2.0)]
    assert [row["ratio_to_sort"] for row in rows[:2]] == [1.0, 9.0]
    assert np.isnan(rows[2]["ratio_to_sort"])
    assert [row["peak_mebibytes"] for row in rows[:2]] == [2.0, 2.0]


ROWS = sorted((ROOT / "resources/league").glob("*.json"))


@pytest.mark.parametrize("path", daily(ROWS, 1), ids=lambda path: path.stem)
def test_two_cells_of_a_row_of_the_league_are_recomputed(path):
    """The file of the row's name makes them again, at the row's seed and number of data sets."""
    row = json.loads(path.read_text(encoding="utf-8"))
    file = path.with_suffix(".py")
    cells = [dict(zip(row["columns"], cell, strict=True)) for cell in row["cells"]]
    assert row["name"] == path.stem
    for experiment, curve in (("realistic", "fitted"), ("perfect", "identity")):
        of_it = [x for x in cells if (x["experiment"], x["n_samples"]) == (experiment, "200")]
        cell = of_it[zlib.crc32(path.read_bytes()) % len(of_it)]
        name, m = cell["estimator"], int(cell["n_replicates"])
        scenario, _ = fitted_scenario(cell["scenario"], curve, [TABLE_2], [TABLE_3])
        values, _ = simulate_estimates(
            scenario, 200, np.arange(m), {name: load_estimator(name, file)}, seed=row["seed"]
        )[name]
        bias = values.mean() - true_calibration_error(scenario, norm=row["norm"])
        assert 100 * bias == pytest.approx(cell["bias_percent"], abs=1e-4)


DATA_SETS = 12


@pytest.mark.nightly
@pytest.mark.slow
def test_intervals_hold_the_error_and_the_verdict_has_its_level_on_judging_cells():
    covered, found, rejected = [], [], []
    for cell, n in product(CELLS, (200, 1000)):
        samples = [cell.draw(n, 2022, number) for number in range(DATA_SETS)]
        truth = cell.truth("l1")
        ends = [calibration_interval(Scored.of(x.scores, x.hits)).at() for x in samples]
        covered.append(np.mean([low <= truth <= high for low, high in ends]))
        p_values = [judge(x.scores, x.hits, replicates=199).p_value <= 0.05 for x in samples]
        (rejected if truth == 0 else found).append(np.mean(p_values))
    assert np.mean(covered) >= 0.95
    assert np.min(covered) >= 8 / DATA_SETS  # of 0.9 less in one of 4000 cells
    assert np.mean(rejected) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / (len(rejected) * DATA_SETS))
    assert np.mean(found) >= 0.5


def test_the_headline_names_where_it_is_better_then_where_it_is_worse():
    def line(verdict, where, quantity="|bias|"):
        return {"verdict": verdict, "where": where, "quantity": quantity, "other": "sweep",
                "mine": "0.39 ± 0.02", "others": "0.80 ± 0.03"}  # fmt: skip

    lines = [line("more biased", "fitted"), line(UNCLEAR, "networks", "RMSE"),
             line("less biased", "calibrated"), line("less biased", "networks"),
             line("larger RMSE", "fitted", "RMSE")]  # fmt: skip
    found = dict(headline(lines))
    assert [*found] == ["less biased", "more biased", "larger RMSE", UNCLEAR]
    numbers = "(0.39 ± 0.02 against 0.80 ± 0.03)"
    assert found["less biased"] == [f"sweep, calibrated {numbers}", f"sweep, networks {numbers}"]
    assert found[UNCLEAR] == ["RMSE: sweep, networks"]
