"""The benchmark's command line, on one replicate: both tables by their contracts."""

from pathlib import Path

import pandas as pd

import measure_speed
from calbias.benchmark import memory
from calbias.io.table_schema import tables

ROOT = Path(__file__).parents[2]
CONTRACTS = tables()


def test_tables(tmp_path, capsys, monkeypatch):
    smaller = {
        memory.memory_rows: ((("start", 1, 1),),),
        measure_speed.argsort_rows: ((2_000,),),
        measure_speed.call_rows: (400, 1),
    }
    for function, sizes in smaller.items():
        monkeypatch.setattr(function, "__defaults__", sizes)
    tables = ROOT / "resources/published"
    measure_speed.main(
        ["--beta-fits", str(tables / "roelofs2022_table2_beta_fits.csv"),
         "--glm-fits", str(tables / "roelofs2022_table3_glm_fits.csv"),
         "--replicates", "1", "--rounds", "2",
         "--output", str(tmp_path / "b.csv"), "--memory", str(tmp_path / "m.csv")]
    )  # fmt: skip
    table = pd.read_csv(tmp_path / "b.csv")
    assert list(table) == CONTRACTS["benchmark"]["columns"]
    assert list(pd.read_csv(tmp_path / "m.csv")) == CONTRACTS["benchmark_memory"]["columns"]
    against_beta = set(table[table["baseline"] == "numpy_beta_draw"]["work"])
    assert {"fig4_grid_six_binned", "fig4_grid_seven", "six_binned_n_12800"} <= against_beta
    assert {"numpy_sort", "numpy_vectorised"} <= set(table["baseline"])
    whole = table[table["work"] == "fig4_grid_seven"].iloc[0]
    assert whole["n_scores"] == 10 * 25_400
    assert (table["ratio_low"] <= table["ratio_high"]).all()
    printed = capsys.readouterr().out
    assert all(work in printed for work in table["work"])
    assert "peak memory, start" in printed
