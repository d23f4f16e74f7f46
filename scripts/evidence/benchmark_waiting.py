"""What a person waits for, and peak memory, each measured in a separate process."""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calbias import noise_floor
from calbias.auditing.interval import Interval, calibration_interval
from calbias.estimation.api import estimate
from calbias.file_audit import audit_file
from calbias.scored import Scored
from calbias.simulation import simulate_estimates
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from evidence.benchmark import Call, compare, repeat
from evidence.runner import Row
from pipeline import CHECKOUT
from pipeline.table_schema import columns_of

ESTIMATORS = ("ece_bin_ew", "ece_sweep_em", "kde")
CASES = (
    *(("start", 1, 1), ("cell", 200, 1000), ("cell", 12800, 1000), ("cell", 200, 1_000_000)),
    ("audit", 10_000_000, 1),
)
CHUNK = 1_000_000
IMPORTS = "import numba, pandas, pyarrow.parquet, scipy.optimize"


def write_scores(path: Path, n: int) -> None:
    """Write n rows of score and hit to Parquet, slightly overconfident."""
    schema = pa.schema([("score", pa.float64()), ("hit", pa.int8())])
    generator = np.random.default_rng(0)
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, n, CHUNK):
            scores = generator.random(min(CHUNK, n - first)) ** 0.5
            hits = generator.random(scores.size) < scores**1.1
            writer.write_table(pa.table([scores, hits.astype(np.int8)], schema=schema))


def audit_rows(rounds: int, sizes: tuple[int, ...] = (1000, 1_000_000)) -> Iterator[Row]:
    """Yield rows for ``calbias audit`` of a file next to the import of the libraries behind it.

    The first audit has an empty cache of kernels.
    """
    with tempfile.TemporaryDirectory() as folder:
        for work, n in (("first", sizes[0]), *(("later", n) for n in sizes)):
            path = Path(folder) / f"{n}.parquet"
            write_scores(path, n)
            cache = str(Path(folder) / "kernels")
            code = "import sys; from calbias.command import main; main(sys.argv[1:])"
            audit = partial(_python, cache, code, "audit", str(path), "--force")
            imports = {"import_of_its_libraries": partial(_python, cache, IMPORTS)}
            times = 1 if work == "first" else rounds
            yield from compare(f"{work}_audit", n, ("calbias", audit), imports, times)


def _python(cache: str, *code: str) -> None:
    path = {"PYTHONPATH": str(CHECKOUT / "scripts"), "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", *code]
    subprocess.run(command, env=os.environ | path, check=True, capture_output=True)


def averaged_rows(rounds: int, sizes: tuple[int, ...] = (1000, 10_000, 1_000_000)) -> Iterator[Row]:
    """Yield rows for ``averaged_posterior``, alone and with the interval, next to a sort."""
    for n in sizes:
        scores, hits = _drawn(n)
        calls = max(1, 10_000 // n)
        works: dict[str, Call] = {
            "averaged_posterior": partial(estimate, "averaged_posterior", scores, hits),
            "posterior_interval": partial(_interval, scores, hits),
        }
        for work, call in works.items():
            call()
            run = "calbias", partial(repeat, calls, call)
            baseline = {"numpy_sort": partial(repeat, calls, partial(np.sort, scores))}
            yield from compare(f"{work}_n_{n}", n * calls, run, baseline, rounds)


def _interval(scores: np.ndarray, hits: np.ndarray) -> Interval:
    return calibration_interval(Scored.of(scores, hits)).at()


def multiclass_rows(rounds: int, shape: tuple[int, int] = (10_000, 10)) -> Iterator[Row]:
    """Yield a row for the noise floor of all classes next to as many draws of labels by NumPy."""
    generator = np.random.default_rng(0)
    probabilities = generator.dirichlet(np.full(shape[1], 0.3), shape[0])
    replicates = 200

    def labels() -> None:
        cumulative = np.cumsum(probabilities, axis=1)
        for _ in range(replicates):
            np.sum(cumulative < generator.random((shape[0], 1)), axis=1)

    call = partial(noise_floor, probabilities, replicates=replicates)
    call()
    yield from compare(
        f"noise_floor_{shape[1]}_classes", shape[0] * replicates, ("calbias", call),
        {"numpy_label_draws": labels}, rounds,
    )  # fmt: skip


def _drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(n)
    scores = generator.random(n) ** 0.5
    return scores, generator.random(n) < scores**1.1


def memory_rows(cases: Sequence[tuple[str, int, int]] = CASES) -> list[Row]:
    """Return rows (dicts): ``start`` is imports and kernels alone, ``cell`` three estimators.

    ``audit`` is ``calbias audit`` of a Parquet file of so many rows.
    """
    rows = []
    for work, n_samples, replicates in cases:
        command = [sys.executable, "-m", __name__, work, str(n_samples), str(replicates)]
        path = os.pathsep.join([str(CHECKOUT / "scripts"), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, check=True, stdout=subprocess.PIPE
        )
        values = (work, n_samples, replicates, float(done.stdout))
        rows.append(dict(zip(columns_of("benchmark_memory"), values, strict=True)))
    return rows


def peak_mebibytes() -> float:
    """Return the most memory that this process has had; on Linux since its program started."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024**2 if sys.platform == "darwin" else peak / 1024


def main(work: str, n_samples: int, replicates: int) -> None:
    """Do the work of a row."""
    if work == "audit":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write_scores(path, n_samples)
            audit_file(path)
    else:
        scenario = Scenario("memory", 2.8, 0.05, Curve("identity"))
        simulate_estimates(scenario, n_samples, np.arange(replicates), ESTIMATORS)
    print(peak_mebibytes())


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
