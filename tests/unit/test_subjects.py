"""The study of language models by subject, and the cells of the test over all subgroups."""

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT

from evidence.cells.subgroups import CELLS
from evidence.studies.subgroups import subgroup_rows
from evidence.studies.subjects import (
    CONFIDENCES,
    compared_rows,
    consistency,
    printed_ece,
    printed_rows,
    subject_rows,
)
from pipeline.manifest import read_shipped_manifest, verify_shipped
from pipeline.table_schema import columns_of

SUBJECTS = ROOT / "resources/subjects"


def test_files_are_those_of_the_manifest():
    listed = read_shipped_manifest(SUBJECTS / "manifest.json")
    files = sorted(SUBJECTS.rglob("*.parquet"))
    assert {path.relative_to(SUBJECTS).as_posix() for path in files} == set(listed)
    assert sum(path.stat().st_size for path in files) < 6e6
    for path in files[:5]:
        verify_shipped(path, SUBJECTS / "manifest.json")


def test_a_confidence_of_zero_is_in_no_bin_and_single_precision_moves_edges():
    scores, hits = np.array([0.0, 0.05, 0.95, 0.95]), np.array([1.0, 0.0, 1.0, 0.0])
    assert printed_ece(scores, hits) == pytest.approx((0.05 + 0.9) / 4)
    # float32(0.3) is above 0.3: it falls into the bin below
    both, hits = np.array([0.3, 0.31]), np.array([1.0, 0.0])
    assert printed_ece(both, hits) == pytest.approx((0.7 + 0.31) / 2)


def test_all_36_printed_errors_come_out_to_six_digits():
    files = {path.stem: pd.read_parquet(path) for path in (SUBJECTS / "printed").glob("*")}
    printed = pd.read_csv(ROOT / "resources/published/tao2025.csv")
    table = pd.DataFrame(printed_rows(files, printed))
    assert tuple(table) == columns_of("tao2025")
    assert table["agrees"].sum() == len(table) == 36
    assert table["agrees_in_double_precision"].sum() == 32
    assert table["dropped_rows_percent"].max() == pytest.approx(19.3, abs=0.1)


def test_one_model_by_subject():
    table = pd.read_parquet(SUBJECTS / "claude-3-haiku-20240307.parquet")
    rows = pd.DataFrame(subject_rows("haiku", table, 1))
    assert tuple(rows) == columns_of("subjects")
    assert list(rows["stage"]) == ["as given", "recalibrated"] * 2  # it has no token confidence
    after = rows[rows["stage"] == "recalibrated"]
    assert (after["gap_percent"].abs() < 3).all()
    assert (after["n_wrong_subjects"] > 3).all()
    compared = pd.DataFrame(compared_rows("haiku", table))
    assert tuple(compared) == columns_of("verbal_confidence")
    assert list(compared["confidence"]) == [CONFIDENCES[1]]
    assert consistency(compared) == (1, 0, 0)


BY_NAME = {cell.name: cell for cell in CELLS}


def test_a_cell():
    (row,) = subgroup_rows(5, 1, [BY_NAME["two values"]])
    assert set(row) == set(columns_of("subgroup_cells"))
    assert (row["n_segments"], row["n_data_sets"], row["half"]) == (3, 5, "design")
    assert row["coverage"] > 0.5


@pytest.mark.parametrize("name", BY_NAME)
def test_data_sets_of_cells(name):
    cell = BY_NAME[name]
    data = cell.draw(cell.n, 1, 0)
    assert abs((data.hits - data.rates).mean()) < (0.08 if data.clusters is None else 0.2)
    assert set(data.columns) == set("abc"[: len(cell.levels)])
    assert ((data.scores >= 0) & (data.scores <= 1)).all()
