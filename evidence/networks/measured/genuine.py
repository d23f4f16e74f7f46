"""The paper's comparison on its own networks: genuine scores with a smooth curve, printed laws.

Five of the paper's ten networks have public outputs here (torchvision's DenseNet-161 stands for the
paper's). ``python -m measured.genuine --output FOLDER`` writes a bias table for each, as
``measured.bias`` does; law ``scores_spline`` is the test fold's own scores with a penalised spline,
``printed`` the printed Beta and GLM, ``beta_glm`` those fitted to this file.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from calbias.logits.top_label import top_label
from calbias.truth.curves import Curve
from measured.bias import rows_of, write_rows
from measured.laws import FOLD_KNOTS, Law, beta_quantile, in_cells, logs, paper_fit, scores_quantile
from measured.smooth import smooth_curve
from pipeline.pickles import read_file

RESOURCES = Path(__file__).parents[3] / "resources"
LOGITS = ("resnet110_c10", "densenet40_c10")
SCORES = {
    "resnet110_c100": "resnet110_c100",
    "densenet40_c100": "densenet40_c100",
    "densenet161_imgnet": "torchvision_densenet161",
}
LARGEST_SCORE = 1 - 2.0**-25  # float32 rounds what is higher to 1


def read_top_labels(fold: str = "test") -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, log odds (n,) and hits (n,) of each network's test or ``validation`` fold."""
    for name in LOGITS:
        rows = read_file(RESOURCES / "logits" / f"probs_{name}_logits.p").folds[fold]
        top = top_label(np.asarray(rows.values, float), np.asarray(rows.labels).ravel())
        yield name, top.log_score - top.log1m_score, np.asarray(top.hit, float)
    for name, file in SCORES.items() if fold == "test" else ():
        rows = pq.read_table(RESOURCES / "scores" / f"{file}.parquet").to_pandas()
        scores = np.minimum(rows.score.to_numpy().astype(float), LARGEST_SCORE)
        yield name, np.log(scores / (1 - scores)), (rows.label == rows.prediction).to_numpy(float)


def printed_law(name: str) -> Law:
    """Return the Beta of Table 2 with the GLM of least AIC in Table 3."""
    published = RESOURCES / "published"
    with (published / "roelofs2022_table2_beta_fits.csv").open() as file:
        [beta] = [row for row in csv.DictReader(file) if row["model"] == name]
    with (published / "roelofs2022_table3_glm_fits.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == name]
    best = min(rows, key=lambda row: float(row["aic"]))
    values = [float(best[key]) if best[key] else 0.0 for key in ("b0", "b1")]
    curve = Curve(best["glm"], *values)
    quantile = beta_quantile(float(beta["alpha"]), float(beta["beta"]))
    return Law.make(quantile, lambda x: curve.hit(*logs(x)))


def laws_of_fold(name: str, log_odds: np.ndarray, hits: np.ndarray) -> dict[str, Law]:
    """Return the laws of a network's test fold; the first one is the reference of shifts."""
    observed = scores_quantile(log_odds)
    beta_scores, glm = paper_fit(log_odds, hits)
    spline = Law.make(observed, smooth_curve(*in_cells(log_odds, hits), FOLD_KNOTS))
    printed = printed_law(name)
    return {
        "scores_spline": spline,
        "printed": printed,
        "beta_glm": Law.make(beta_scores, glm),
        "scores_glm": Law.make(observed, glm),
        "printed_true_low": printed.with_lowest_gap(spline),
        "printed_flat_low": printed.with_lowest_gap(),
    }


def main(argv: list[str] | None = None) -> int:
    """Measure the five networks; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(argv)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, log_odds, hits in read_top_labels():
        write_rows(
            options.output / f"{name}.csv", list(rows_of(name, laws_of_fold(name, log_odds, hits)))
        )
        print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
