"""Print how fast calbias is, as ratios of CPU time: ``make benchmark``.

Work and baseline run in turn, so that a busy machine slows both alike; a ratio is baseline over
work. The table also goes to ``results/tables/benchmark.csv``.
"""

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd

from calbias.auditing.error.interval import calibration_interval
from calbias.engine.sampler import Sampler, build_quantile_table
from calbias.estimation.api import estimate
from calbias.estimation.loading import load_estimator
from calbias.samples.by_score import Scored
from pipeline import CHECKOUT
from pipeline.paper import BINNED, MODEL_SIZES
from pipeline.provenance import compiled_for, timed
from pipeline.scenarios import fitted_scenario
from pipeline.tables import read_table

Call = Callable[[], object]
ROUNDS, REPLICATES = 7, 40  # of a cell of Figure 4, which has 1000
FITS = ("table2_beta", "table3_glm")
GRIDS = {"sampling_alone": (), "six_binned": BINNED, "seven": (*BINNED, "kde")}
AVX2 = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+bmi,+bmi2,+fma,+lzcnt,+popcnt,+sse4.2",
}
COLUMNS = [
    *("work", "implementation", "baseline", "n_scores", "seconds", "baseline_seconds"),
    *("ratio_median", "ratio_low", "ratio_high"),
]


def row(work: str, n_scores: int, run: Call, baseline: tuple[str, Call]) -> tuple[object, ...]:
    """Return a row of the table, after a first run that compiles."""
    name, other = baseline
    run()
    seconds = np.array([[timed(run), timed(other)] for _ in range(ROUNDS)])
    ratio, medians = seconds[:, 1] / seconds[:, 0], np.median(seconds, axis=0)
    return work, "calbias", name, n_scores, *medians, np.median(ratio), ratio.min(), ratio.max()


def simulate(
    names: Sequence[str], sizes: Sequence[int] = MODEL_SIZES, replicates: int = REPLICATES
) -> tuple[int, Call, tuple[str, Call]]:
    """Return the scores of Figure 4's grid, its simulation, and NumPy's draws of its scores."""
    fits = [[CHECKOUT / f"resources/published/roelofs2022_{t}_fits.csv"] for t in FITS]
    scenarios = [fitted_scenario(m, "fitted", *fits)[0] for m in read_table(fits[0][0])["model"]]
    tables = [build_quantile_table(scenario) for scenario in scenarios]
    estimators, generator = [load_estimator(name) for name in names], np.random.default_rng(0)

    def work() -> None:
        for scenario, table in zip(scenarios, tables, strict=True):
            for n in sizes:
                for data in Sampler(scenario, n, 0, table).batches(range(replicates)):
                    for estimator in estimators:
                        estimator(data, 15, 2.0)

    def draws() -> None:
        for scenario in scenarios:
            for n in sizes:
                generator.beta(scenario.alpha, scenario.beta, (replicates, n))

    return len(scenarios) * replicates * sum(sizes), work, ("numpy_beta_draw", draws)


def grid_rows(suffix: str = "") -> Iterator[tuple[object, ...]]:
    """Yield the rows of Figure 4's whole grid: sampling alone, six estimators, seven."""
    for name, names in GRIDS.items():
        yield row(f"fig4_grid_{name}{suffix}", *simulate(names))


def call_rows() -> Iterator[tuple[object, ...]]:
    """Yield the rows of single calls on n scores of a user's, next to a sort of them."""
    for n in (12_800, 1_000_000):
        generator = np.random.default_rng(n)
        scores = generator.random(n) ** 0.5
        hits, calls = generator.random(n) < scores**1.1, range(max(1, 200_000 // n))
        one_call = {
            **{name: partial(estimate, name, scores, hits)
               for name in ("ece_bin_ew", "ece_sweep_em", "averaged_posterior")},
            "interval": lambda s=scores, y=hits: calibration_interval(Scored.of(s, y)).at(),
        }  # fmt: skip
        for name, call in one_call.items():
            binned = name.startswith("ece")
            sort = partial(np.argsort if binned else np.sort, scores)
            yield row(
                f"one_call_{name}_n_{n}", n * len(calls),
                lambda call=call, calls=calls: [call() for _ in calls],
                ("numpy_argsort" if binned else "numpy_sort",
                 lambda sort=sort, calls=calls: [sort() for _ in calls]),
            )  # fmt: skip


def audit_rows() -> Iterator[tuple[object, ...]]:
    """Yield the rows of the command ``calbias audit`` next to the import of its libraries."""
    with tempfile.TemporaryDirectory() as folder:
        for n in (1000, 1_000_000):
            generator = np.random.default_rng(0)
            scores = generator.random(n) ** 0.5
            hits = (generator.random(n) < scores**1.1).astype(np.int8)
            path = Path(folder) / f"{n}.parquet"
            pd.DataFrame({"score": scores, "hit": hits}).to_parquet(path)
            audit = partial(python, "-m", "calbias.command", "audit", str(path), "--force")
            imports = "import numba, pandas, pyarrow.parquet, scipy.optimize"
            yield row(
                "audit", n, audit, ("import_of_its_libraries", partial(python, "-c", imports))
            )


def python(*words: str, **variables: str) -> str:
    """Run Python on the checkout's packages and return what it printed."""
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT / "scripts")} | variables
    command = [sys.executable, *words]
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout


def main() -> None:
    """Measure, print and write the table; with the word ``avx2`` the grid alone, as CSV."""
    if sys.argv[1:] == ["avx2"]:
        pd.DataFrame(grid_rows("_avx2"), columns=COLUMNS).to_csv(sys.stdout, index=False)
        return
    rows = [*grid_rows()]
    for n in MODEL_SIZES[::2]:
        replicates = max(1, REPLICATES * MODEL_SIZES[-2] // n)
        rows.append(row(f"six_binned_n_{n}", *simulate(BINNED, (n,), replicates)))
    rows += [*call_rows(), *audit_rows()]
    table = pd.DataFrame(rows, columns=COLUMNS)
    if platform.machine().lower() in ("x86_64", "amd64"):
        table = pd.concat([table, pd.read_csv(StringIO(python(__file__, "avx2", **AVX2)))])
    output = CHECKOUT / "results/tables/benchmark.csv"
    output.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(output, index=False)
    print(
        f"{compiled_for()}; CPU seconds, one thread; Figure 4's grid with {REPLICATES} replicates"
    )
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
