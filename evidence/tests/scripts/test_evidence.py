"""The evidence: predicted bias, power of tests, few rows, the league of times."""

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from command import FITS, made, read, run
from conftest import EVIDENCE

from calbias.estimation.registry import FOLDER


def test_predict_bias(tmp_path):
    generator = np.random.default_rng(0)
    score = generator.beta(3, 0.8, 600)
    hit = (generator.random(600) < score**1.3).astype(int)
    pd.DataFrame({"score": score, "hit": hit}).to_csv(tmp_path / "mine.csv", index=False)
    table = made(
        "predicted_bias", "predict_bias", tmp_path, scores=tmp_path / "mine.csv", subsamples=4,
        refits=2, seed=1, estimators=["ece_bin_ew", "ece_sweep_em"], n_samples=[100, 200, 900],
    )  # fmt: skip
    assert table["model"].tolist() == ["mine"] * 4  # n = 900 is more than the file has


@pytest.mark.nightly
def test_measure_power(tmp_path):
    power, detection = tmp_path / "test_power.csv", tmp_path / "test_detection.csv"
    run("measure_power", tests=["cox_score", "verdict"], slow_tests="redraw_smce",
        n_samples=[120, 60], replicates=20, null_replicates=25, seed=1, output_power=power,
        output_detection=detection)  # fmt: skip
    table, detected = read(power), read(detection)
    clustered = table["scenario"].str.startswith("clusters_")
    assert set(table.loc[clustered, "test"]) == {"verdict", "verdict_clusters"}
    table = table[~clustered]
    is_null = table["scenario"].str.endswith("_calibrated")
    assert (table["n_replicates"] == is_null.map({True: 25, False: 20})).all()
    assert table["rejection_rate"].between(0, 1).all()
    for rows, n_scenarios in ((table, 15), (detected, 1)):
        sizes = {"cox_score": [60, 120], "verdict": [60, 120], "redraw_smce": [60]}
        assert rows.groupby("test")["n_samples"].value_counts().to_dict() == {
            (test, n): n_scenarios for test in sizes for n in sizes[test]
        }


def test_subsample_genuine(tmp_path):
    table = made(
        "subsampled", "subsample_genuine", tmp_path, subsamples=2, seed=1,
        scores=ROOT / "resources/scores/resnet110_c10.parquet",
        answers=EVIDENCE / "resources/answers/yi_34b.parquet",
        manifest=ROOT / "resources/manifest.json",
        answers_manifest=EVIDENCE / "resources/manifest.json",
    )  # fmt: skip
    assert set(table["kind"]) == {"scores", "answers"}
    assert set(table["n_samples"]) == {500, 2000, 100, 300}


POWER = {"n_samples": 60, "replicates": 20}


@pytest.mark.parametrize(
    ("script", "options", "message"),
    [
        ("measure_power", {**POWER, "tests": "cox"}, "unknown test 'cox'"),
        ("measure_power", {**POWER, "tests": "cox_lrt", "replicates": 2},
         "--replicates: must be at least 20"),
        ("run_league", {**POWER, **FITS, "estimators": FOLDER / "ks.py", "models": "nobody"},
         "model nobody has no fit"),
        ("predict_bias", {"scores": "no.csv", "estimators": "kde", "n_samples": 100,
                          "subsamples": 3, "refits": 2}, "no.csv: no such file"),
    ],
)  # fmt: skip
def test_refusals(script, options, message, tmp_path, refused):
    names = ["output_power", "output_detection"] if script == "measure_power" else ["output"]
    with refused(message):
        run(script, **options, seed=1, **dict.fromkeys(names, tmp_path / "x.csv"))
    assert not (tmp_path / "x.csv").exists()
