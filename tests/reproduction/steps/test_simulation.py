"""Scenarios and their true errors, replicates however they are asked for, and their summaries."""

import shutil

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from command import FITS, made, run
from command import run as run_step

from calbias.estimation.registry import estimator_file
from calbias.simulation import simulate_estimates
from pipeline.scenarios import read_scenarios
from pipeline.tables import read_table, write_table
from reproduction.replicates import ReplicateCell, read_replicates
from reproduction.steps import simulate_replicates


def defined(folder, **options):
    table = made("scenarios", "define_scenarios", folder, experiment="x", **options)
    assert set(table["experiment"]) == {"x"}
    return table.to_dict("records")


def of_models(folder, curve, *names, **changes):
    tables = {"models_table": ROOT / "config/models.csv", **FITS, **changes}
    return defined(folder, models=names, curve=curve, **tables)


def test_models_take_their_fits_of_lowest_aic(tmp_path):
    rows = of_models(tmp_path / "new", "fitted", "resnet110_c10", "resnet110_SD_c10")
    found = [rows[0][name] for name in ("curve", "alpha", "beta", "b0", "b1", "source")]
    expected = ["logflip_logflip_b0_b1", 2.7752, 0.0478, -0.24, 0.30, "published_fits"]
    assert (found, rows[1]["curve"]) == (expected, "logit_logflip_b0_b1")


def test_a_model_by_its_fit_parameters_alone(tmp_path):
    """The same scenario as that of the published fit, under another name."""
    [published] = of_models(tmp_path, "fitted", "resnet110_c10")
    glms = ["logflip_logflip_b0_b1,-0.24,0.30", "log_log_b0,-0.1,0"]
    row, constant = defined(tmp_path, scores="2.7752,0.0478", glms=glms)
    same = ("alpha", "beta", "curve", "b0", "b1")
    assert [row[name] for name in same] == [published[name] for name in same]
    assert row["scenario"] == "beta_2.7752_0.0478_logflip_logflip_b0_b1_-0.24_0.3"
    assert (constant["curve"], constant["b0"]) == ("log_log_b0", -0.1)


def test_fresh_fits_come_before_published_ones_and_identity_is_perfectly_calibrated(tmp_path):
    fresh = tmp_path / "fresh.csv"
    fresh.write_text("model,source,alpha,beta\nresnet110_c10,real_logits,5,0.1\n")
    names, fits = ("resnet110_c10", "resnet110_c100"), [fresh, FITS["beta_fits"]]
    rows = of_models(tmp_path, "identity", *names, beta_fits=fits)
    assert [(row["source"], row["alpha"], row["curve"]) for row in rows] == [
        ("real_logits", 5, "identity"), ("published_fits", 1.1823, "identity")
    ]  # fmt: skip


