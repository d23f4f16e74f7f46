"""The expansion of debias and sweep (``calbias.debias_or_sweep``) against measured biases.

In ``networks``, with PYTHONPATH=../scripts:scripts, ``python -m networks.law.biases predicted law``
writes what the expansion says of each population, ``measured`` the biases in simulated data sets.
Rows that a table has are kept. Networks that see pictures and laws of new families were predicted
before they were measured.
"""

import argparse
import csv
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

import calbias
from calbias.engine.seeding import stream
from calbias.reading.top_label import top_label
from calbias.simulation import simulate_estimates
from calbias.truth.counted import WIDTH
from pipeline.pickles import read_file
from pipeline.populations import read_populations

NETWORKS = Path(__file__).parents[3]
RESOURCES = NETWORKS.parent / "resources"
PUBLISHED = RESOURCES / "published"
OF_CIFAR10 = ("resnet110_c10", "densenet40_c10")
SCORES = {
    "resnet110_c100": "resnet110_c100",
    "densenet40_c100": "densenet40_c100",
    "densenet161_imgnet": "torchvision_densenet161",
}
LARGEST_SCORE = 1 - 2.0**-25  # float32 rounds what is higher to 1
SIZES = tuple(200 * 2**k for k in range(7))
PAIR = ("ece_debias_em", "ece_sweep_em")
LEAST = 0.04  # below it both estimates are mostly noise
N_LAWS, LAW_SEED, LAW_ROWS = 40, 2030, 2_000_000
LOWEST = np.log(1 / 9)  # log odds of a top score of ten classes
SIMULATED_BINS, SEED = 400, 70
DRAWN_ROWS, MOST_REPLICATES, FEWEST_REPLICATES = 2_000_000, 10_000, 400
Population = calbias.Scenario | calbias.CountedScenario
Populations = Iterator[Population]


def networks() -> Populations:
    """Yield the networks whose biases were known when the expansion was made."""
    populations = read_populations(NETWORKS / "resources/sketches.parquet")
    for row in _rows(NETWORKS / "resources/networks.csv"):
        if row["role"] != "control" and float(row["l2_percent"]) > 100 * LEAST:
            yield populations[row["name"]]


def pictures() -> Populations:
    """Yield the networks that see pictures."""
    yield from read_populations(NETWORKS / "law/resources/sketches.parquet").values()


def printed() -> Populations:
    """Yield the paper's ten models: their printed Beta distributions and GLMs of least AIC."""
    for beta in _rows(PUBLISHED / "roelofs2022_table2_beta_fits.csv"):
        shapes = float(beta["alpha"]), float(beta["beta"])
        glms = _rows(PUBLISHED / "roelofs2022_table3_glm_fits.csv")
        fits = [row for row in glms if row["model"] == beta["model"]]
        curve = calbias.Curve.from_row(min(fits, key=lambda row: float(row["aic"])))
        yield calbias.Scenario(beta["model"], *shapes, curve)


def genuine() -> Populations:
    """Yield five of the paper's networks: the scores of their test folds, with a smooth curve."""
    for name in OF_CIFAR10:
        rows = read_file(RESOURCES / f"logits/probs_{name}_logits.p").folds["test"]
        top = top_label(np.asarray(rows.values, float), np.asarray(rows.labels).ravel())
        log_odds = top.log_score - top.log1m_score
        yield calbias.CountedScenario.from_log_odds(name, log_odds, np.asarray(top.hit, float))
    for name, file in SCORES.items():
        table = pd.read_parquet(RESOURCES / f"scores/{file}.parquet")
        scores = np.minimum(table["score"].to_numpy(float), LARGEST_SCORE)
        yield calbias.CountedScenario.from_scores(
            name, scores, table["label"] == table["prediction"]
        )


def new_laws() -> Populations:
    """Yield laws of families that no other population has.

    The log odds of the score are a mixture of three normals. The curve is a wave around a line in
    log odds, and a share of the labels is drawn at random from ten classes. Parameters are drawn;
    a law counts if its true error is from 4 to 30 %.
    """
    rng = stream(LAW_SEED, "networks", "new laws")
    number = 0
    while number < N_LAWS:
        law = _new_law(f"law{number + 1:02d}", rng)
        if LEAST < calbias.true_calibration_error(law, norm=2) < 0.3:
            number += 1
            yield law


