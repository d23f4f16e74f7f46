"""Scripts on the data that ship: fits as published, other networks, language models' answers."""

import numpy as np
import pandas as pd
from checkout import GENUINE, PUBLISHED, TABLE_2, TABLE_3
from command import read, run
from shipped import RESOURCES

MODEL = "resnet110_c10"
ANSWERS = {"dataset": "a", "prompt": 1}


def test_the_genuine_file_is_fitted_as_the_paper_did(tmp_path):
    logits = tmp_path / "m.npz"
    beta, glm = (tmp_path / f"{name}_fits_float32_2020.csv" for name in ("beta", "glm"))
    manifest = PUBLISHED / "nn_calibration_logits_manifest.csv"
    run("read_logits", file=GENUINE, manifest=manifest, model=MODEL, n_classes=10,
        output_logits=logits, output_top_labels=tmp_path / "top.parquet")  # fmt: skip
    run("fit_as_published", logits=logits, model=MODEL, published_beta=TABLE_2,
        published_glm=TABLE_3, output_beta=beta, output_glm=glm)  # fmt: skip
    (row,) = read(beta).to_dict("records")
    assert (row["source"], row["softmax"]) == ("real_logits", "float32_2020")
    assert (round(row["alpha"], 4), round(row["beta"], 4)) == (2.7752, 0.0478)
    assert (row["published_alpha"], row["published_beta"]) == (2.7752, 0.0478)
    assert len(read(glm)) == 12


def replicated(tmp_path, file, name):
    outputs = tmp_path / "replication.csv", tmp_path / "mukhoti2020_table1.csv"
    run("replicate_model", file=file, mukhoti=PUBLISHED / "mukhoti2020_table1.csv", model=name,
        methods="quick", seed=1, output_replication=outputs[0],
        output_mukhoti=outputs[1])  # fmt: skip
    return [read(path) for path in outputs]


def test_a_model_held_back_goes_through(tmp_path):
    """A file that no manifest lists, with both folds; no paper prints it."""
    rng = np.random.default_rng(0)
    arrays = {}
    for fold, n in (("validation", 300), ("test", 400)):
        logits = 3 * rng.normal(size=(n, 3))
        noise = logits / 2 + rng.gumbel(size=(n, 3))
        arrays |= {f"{fold}_logits": logits, f"{fold}_labels": noise.argmax(axis=1)}
    np.savez(tmp_path / "mine.npz", **arrays)
    rows, table_1 = replicated(tmp_path, tmp_path / "mine.npz", "mine")
    assert table_1.empty
    assert set(rows["model"]) == {"mine"}
    ece = rows[rows["measure"] == "ece"].set_index("method")["value_percent"]
    assert ece["temperature_scaling"] < ece["uncalibrated"]


def test_a_network_of_mukhoti_et_al_has_its_printed_row(tmp_path):
    name = "resnet50_brier_c10"
    _, table_1 = replicated(tmp_path, RESOURCES / f"outputs/{name}.npz", name)
    assert list(table_1["row"]) == ["computed", "printed"]
    assert table_1["ece15_after_temperature_percent"].round(2).tolist() == [1.08, 1.08]


def test_scores_of_the_top_class_cannot_be_recalibrated(tmp_path, refused):
    with refused("snacks.parquet: scores of the top class; give"):
        replicated(tmp_path, RESOURCES / "scores/snacks.parquet", "snacks")


def summarised(tmp_path, table):
    table.to_parquet(tmp_path / "mine.parquet")
    tables = ("language_models", "leaderboard", "predicted_bias")
    paths = [tmp_path / f"{name}.csv" for name in tables]
    run("summarise_answers", file=tmp_path / "mine.parquet",
        printed=PUBLISHED / "plaut2024_ece.csv", model="mine", draws=5, subsamples=3,
        refits=2, seed=1, output_row=paths[0], output_leaderboard=paths[1],
        output_predicted=paths[2])  # fmt: skip
    return [read(path) for path in paths]


def test_answers_held_back_go_through(tmp_path, refused):
    rng = np.random.default_rng(0)
    scores = rng.choice([0.4, 0.6, 0.8, 1.0], 500)
    table = pd.DataFrame(ANSWERS | {"question": np.arange(500), "score": scores})
    table["hit"] = (rng.random(500) < scores).astype(int)
    row, board, predicted = summarised(tmp_path, table)
    assert row["n_samples"].tolist() == [500]
    assert row["published_percent"].isna().all()
    assert board["n_samples"].tolist() == [100, 300]
    assert set(predicted["model"]) == {"mine_a"}
    with refused("mine.parquet: no column question"):
        summarised(tmp_path, table.drop(columns="question"))
