"""The genuine ResNet-110 CIFAR-10 file, from a logits folder to tables that name their source."""

import csv
import shutil

import pytest
from checkout import GENUINE, needs_genuine


@needs_genuine
def test_the_genuine_file_takes_the_place_of_its_surrogate(fresh):
    (fresh / "real").mkdir()
    shutil.copyfile(GENUINE, fresh / "real" / GENUINE.name)
    tables = ("beta_fits", "glm_fits", "scenarios", "bias", "ece_bin_real_and_simulated")
    targets = [f"results/tables/{name}.csv" for name in tables]
    config = ("logits_dir=real", "softmax=float32_2020", "estimators=[ece_bin_ew]")
    fresh.run("--config", *config, "--", *targets)

    def rows(name):
        with open(fresh / f"results/tables/{name}.csv", newline="", encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if "resnet110_c10" in row.values()]

    [beta] = rows("beta_fits")
    assert beta["source"] == "real_logits"
    assert (round(float(beta["alpha"]), 4), round(float(beta["beta"]), 4)) == (2.7752, 0.0478)
    assert len(rows("glm_fits")) == 12
    assert {row["source"] for row in rows("scenarios")} == {"real_logits"}
    [ece] = rows("ece_bin_real_and_simulated")
    assert float(ece["ece_bin_percent"]) == pytest.approx(6.67, abs=0.005)
    assert {row["n_samples"] for row in rows("bias")} == {"100", "200"}
