"""Peak memory of simulations, each in a separate process."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from calbias.file_audit import audit_file
from calbias.simulation import simulate_estimates
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from evidence.benchmark.waiting import write_scores
from pipeline.tables.schema import columns_of

ESTIMATORS = ("ece_bin_ew", "ece_sweep_em", "kde")
CASES = (
    *(("start", 1, 1), ("cell", 200, 1000), ("cell", 12800, 1000), ("cell", 200, 1_000_000)),
    ("audit", 10_000_000, 1),
)


def memory_rows(cases=CASES):
    """Return rows (dicts): ``start`` is imports and kernels alone, ``cell`` three estimators.

    ``audit`` is ``calbias audit`` of a Parquet file of so many rows.
    """
    rows = []
    for work, n_samples, replicates in cases:
        command = [sys.executable, "-m", __name__, work, str(n_samples), str(replicates)]
        path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, check=True, stdout=subprocess.PIPE
        )
        values = (work, n_samples, replicates, float(done.stdout))
        rows.append(dict(zip(columns_of("benchmark_memory"), values, strict=True)))
    return rows


def peak_mebibytes():
    """Return the most memory that this process has had; on Linux since its program started."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024**2 if sys.platform == "darwin" else peak / 1024


def main(work, n_samples, replicates):
    """Do the work of a row."""
    if work == "audit":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write_scores(path, n_samples)
            audit_file(path)
    else:
        scenario = Scenario("memory", 2.8, 0.05, Curve("identity"))
        simulate_estimates(scenario, n_samples, range(replicates), ESTIMATORS)
    print(peak_mebibytes())


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
