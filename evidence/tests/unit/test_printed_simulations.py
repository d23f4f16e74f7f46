"""Simulations of other papers: their data and statistics by hand, z, and the claims on it."""

import importlib

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from claims_data import verdicts_of

from evidence.papers.henzi2023 import QuadraticCell
from evidence.papers.tcal2023 import WaveCell
from evidence.papers.widmann2019 import DirichletCell, LabelledPredictions
from evidence.steps.compare_simulations import compared, printed_numbers, simulation_rows


def settings(paper):
    return importlib.import_module(f"evidence.papers.{paper}"), sorted(
        (ROOT / "evidence/resources/published").glob(f"{paper}*")
    )


@pytest.mark.parametrize(
    ("paper", "count"),
    [("widmann2019", 479), ("arrieta2022", 4), ("tcal2023", 80), ("henzi2023", 102)],
)
def test_printed_numbers_are_found_by_the_names_of_cells_and_methods(paper, count):
    module, files = settings(paper)
    made = {(c.name, q) for c, n in module.cells() for q in module.methods(c, n, 100, 1)}
    assert len(made & set(printed_numbers(module, files))) == count


def test_the_formula_of_arrieta_ibarra_to_every_printed_digit():
    rows = list(simulation_rows(*settings("arrieta2022"), 2, 1))
    assert [f"{row['recomputed']:.4g}" for row in rows] == ["0.01243", "5.512", "0.02291", "10.16"]
    assert max(abs(row["z"]) for row in rows) < 3**0.5


def test_z_of_a_rate():
    """Of 100 and 400 sets 10 and 80 are rejections: share 91/502, √(s(1 − s)(1/100 + 1/400))."""
    rejected = np.arange(100) < 10
    error = np.sqrt(91 * 411 * (1 / 100 + 1 / 400)) / 502
    assert compared(rejected, "0.2000", 400)["z"] == pytest.approx(-0.1 / error, rel=1e-4)
    limits = np.stack([rejected, np.arange(100) < 4, np.arange(100) < 16], axis=1)
    widened = compared(limits, "0.2000", 400)  # a standard error of the critical value: 0.06
    assert widened["z"] == pytest.approx(-0.1 / np.hypot(error, 0.06), rel=1e-4)
    assert set(compared(rejected)) == {"recomputed", "error"}


def test_errors_of_all_classes_by_hand():
    """Two rows share a cube: sums of gaps (-0.54, 0.54) and (-0.05, 0.05), halved, over 3."""
    p = np.array([[0.25, 0.75], [0.21, 0.79], [0.95, 0.05]])
    data = LabelledPredictions(p, np.array([0, 1, 0]), 0.5, 1)
    assert data.ece(data.cubes) == pytest.approx((0.54 + 0.05) / 3)
    distance = np.abs(p[:, None, 0] - p[None, :, 0])
    pairs = np.exp(-distance / 0.5) * (data.gaps @ data.gaps.T)
    assert data.kernel_errors["SKCEb_mean"] == pytest.approx(pairs.mean())
    off = pairs.sum() - np.trace(pairs)
    assert data.kernel_errors["SKCEuq_mean"] == pytest.approx(off / 6)
    assert data.kernel_errors["SKCEul_mean"] == pytest.approx(pairs[0, 1])
    x = np.linspace(0.1, 0.9, 20)  # 20, 10 and 10, four cells of 5
    cells = LabelledPredictions(np.c_[x, 1 - x], np.zeros(20, int), 0.5, 1).halves
    assert np.abs(np.diff(cells)).astype(bool).nonzero()[0].tolist() == [4, 9, 14]


@pytest.mark.nightly
def test_consistency_resampling_rejects_a_calibrated_model_and_the_redraw_does_not():
    for classes, rejects in ((10, True), (2, False)):
        cell = DirichletCell(classes, 1.0, "uniform", 0)
        resampled, redrawn = cell.draw(250, 1, 0).p_values
        assert ((resampled <= 0.05), (redrawn <= 0.05)) == (rejects, False)


def test_waves_and_quadratic_log_odds_by_hand():
    z = np.array([0.2, 0.25 + 1 / 160, 0.25 + 3 / 160, 0.8])  # outside, tops of two waves, outside
    top = 100 * 40**-0.6 * np.exp(-4)
    np.testing.assert_allclose(WaveCell(1, 40).chances(z) - z, [0, top, -top, 0], atol=1e-12)
    calibrated = QuadraticCell(4096, 0.007).draw(4096, 1, 0).scores
    assert (calibrated.min(), calibrated.max()) == pytest.approx((0.007, 0.95), abs=1e-3)


def ledger(z, ratio=5.0):
    table = {"paper": "tcal2023", "cell": "a", "quantity": "t_cal", "error": ratio, "z": z}
    return {"printed_simulations": pd.DataFrame({**table, "printed_error": 1.0})}


test_c07_nearly_all_within_three_errors = verdicts_of(
    "C07", ledger, reproduced=[[0.5, -3.0], 100 * [1.0] + [4.4]],
    approximate=[9 * [1.0] + [3.1], 100 * [1.0] + [4.6]], not_reproduced=[[1.0, 3.1]],
)  # fmt: skip
