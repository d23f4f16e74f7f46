"""The command lines of all classes: the league, its reading, a printed table with floors."""

import numpy as np
import pandas as pd
import pytest
from command import made, run

from calbias.multiclass.measures import MEASURES, target_of
from calbias.reading.output_file import Fold
from evidence.cells.classes import maps_of
from evidence.steps.run_multiclass_league import CORRECTED, league_rows
from pipeline.logits import Logits, save_logits


@pytest.fixture(scope="module")
def league(tmp_path_factory):
    return made(
        "multiclass_league", "run_multiclass_league", tmp_path_factory.mktemp("league"),
        population="dirichlet_3", n_samples=[60, 120], replicates=6, seed=1,
    )  # fmt: skip


def test_every_estimator_is_held_against_its_own_truth(league):
    names = {name for name in MEASURES if "_sum" not in name}
    assert set(league["estimator"]) == names | {f"{name}_corrected" for name in CORRECTED}
    assert set(league["map"]) == set(maps_of(3))
    for name, target in zip(league["estimator"], league["target"], strict=True):
        assert target == target_of(name.removesuffix("_corrected"))
    assert (league.loc[league["map"] == "calibrated", "truth"] == 0).all()
    assert (league.loc[league["map"] != "calibrated", "truth"] > 0).all()
    assert league.groupby("n_samples")["n_replicates"].unique().map(list).to_dict() == {
        60: [6], 120: [3],
    }  # fmt: skip


def test_the_test_rows_of_a_network_are_a_population(tmp_path):
    logits = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    fold = Fold(logits, np.arange(200) % 4)
    save_logits(tmp_path / "mine.npz", Logits(fold, fold))
    table = made(
        "multiclass_league", "run_multiclass_league", tmp_path, population="mine",
        logits=tmp_path / "mine.npz", n_samples=50, replicates=3, seed=1,
    )  # fmt: skip
    assert set(table["n_classes"]) == {4}
    assert set(table["scenario"]) == {f"mine_{name}" for name in maps_of(4)}


def test_larger_league_keeps_its_data_sets():
    population = np.random.default_rng(0).dirichlet([1.0, 2.0], 100)
    few, many = (
        pd.DataFrame(league_rows("mine", population, sizes, 3, 1)) for sizes in ([40], [40, 80])
    )
    same = many[many["n_samples"] == 40].reset_index(drop=True)
    pd.testing.assert_frame_equal(few, same)


def test_the_reading_follows_from_the_table(league, tmp_path):
    path = tmp_path / "multiclass_league.csv"
    league.to_csv(path, index=False)
    reading = made("multiclass_reading", "read_multiclass_league", tmp_path, league=path)
    best = reading[(reading["target"] == "classwise_l1") & (reading["n_samples"] == 60)]
    rows = league[(league["target"] == "classwise_l1") & (league["n_samples"] == 60)]
    errors = rows.groupby("estimator")["relative_rmse"].median()
    assert f"is {errors.idxmin()} (" in best["sentence"].iloc[0]
    assert reading["sentence"].str.endswith(".").all()


def test_floors_and_differences_of_a_model_are_judged_by_printed_ones(tmp_path):
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(2, 300, 3)).astype(np.float32) * 2
    labels = generator.integers(0, 3, (2, 300))
    folds = [Fold(z, y) for z, y in zip(logits, labels, strict=True)]
    save_logits(tmp_path / "mine.npz", Logits(*folds))
    paths = {
        f"output_{name}": tmp_path / f"{name}.parquet"
        for name in ("measures", "bins", "graphs", "floors")
    }
    run("measure_model", logits=tmp_path / "mine.npz", model="mine", bootstrap=2, seed=1, **paths)
    floors = pd.read_parquet(paths["output_floors"])
    both, words = tmp_path / "both.npz", np.repeat(["validation", "test"], 300)
    np.savez(both, logits=logits.reshape(600, 3), labels=labels.ravel(), fold=words)
    output = tmp_path / "differences.parquet"
    run("measure_differences", file=both, model="mine", methods="quick", seed=1, output=output)
    differences = pd.read_parquet(output)
    methods = {*differences["method_a"], *differences["method_b"]}
    assert {"uncalibrated", "temperature_scaling"} <= methods <= {*floors["method"]}
    assert len(differences) == len(methods) * (len(methods) - 1) / 2
    assert (floors["floor_sd"] > 0).all()
    table = tmp_path / "floors.csv", tmp_path / "differences.csv"
    floors.to_csv(table[0], index=False)
    differences.to_csv(table[1], index=False)
    printed = made(
        "kull2019_table3", "judge_printed_classwise", tmp_path, floors=table[0],
        differences=table[1],
        printed="evidence/resources/published/kull2019_table3_classwise_ece.csv",
    )  # fmt: skip
    assert set(printed["verdict"]) == {"best", "no network of this kind"}
