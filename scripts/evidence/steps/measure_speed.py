import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from calbias.io.python_files import SCRIPTS
from evidence.benchmark import argsort_rows, grid_rows, growth_rows
from evidence.benchmark_waiting import audit_rows, averaged_rows, memory_rows, multiclass_rows
from pipeline.provenance import compiled_for
from pipeline.scenarios import fitted_scenario
from pipeline.tables import read_table, write_table

AVX2 = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+fma,+lzcnt,+popcnt,+sse4.2",
}


def _rows_for_avx2(**options: object) -> list[dict[str, Any]]:
    """Return the rows of Figure 4's grid, compiled for AVX2; none on other than x86 processors."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "benchmark.csv"
        command = [sys.executable, str(SCRIPTS / "run.py"), "measure_speed", "--suffix", "_avx2"]
        for name, value in {**options, "output_table": output, "output_memory": output}.items():
            command += [f"--{name.replace('_', '-')}", str(value)]
        subprocess.run(command, env={**os.environ, **AVX2}, check=True)
        rows: list[dict[str, Any]] = read_table(output).to_dict("records")
        return rows


def measure_speed(
    *,
    beta_fits: Path,
    glm_fits: Path,
    replicates: int = 40,
    rounds: int = 7,
    suffix: str = "",
    output_table: Path,
    output_memory: Path,
) -> None:
    """Measure how fast the engine is, on one thread, paired and interleaved with its baselines.

    Figure 4's grid is measured a second time, in a process whose code is compiled for AVX2 instead
    of for this processor: works with the suffix ``_avx2``.

    beta_fits: Table 2
    glm_fits: Table 3
    replicates: per cell of the grid
    rounds: interleaved rounds
    suffix: of the works: measures the grid alone
    output_table: table benchmark to write
    output_memory: table benchmark_memory to write
    """
    models, fits = read_table(beta_fits)["model"], ([beta_fits], [glm_fits])
    scenarios = [fitted_scenario(model, "fitted", *fits)[0] for model in models]
    if suffix:
        write_table(output_table, "benchmark", grid_rows(scenarios, replicates, rounds, suffix))
        return
    rows = [*grid_rows(scenarios, replicates, rounds)]
    rows += _rows_for_avx2(
        beta_fits=beta_fits, glm_fits=glm_fits, replicates=replicates, rounds=rounds
    )
    rows += growth_rows(scenarios, replicates, rounds)
    rows += argsort_rows(rounds)
    for work in (audit_rows, averaged_rows, multiclass_rows):
        rows += work(rounds)
    peaks = memory_rows()
    write_table(output_table, "benchmark", rows)
    write_table(output_memory, "benchmark_memory", peaks)
    print(f"processor: {compiled_for()}")
    print(f"Figure 4's grid at {replicates} instead of 1000 replicates; CPU seconds")
    print(pd.DataFrame(rows).to_string(index=False))
    for row in peaks:
        print(
            f"peak memory, {row['work']} of {row['n_samples']} scores × {row['n_replicates']} "
            f"replicates: {row['peak_mebibytes']:.0f} MiB"
        )