def test_scores_times_curves_and_powers(tmp_path):
    curves = ["identity", "logistic"]
    rows = defined(tmp_path, scores=["1,1", "1.1,0.1"], curves=curves, powers=[2, 1.5])
    names = [row["scenario"].removeprefix("beta_1_1_") for row in rows[:4]]
    assert names == ["identity", "logistic", "power_2", "power_1.5"]
    assert len(rows) == 8
    assert read_scenarios(tmp_path / "scenarios.csv")[7][0].curve == ("power", 0.0, 1.5)
    assert {row["source"] for row in rows} == {"synthetic"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": "1,1", "powers": [2, 2.0000001]}, "beta_1_1_power_2 is there twice"),
        ({"scores": "1", "powers": 2}, "--scores: '1' is not a pair"),
        ({"scores": "1,1", "curves": "straight"}, "--curves"),
        ({"scores": "1,1", "glms": "log_log_b0_b1,1"},
         "--glms: 'log_log_b0_b1,1' is not name,b0,b1 such as"),
        ({"scores": "1,1", "glms": "log_log_b1,0.1,1"},
         "config: experiments.x.glms: log_log_b1 has no b0: write 0 for it"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_write_nothing(tmp_path, refused, options, message):
    with refused(message):
        run("define_scenarios", experiment="x", **options, output=tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


POWERS = {1: [0.5 - 0.4, 0.5 - 1 / 3], 2: [(1 / 3 - 2 / 3.5 + 1 / 4) ** 0.5, 30**-0.5]}


@pytest.mark.parametrize(("norm", "expected"), POWERS.items())
def test_true_errors_of_scenarios_of_several_tables_are_there_once(chain, tmp_path, norm, expected):
    name, scenarios = "true_calibration_error", [chain.scenarios] * 2
    table = made(name, "compute_true_error", tmp_path, scenarios=scenarios, norm=norm)
    assert table["tce_percent"].tolist() == pytest.approx([100 * x for x in expected], rel=1e-8)
    assert table["norm"].tolist() == [norm] * 2


@pytest.fixture
def simulate(chain, tmp_path):
    """Run the script with the chain's scenarios; return what it printed and the file's cells."""

    def run(capsys=None, output="x.parquet", **changes):
        options = {"n_samples": 50, "n_bins": 15, "replicates": 6, "seed": 1,
                   "estimator": "ece_bin_em", "scenarios": chain.scenarios}  # fmt: skip
        options |= changes
        if "estimator_file" not in options:
            options["estimator_file"] = estimator_file(options["estimator"])
        run_step("simulate_replicates", **options, output=tmp_path / output)
        printed = capsys.readouterr() if capsys else None
        return printed, read_replicates(tmp_path / output)[0]

    return run


def test_the_numbers_are_those_of_the_library(simulate, chain):
    _, cells = simulate(n_samples=[50, 80], n_bins=[3, 15])
    scenarios = {scenario.name: scenario for scenario, _ in read_scenarios(chain.scenarios)}
    assert [*cells][:2] == [ReplicateCell("beta_1_1_power_1.5", 50, b) for b in (3, 15)]
    assert len(cells) == 8
    for cell, estimates in cells.items():
        scenario = scenarios[cell.scenario]
        values, n_bins = simulate_estimates(
            scenario, cell.n_samples, range(6), ["ece_bin_em"], cell.n_bins, seed=1
        )["ece_bin_em"]
        np.testing.assert_array_equal(estimates.estimate, values)
        np.testing.assert_array_equal(estimates.n_bins_used, n_bins)
        assert estimates.replicate.tolist() == list(range(6))


def test_shards_make_up_the_whole(simulate):
    _, whole = simulate(replicates=7)
    for k in range(3):
        _, part = simulate(output=f"{k}.parquet", replicates=7, shard=k, shards=3)
        for cell, estimates in whole.items():
            assert part[cell].replicate.tolist() == list(range(k, 7, 3))
            np.testing.assert_array_equal(part[cell].estimate, estimates.estimate[k::3])


def test_a_second_run_draws_nothing_and_writes_the_same_bytes(simulate, tmp_path, capsys):
    first, _ = simulate(capsys)
    assert first.out.count("6 replicates in") == 2
    before = (tmp_path / "x.parquet").read_bytes()
    printed, _ = simulate(capsys)
    assert "replicates in" not in printed.out
    assert (tmp_path / "x.parquet").read_bytes() == before
    printed, _ = simulate(capsys, code="changed")
    assert printed.out.count("6 replicates in") == 2


def test_more_replicates_are_added(simulate, capsys):
    _, few = simulate(capsys)
    printed, many = simulate(capsys, replicates=10)
    assert printed.out.count("50: 4 replicates in") == 2
    for cell, estimates in few.items():
        np.testing.assert_array_equal(many[cell].estimate[:6], estimates.estimate)
    _, again = simulate(capsys)  # fewer: the first ones
    assert all(again[cell].estimate.tolist() == few[cell].estimate.tolist() for cell in few)


def test_a_new_number_of_bins_leaves_the_others(simulate, capsys, monkeypatch):
    _, before = simulate(capsys)
    asked, draw = [], simulate_replicates.simulate_cells
    monkeypatch.setattr(
        simulate_replicates, "simulate_cells", lambda *a: asked.append(a[3]) or draw(*a)
    )
    _, cells = simulate(capsys, n_bins=[15, 4])
    assert asked == [[("ece_bin_em", 4)]] * 2
    assert len(cells) == 4
    _, again = simulate(capsys, output="y.parquet", n_bins=[15, 4])
    for cell, estimates in (*before.items(), *again.items()):
        np.testing.assert_array_equal(cells[cell].estimate, estimates.estimate)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"norm": 1},
        {"precision": "float32"},
        {"estimator": "ece_bin_ew"},
        {"shards": 2, "replicates": 12},
    ],
)
def test_what_the_numbers_depend_on_draws_anew(simulate, capsys, change):
    """Not even another estimator's replicates, of the same file of code, are taken over."""
    _, before = simulate(capsys)
    printed, after = simulate(capsys, **change)
    assert printed.out.count("50: 6 replicates in") == 2
    for cell in before:
        assert not np.array_equal(after[cell].estimate, before[cell].estimate)