def _new_law(name: str, rng: np.random.Generator) -> calbias.CountedScenario:
    weights = rng.dirichlet(np.ones(3))
    means, widths = rng.uniform(-0.5, 7, 3), rng.uniform(0.3, 2.5, 3)
    level, slope, height = rng.uniform(-1.5, 0.5), rng.uniform(0.3, 1.1), rng.uniform(0, 0.5)
    frequency, phase = rng.uniform(0.5, 2.0), rng.uniform(0, 2 * np.pi)
    random_labels = rng.uniform(0, 0.15) * rng.integers(2)
    cells = np.arange(np.ceil(LOWEST / WIDTH), 1500)
    edges = np.append(cells, 1500)[:, None] * WIDTH
    share = np.diff(ndtr((edges - means) / widths), axis=0) @ weights
    n = np.rint(LAW_ROWS * share / share.sum())
    cells, n = cells[n > 0], n[n > 0]
    x = (cells + 0.5) * WIDTH
    rate = expit(level + slope * x + height * np.sin(frequency * x + phase))
    rate = (1 - random_labels) * rate + random_labels / 10
    return calbias.CountedScenario(name, cells, n, np.rint(n * rate))


KINDS: dict[str, Callable[[], Populations]] = {
    "new law": new_laws,
    "picture network": pictures,
    "printed fit": printed,
    "genuine scores": genuine,
    "network": networks,
}


def predicted(kind: str, law: Population) -> Iterator[dict[str, Any]]:
    """Yield what the expansion says, a row a sample size; percent."""
    for n in SIZES:
        x = calbias.debias_or_sweep(law, n, replicates=SIMULATED_BINS)
        yield {
            "name": law.name,
            "kind": kind,
            "n_samples": n,
            "truth_percent": _percent(x.truth),
            "debias_percent": _percent(x.debias_bias),
            "sweep_percent": _percent(x.sweep_bias),
            "unseen_percent": _percent(x.unseen),
            "lost_percent": _percent(x.lost),
            "refund_percent": _percent(x.refund),
            "noise_percent": _percent(x.noise),
            "mean_bins": round(x.mean_bins, 2),
        }


def measured(kind: str, law: Population) -> Iterator[dict[str, Any]]:
    """Yield biases in simulated data sets, a row a sample size; percent."""
    truth = calbias.true_calibration_error(law, norm=2)
    for n in SIZES:
        m = int(np.clip(DRAWN_ROWS // n, FEWEST_REPLICATES, MOST_REPLICATES))
        results = simulate_estimates(law, n, np.arange(m), PAIR, seed=SEED)
        debias, sweep = (results[estimator][0] - truth for estimator in PAIR)
        signs = np.sign(debias.mean()), np.sign(sweep.mean())
        difference = signs[0] * debias - signs[1] * sweep
        yield {
            "name": law.name,
            "kind": kind,
            "n_samples": n,
            "n_replicates": m,
            "debias_percent": _percent(debias.mean()),
            "sweep_percent": _percent(sweep.mean()),
            "difference_percent": _percent(difference.mean()),
            "difference_se_percent": _percent(difference.std(ddof=1) / m**0.5),
        }


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a CSV table."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _percent(value: Any) -> float:
    return round(100 * float(value), 4)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return [*csv.DictReader(file)]


def main(argv: list[str] | None = None) -> int:
    """Predict or measure; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("predicted", "measured"))
    parser.add_argument("folder", type=Path, help="of the tables")
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS], default=[*KINDS])
    options = parser.parse_args(argv)
    path = options.folder / f"{options.what}.csv"
    rows: list[dict[str, Any]] = [*_rows(path)] if path.exists() else []
    done = {(row["kind"], row["name"]) for row in rows}
    make = {"predicted": predicted, "measured": measured}[options.what]
    for kind in options.kinds:
        for law in KINDS[kind]():
            if (kind, law.name) not in done:
                rows += make(kind, law)
                write_rows(path, rows)
                print(kind, law.name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
