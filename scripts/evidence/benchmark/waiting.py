"""What a person waits for: an audit from the command line, and calls that draw or average."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evidence.benchmark.timing import compare, repeat
from pipeline import CHECKOUT

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


def audit_rows(rounds: int, sizes: tuple[int, ...] = (1000, 1_000_000)) -> Iterator[dict]:
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


def averaged_rows(
    rounds: int, sizes: tuple[int, ...] = (1000, 10_000, 1_000_000)
) -> Iterator[dict]:
    """Yield rows for ``averaged_posterior``, alone and with the interval, next to a sort."""
    from calbias.auditing.interval import calibration_interval
    from calbias.estimation.api import estimate
    from calbias.scored import Scored

    for n in sizes:
        scores, hits = _drawn(n)
        calls = max(1, 10_000 // n)
        works: dict[str, Callable[[], Any]] = {
            "averaged_posterior": lambda s=scores, y=hits: estimate("averaged_posterior", s, y),
            "posterior_interval": lambda s=scores, y=hits: calibration_interval(
                Scored.of(s, y)
            ).at(),
        }
        for work, call in works.items():
            call()
            run = "calbias", partial(repeat, calls, call)
            baseline = {"numpy_sort": partial(repeat, calls, partial(np.sort, scores))}
            yield from compare(f"{work}_n_{n}", n * calls, run, baseline, rounds)


def multiclass_rows(rounds: int, shape: tuple[int, int] = (10_000, 10)) -> Iterator[dict]:
    """Yield a row for the noise floor of all classes next to as many draws of labels by NumPy."""
    from calbias import noise_floor

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