def test_a_damaged_file_is_drawn_anew_with_a_warning(simulate, tmp_path, capsys):
    _, before = simulate(capsys)
    kept = tmp_path / ".kept-x.parquet"
    kept.write_bytes(kept.read_bytes()[:100])
    (tmp_path / "x.parquet").unlink()
    printed, after = simulate(capsys)
    assert "warning: drawn again" in printed.err
    for cell, estimates in before.items():
        np.testing.assert_array_equal(after[cell].estimate, estimates.estimate)


def test_an_estimator_of_ones_own(simulate, tmp_path):
    file = tmp_path / "lowest.py"
    file.write_text("def estimate(scores, hits, n_bins, norm):\n    return scores[0] / n_bins\n")
    _, cells = simulate(estimator="lowest", estimator_file=file, n_bins=[2, 4])
    two, four = (cells[ReplicateCell("beta_1_1_power_2", 50, b)].estimate for b in (2, 4))
    np.testing.assert_allclose(two, 2 * four)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_samples": [-5]}, "error: n_samples must be at least 1, not -5"),
        ({"n_bins": [0]}, "error: simulate_replicates: --n-bins: must be at least 1"),
        ({"shard": 3, "shards": 3}, "error: --shard must be from 0 to 2, not 3"),
        ({"scenarios": "nowhere.csv"}, "error: nowhere.csv: there is no such table"),
        ({"estimator": "ece_debias_em", "norm": 1}, "error: ece_debias_em is defined for norm 2"),
    ],
)
def test_a_mistake_in_what_is_drawn_is_one_line(simulate, tmp_path, refused, change, message):
    with refused(message):
        simulate(**change)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("alpha", "-1", "line 2: alpha -1.0 and beta 1.0 must be finite and above 0"),
        ("beta", "x", "line 2: not a scenario (could not convert string to float: 'x')"),
        ("curve", "cubic", "line 2: unknown curve 'cubic'. Known: "),
    ],
)
def test_bad_scenario_tables(simulate, chain, tmp_path, refused, column, value, message):
    header, first = chain.scenarios.read_text().splitlines()[:2]
    row = dict(zip(header.split(","), first.split(","), strict=True))
    bad = tmp_path / "bad.csv"
    bad.write_text(f"{header}\n{','.join({**row, column: value}.values())}\n")
    with refused(f"error: {bad}, {message}"):
        simulate(scenarios=bad)


DRAWN = {"n_replicates": 12, "seed": 1}


@pytest.fixture
def of_chain(chain):
    """Options that every summary of the chain's replicates has."""
    return {"scenarios": chain.scenarios, "true_errors": chain.true_errors, **DRAWN}


