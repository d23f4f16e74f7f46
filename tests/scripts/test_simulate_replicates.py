"""Replicates by the command line: the same numbers however they are asked for, and kept."""

import numpy as np
import pytest
from command import run as run_step

from calbias.estimation.registry import estimator_file
from calbias.simulation import simulate_estimates
from pipeline.scenarios.tables import read_scenarios
from reproduction.replicates.store import Cell, read_replicates
from reproduction.steps import simulate_replicates


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
    assert [*cells][:2] == [Cell("beta_1_1_power_1.5", 50, b) for b in (3, 15)]
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
    two, four = (cells[Cell("beta_1_1_power_2", 50, b)].estimate for b in (2, 4))
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
def test_mistakes_are_one_line_and_write_nothing(simulate, tmp_path, refused, change, message):
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
