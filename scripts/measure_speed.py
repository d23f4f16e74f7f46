"""Measure how fast the engine is, on one thread, paired and interleaved with its baselines.

Figure 4's grid is measured a second time, in a process whose code is compiled for AVX2 instead of
for this processor: works with the suffix ``_avx2``.
"""

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from evidence.benchmark import memory
from evidence.benchmark.timing import processor
from evidence.benchmark.waiting import audit_rows, averaged_rows, multiclass_rows
from evidence.benchmark.workloads import argsort_rows, call_rows, grid_rows, growth_rows
from pipeline.logits.surrogate import published_fit
from pipeline.script import option, script
from pipeline.tables.files import read_table, write_table

AVX2 = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+fma,+lzcnt,+popcnt,+sse4.2",
}


def _rows_for_avx2(options):
    """Return the rows of Figure 4's grid, compiled for AVX2; none on other than x86 processors."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "benchmark.csv"
        command = [sys.executable, __file__, "--suffix", "_avx2", "--output", str(output)]
        for name in ("beta_fits", "glm_fits", "replicates", "rounds", "memory"):
            command += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
        subprocess.run(command, env={**os.environ, **AVX2}, check=True)
        return read_table(output).to_dict("records")


@script(
    option("--beta-fits", "Table 2"),
    option("--glm-fits", "Table 3"),
    option("--replicates", "per cell of the grid", int, default=40),
    option("--rounds", "interleaved rounds", int, default=7),
    option("--suffix", "of the works: measures the grid alone", default=""),
    option("--output", "table benchmark to write"),
    option("--memory", "table benchmark_memory to write"),
)
def main(options):
    models, fits = read_table(options.beta_fits)["model"], (options.beta_fits, options.glm_fits)
    scenarios = [published_fit(model, *fits) for model in models]
    if options.suffix:
        rows = grid_rows(scenarios, options.replicates, options.rounds, options.suffix)
        write_table(options.output, "benchmark", rows)
        return
    rows = [*grid_rows(scenarios, options.replicates, options.rounds), *_rows_for_avx2(options)]
    rows += growth_rows(scenarios, options.replicates, options.rounds)
    rows += call_rows(scenarios[0], options.rounds)
    rows += argsort_rows(options.rounds)
    for work in (audit_rows, averaged_rows, multiclass_rows):
        rows += work(options.rounds)
    peaks = memory.memory_rows()
    write_table(options.output, "benchmark", rows)
    write_table(options.memory, "benchmark_memory", peaks)
    print(f"processor: {processor()}")
    print(f"Figure 4's grid at {options.replicates} instead of 1000 replicates; CPU seconds")
    print(pd.DataFrame(rows).to_string(index=False))
    for row in peaks:
        print(
            f"peak memory, {row['work']} of {row['n_samples']} scores × {row['n_replicates']} "
            f"replicates: {row['peak_mebibytes']:.0f} MiB"
        )


if __name__ == "__main__":
    main()
