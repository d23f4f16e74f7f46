"""The authors' own fits and biases: read without running code, and compared."""

import os
import pickle

import numpy as np
import pandas as pd
import pytest
from authors_data import write_files
from claims_data import TABLES
from command import run

from calbias.errors import InputError
from pipeline.claims.grounds import Grounds
from pipeline.tables import read_table
from reproduction.authors_files import (
    BETA,
    BIASES,
    ECE_BIN,
    FILES,
    GLM,
    contents,
    read_plain_pickle,
)
from reproduction.claims.authors import of_ece_bin, of_fits
from reproduction.steps.draw_as_authors import compare_biases

TABLES_OF_FILES = ("fits", "biases", "ece_bin")


class Evil:
    def __reduce__(self):
        return os.system, ("touch ran",)


@pytest.fixture
def tables(tmp_path):
    """The three tables that are read from the files."""

    def read(**form):
        write_files(tmp_path / "files", **form)
        paths = dict(zip(("beta_fits", "glm_fits", "biases", "ece_bin"), FILES, strict=True))
        inputs = {name: tmp_path / "files" / file for name, file in paths.items()}
        outputs = {
            f"output_{x}": tmp_path / f"authors_{x}.csv" for x in ("fits", "biases", "ece_bin")
        }
        run("read_authors_files", **inputs, **outputs)
        return {path.stem: read_table(path) for path in outputs.values()}

    return read


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_plain_values_are_read_and_no_code_runs(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    values = {"data": {"m": {"a": 2.5, "n": [1, None, "x"]}}, "evil": [Evil()],
              "frame": pd.DataFrame({"x": [1.0]}), "scalar": np.float64(3)}  # fmt: skip
    path = tmp_path / "x.p"
    path.write_bytes(pickle.dumps(values, protocol=protocol))
    assert read_plain_pickle(path)["data"] == values["data"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"\x80\x04", b"no pickle", b"<!DOCTYPE html>", b"I1\nr\xff\xff\xff\x7f."],
    ids=repr,
)
def test_damaged_pickles_are_one_line(tmp_path, content):
    path = tmp_path / "x.p"
    path.write_bytes(content)
    with pytest.raises(InputError, match="download"):
        read_plain_pickle(path)


def test_files_of_another_form_are_refused_by_place(tmp_path, refused):
    write_files(tmp_path)
    values = contents(tmp_path / BETA)
    del values["densenet40_c10"]["b"]
    (tmp_path / BETA).write_bytes(pickle.dumps({"data": values}))
    options = {"beta_fits": tmp_path / BETA, "glm_fits": tmp_path / GLM,
               "biases": tmp_path / BIASES, "ece_bin": tmp_path / ECE_BIN}  # fmt: skip
    outputs = {f"output_{name}": tmp_path / f"{name}.csv" for name in TABLES_OF_FILES}
    with refused("no number at densenet40_c10 › b"):
        run("read_authors_files", **options, **outputs)
    assert not (tmp_path / "fits.csv").exists()
    (tmp_path / BIASES).write_text("[]")
    with pytest.raises(InputError, match="holds no dict"):
        contents(tmp_path / BIASES)


def test_fits_and_recorded_cells_of_the_best_glm(tables):
    read = tables()
    fits = read["authors_fits"].set_index(["model", "glm"])
    assert len(fits) == 120
    row = fits.loc["resnet110_SD_c10", "log_log_b1"]
    assert (row["alpha"], row["beta"], row["b1"], row["b1_sd"]) == (1.5, 0.1, 0.3, 0.03)
    assert np.isnan(row["b0"])
    (cell,) = read["authors_biases"].to_dict("records")
    assert cell == {
        "scenario": "resnet110_SD_c10", "estimator": "ece_sweep_em", "n_samples": 200,
        "n_replicates": 1000, "tce_percent": 7.0, "bias_percent": -0.5, "sd_percent": 1.2,
    }  # fmt: skip
    pd.testing.assert_frame_equal(
        read["authors_ece_bin"], tables(ece_by_model=True)["authors_ece_bin"]
    )


def test_what_the_files_say_of_printed_numbers(tables):
    read = tables()
    table_3 = TABLES["roelofs2022_table3_glm_fits"]
    (close,) = of_fits(Grounds({**TABLES, **read}))
    assert close.value < 10
    same = table_3.assign(
        alpha=2.0, beta=0.1, aic=table_3["aic"] + 0.0049, b1=table_3["b1"] - 0.004
    )
    (close,) = of_fits(Grounds({**TABLES, "authors_fits": same}))
    assert close.value == 100
    printed = read["authors_ece_bin"].assign(
        published_ece_bin_percent=6.5, published_simulated_percent=8.4,
    )  # fmt: skip
    real, simulated = of_ece_bin(Grounds({**read, "ece_bin_real_and_simulated": printed}))
    assert (real.value, simulated.value) == (pytest.approx(0.2), 0)


def test_biases_are_compared_in_the_cells_of_both():
    rows = pd.DataFrame({"scenario": ["a", "a"], "estimator": "x", "n_samples": [200, 400],
                         "bias_percent": [1.0, 2.0]})  # fmt: skip
    recorded = rows.iloc[:1].assign(bias_percent=1.25)
    cells, largest = compare_biases(rows, recorded)
    assert (cells["value"], largest["value"]) == (1, 0.25)
