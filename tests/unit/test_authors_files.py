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
from calbias.truth.curves import GLM_NAMES
from pipeline.claims.grounds import Grounds
from pipeline.paper import MODELS
from pipeline.tables import read_table
from reproduction.authors_files import (
    BETA,
    BIASES,
    FILES,
    best_scenarios,
    contents,
    read_plain_pickle,
)
from reproduction.claims.authors import of_ece_bin, of_fits
from reproduction.steps.draw_as_authors import compare_biases


class Evil:
    def __reduce__(self):
        return os.system, ("touch ran",)


@pytest.fixture
def recorded(tmp_path):
    """The table that is read from the files."""

    def read(**form):
        write_files(tmp_path, **form)
        run("read_authors_files", **files_in(tmp_path), output=tmp_path / "authors_recorded.csv")
        return read_table(tmp_path / "authors_recorded.csv").fillna({"case": ""})

    return read


def files_in(folder):
    names = ("beta_fits", "glm_fits", "biases", "ece_bin")
    return {name: folder / file for name, file in zip(names, FILES, strict=True)}


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
    with refused("no number at densenet40_c10 › b"):
        run("read_authors_files", **files_in(tmp_path), output=tmp_path / "recorded.csv")
    assert not (tmp_path / "recorded.csv").exists()
    (tmp_path / BIASES).write_text("[]")
    with pytest.raises(InputError, match="holds no dict"):
        contents(tmp_path / BIASES)


def test_fits_and_recorded_cells_of_the_best_glm(recorded):
    table = recorded()
    numbers = table.set_index(["model", "case", "quantity"])[["value", "error"]].sort_index()
    assert len(numbers.loc[(slice(None), [*GLM_NAMES]), :]) == 10 * (12 + 16)
    of_model = numbers.loc["resnet110_SD_c10"]
    assert of_model.loc[("", ["alpha", "beta"]), "value"].tolist() == [1.5, 0.1]
    assert of_model.loc["log_log_b1"].T.to_dict("list") == {"aic": [5.0, 0.5], "b1": [0.3, 0.03]}
    assert best_scenarios(table)["resnet110_SD_c10"][1:] == (1.5, 0.1, ("logit_logit_b0", -0.2, 0))
    (cell,) = table[table["quantity"] == "bias_percent"].to_dict("records")
    assert [*cell.values()] == ["resnet110_SD_c10", "ece_sweep_em", 200, "bias_percent", -0.5, 1.2]
    pd.testing.assert_frame_equal(table, recorded(ece_by_model=True))


def test_what_the_files_say_of_printed_numbers(recorded):
    table = recorded()
    table_3 = TABLES["roelofs2022_table3_glm_fits"]
    (close,) = of_fits(Grounds({**TABLES, "authors_recorded": table}))
    assert close.value < 10
    same = table_3.assign(aic=table_3["aic"] + 0.0049, b1=table_3["b1"] - 0.004)
    same = same.rename(columns={"glm": "case"}).melt(
        ["model", "case"], ["aic", "b0", "b1"], "quantity"
    )
    (close,) = of_fits(Grounds({**TABLES, "authors_recorded": same}))
    assert close.value == 100
    printed = pd.DataFrame({
        "model": MODELS, "published_ece_bin_percent": 6.5, "published_simulated_percent": 8.4
    })  # fmt: skip
    tables = {"authors_recorded": table, "ece_bin_real_and_simulated": printed}
    real, simulated = of_ece_bin(Grounds(tables))
    assert (real.value, simulated.value) == (pytest.approx(0.2), 0)


def test_biases_are_compared_in_the_cells_of_both():
    rows = pd.DataFrame({"scenario": ["a", "a"], "estimator": "x", "n_samples": [200, 400],
                         "bias_percent": [1.0, 2.0]})  # fmt: skip
    recorded = pd.DataFrame({"model": ["a"], "case": "x", "n_samples": 200,
                             "quantity": "bias_percent", "value": 1.25})  # fmt: skip
    cells, largest = compare_biases(rows, recorded)
    assert (cells["value"], largest["value"]) == (1, 0.25)
