"""The genuine ResNet-110 CIFAR-10 file, from a logits folder to tables that name their source."""

import shutil

import numpy as np
import pandas as pd
import pytest
from checkout import GENUINE
from command import read


def test_the_genuine_file_is_fitted_and_simulated_from(fresh):
    (fresh / "real").mkdir()
    shutil.copyfile(GENUINE, fresh / "real" / GENUINE.name)
    tables = ("beta_fits", "glm_fits", "scenarios", "bias", "ece_bin_real_and_simulated")
    targets = [f"results/tables/{name}.csv" for name in tables]
    config = ("logits_dir=real", "softmax=float32_2020", "estimators=[ece_bin_ew]")
    fresh.run("--config", *config, "--", *targets)

    def of_model(name):
        table = read(fresh / f"results/tables/{name}.csv")
        return table[(table == "resnet110_c10").any(axis=1)]

    [beta] = of_model("beta_fits").to_dict("records")
    assert beta["source"] == "real_logits"
    assert (round(beta["alpha"], 4), round(beta["beta"], 4)) == (2.7752, 0.0478)
    assert len(of_model("glm_fits")) == 12
    assert set(of_model("scenarios")["source"]) == {"real_logits"}
    [ece] = of_model("ece_bin_real_and_simulated")["ece_bin_percent"]
    assert ece == pytest.approx(6.67, abs=0.005)
    assert set(of_model("bias")["n_samples"]) == {100, 200}


def test_with_ten_files_all_ten_models_are_in_table_1(fresh):
    """Made-up files: the published ones are not at hand. A plan, which takes seconds."""
    models = pd.read_csv(fresh / "config/models.csv")
    (fresh / "ten").mkdir()
    for name, k in zip(models["model"], models["n_classes"], strict=True):
        folds = {"logits": np.zeros((2, k)), "labels": np.zeros(2, int)}
        both = {f"{x}_{name}": rows for name, rows in folds.items() for x in ("validation", "test")}
        np.savez(fresh / f"ten/{name}.npz", **both)
    models.assign(file=models["model"] + ".npz").to_csv(fresh / "ten.csv", index=False)
    config = ("logits_dir=ten", "models=ten.csv", "replication=[vgg16_c10]")
    target = "results/figures/table1_recalibration.png"
    planned = fresh.planned("--config", *config, "--", target)
    for step in ("read_logits", "recalibrate_model"):
        jobs = [job for job in planned if job.startswith(f"{step} ")]
        assert sorted(jobs) == sorted(f"{step} {model}" for model in models["model"])
