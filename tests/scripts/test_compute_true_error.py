"""Table true_calibration_error: the contract, the numbers, each scenario once."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import compute_true_error
from calbias.io.table_schema import tables

ROOT = Path(__file__).parents[2]


def test_table(chain):
    table = pd.read_csv(chain.true_errors)
    contract = tables()
    assert list(table) == contract["true_calibration_error"]["columns"]
    square = 1 / 3 - 2 / (2 + 1.5) + 1 / (2 * 1.5 + 1), 1 / 3 - 2 / 4 + 1 / 5
    expected = 100 * np.sqrt(square)
    assert table["tce_percent"].tolist() == pytest.approx(expected.tolist(), rel=1e-8)
    assert table["norm"].tolist() == [2, 2]


def test_scenarios_of_several_tables_are_there_once(chain, tmp_path):
    output = tmp_path / "x.csv"
    compute_true_error.main(
        ["--scenarios", str(chain.scenarios), str(chain.scenarios), "--norm", "1",
         "--output", str(output)]
    )  # fmt: skip
    table = pd.read_csv(output)
    assert len(table) == 2
    assert table["tce_percent"].tolist() == pytest.approx([100 * (0.5 - 0.4), 100 * (0.5 - 1 / 3)])


def test_a_bad_norm(chain, tmp_path, refused):
    with refused("error: norm must be a finite number above 0, not -1.0"):
        compute_true_error.main(
            ["--scenarios", str(chain.scenarios), "--norm", "-1", "--output", str(tmp_path / "x")]
        )
    assert not list(tmp_path.iterdir())
