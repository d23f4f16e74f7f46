"""The genuine ResNet-110 CIFAR-10 file, from a logits folder to tables that name their source."""

import shutil

import pytest
from checkout import GENUINE
from command import read


def test_the_genuine_file_takes_the_place_of_its_surrogate(fresh):
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
