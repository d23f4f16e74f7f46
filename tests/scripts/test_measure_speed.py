"""The benchmark's command line, on one replicate."""

from command import FITS, read, run

from evidence.benchmark import memory, waiting
from evidence.steps import measure_speed
from pipeline.tables.files import read_table


def test_tables(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(memory.memory_rows, "__defaults__", ((("start", 1, 1),),))
    monkeypatch.setattr(measure_speed.argsort_rows, "__defaults__", ((2_000,),))
    monkeypatch.setattr(measure_speed.call_rows, "__defaults__", (400, 1))
    # a first audit compiles for ten seconds
    monkeypatch.setattr(waiting, "_python", lambda *of: sum(map(float, range(10**5))))
    monkeypatch.setattr(measure_speed.averaged_rows, "__defaults__", ((50,),))
    monkeypatch.setattr(measure_speed.multiclass_rows, "__defaults__", ((50, 3),))
    paths = tmp_path / "benchmark.csv", tmp_path / "benchmark_memory.csv"
    read_table(FITS["beta_fits"])[:1].to_csv(tmp_path / "beta_fits.csv", index=False)  # one model
    fits = {**FITS, "beta_fits": tmp_path / "beta_fits.csv"}
    run(
        "measure_speed",
        **fits,
        replicates=1,
        rounds=2,
        output_table=paths[0],
        output_memory=paths[1],
    )
    table, _ = map(read, paths)
    against_beta = set(table[table["baseline"] == "numpy_beta_draw"]["work"])
    assert {"fig4_grid_six_binned", "fig4_grid_seven", "six_binned_n_12800"} <= against_beta
    assert {"first_audit", "later_audit", "averaged_posterior_n_50", "posterior_interval_n_50",
            "noise_floor_3_classes"} <= set(table["work"])  # fmt: skip
    assert {"numpy_sort", "numpy_vectorised"} <= set(table["baseline"])
    assert table.set_index("work").loc["fig4_grid_seven", "n_scores"] == 25_400
    assert (table["ratio_low"] <= table["ratio_high"]).all()
    printed = capsys.readouterr().out
    assert all(work in printed for work in (*table["work"], "peak memory, start"))
