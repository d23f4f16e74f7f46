"""A step of answers of language models, on answers that no test has seen."""

import numpy as np
import pandas as pd
from checkout import ROOT
from command import read, run

ANSWERS = {"dataset": "a", "prompt": 1}


def summarised(tmp_path, table):
    table.to_parquet(tmp_path / "mine.parquet")
    tables = ("language_models", "leaderboard", "predicted_bias")
    paths = [tmp_path / f"{name}.csv" for name in tables]
    run("summarise_answers", file=tmp_path / "mine.parquet",
        printed=ROOT / "evidence/resources/published/plaut2024_ece.csv", model="mine", draws=5,
        subsamples=3, refits=2, seed=1, output_row=paths[0], output_leaderboard=paths[1],
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