@pytest.fixture
def bias(chain, of_chain, tmp_path):
    replicates = [*chain.replicates.values()]
    return made(
        "bias", "summarise_bias", tmp_path, experiment="mine", replicates=replicates, **of_chain
    )


def test_bias(chain, bias):
    assert len(bias) == 2 * 2 * 2 + 2 * 2  # scenarios × sizes × bins, and the sweep's
    assert set(bias["n_bins"]) == {2, 15, -1}
    cells = read_replicates(chain.replicates["ece_bin_em"])[0]
    values = 100 * cells[ReplicateCell("beta_1_1_power_2", 100, 15)].estimate
    is_it = (bias["scenario"] == "beta_1_1_power_2") & (bias["n_samples"] == 100)
    row = bias[is_it & (bias["n_bins"] == 15)].iloc[0]
    assert row["mean_estimate_percent"] == pytest.approx(values.mean(), rel=1e-12)
    assert row["tce_percent"] == pytest.approx(100 / np.sqrt(30), rel=1e-8)
    assert row["bias_percent"] == pytest.approx(values.mean() - 100 / np.sqrt(30), rel=1e-6)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 2}, "0-of-1.parquet: it was made with other seed 1, not 2: delete it and run"),
        ({"n_replicates": 13}, "it was made with other replicates 12, not 13"),
        ({"scenarios": "others.csv"}, "it was made with other scenarios: delete it and run again"),
        ({"replicates": "ece_bin_em/copied.parquet"}, "other estimator ece_sweep_em, not ece_bin"),
        ({"true_errors": "one.csv"}, "error: true_calibration_error has no scenario beta"),
    ],
)
def test_files_of_another_configuration(chain, of_chain, tmp_path, refused, changed, message):
    (tmp_path / "ece_bin_em").mkdir()
    shutil.copy(chain.replicates["ece_sweep_em"], tmp_path / "ece_bin_em/copied.parquet")
    (tmp_path / "others.csv").write_text(chain.scenarios.read_text().replace("mine", "others"))
    pd.read_csv(chain.true_errors)[:1].to_csv(tmp_path / "one.csv", index=False)
    changed = {k: v if isinstance(v, int) else tmp_path / v for k, v in changed.items()}
    given = {"replicates": chain.replicates["ece_bin_em"], **of_chain, **changed}
    with refused(message):
        run("summarise_bias", experiment="mine", **given, output=tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


def test_detection_without_the_nulls_estimator(chain, of_chain, tmp_path, refused):
    binned, sweep = chain.replicates.values()
    with refused("detection_null has no ece_sweep_em at n = 50"):
        run("summarise_detection", **of_chain, null_scenarios=chain.scenarios,
            null_replicates=binned, null_n_replicates=12, replicates=sweep,
            output_detection=tmp_path / "x.csv", output_limits=tmp_path / "y.csv")  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_join_tables(bias, chain, tmp_path, refused):
    """Parquet or CSV; integers stay integers beside a part in which some are missing."""
    whole = tmp_path / "bias.csv"
    part = read_table(whole)
    write_table(tmp_path / "gaps.parquet", "bias", part.assign(n_bins=pd.array([7, None] * 6)))
    write_table(tmp_path / "whole.parquet", "bias", part)
    parts = [whole, tmp_path / "gaps.parquet", tmp_path / "whole.parquet"]
    run("join_tables", table="bias", parts=parts, output=tmp_path / "joined.csv")
    lines, own = ((tmp_path / n).read_text().splitlines() for n in ("joined.csv", "bias.csv"))
    assert (lines[: len(own)], lines[-len(own) + 1 :]) == (own, own[1:])
    assert [line.split(",")[3] for line in lines[len(own) :][:2]] == ["7", ""]
    with refused(f"error: {chain.true_errors}: it lacks the columns of table bias;"):
        run("join_tables", table="bias", parts=[whole, chain.true_errors], output=tmp_path / "x")
    assert not (tmp_path / "x").exists()
