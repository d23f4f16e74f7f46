"""Rows of table ``calibration_graphs`` of a model (Gupta et al. 2021, Figures 1 to 10, §4).

A graph is of the model as it is, or after the spline, on the test fold or on the validation fold to
which the spline is fitted; of the score of rank 1, 2 or 3, or of the sum of the 2 or 3 largest.
"""

import numpy as np
import pandas as pd

from calbias.estimation.api import estimate
from calbias.logits.output_file import Fold
from reproduction.measured.of_model import cumulated
from reproduction.measured.outputs import of_rank
from reproduction.ranked import ranked_hits, ranked_scores
from reproduction.recalibration.spline import fit, fit_binary

N_POINTS, N_KNOTS = 200, 6


def graph_rows(validation: Fold | None, test: Fold) -> pd.DataFrame:
    """Return the points of all graphs of a model; without a validation fold, of it as it is."""
    graphs = []
    for measure, options in of_rank(test.logits.shape[1]).items():
        knots = {"n_knots": options.get("n_knots", N_KNOTS)}
        ranks = {name: value for name, value in options.items() if name != "n_knots"}
        scores, hits = ranked_scores(test.logits, **ranks), ranked_hits(*test, **ranks)
        of_measure = [("uncalibrated", "test", scores, hits)]
        if validation is not None:
            spline = fit(*validation, **options)
            of_measure += [
                ("spline", name, spline.predict(fold.logits), ranked_hits(*fold, **ranks))
                for name, fold in (("validation", validation), ("test", test))
            ]
        graphs += [
            points(scores, hits, **knots).assign(measure=measure, method=method, fold=fold)
            for method, fold, scores, hits in of_measure
        ]
    return pd.concat(graphs)


def points(scores: np.ndarray, hits: np.ndarray, n_knots: int = N_KNOTS) -> pd.DataFrame:
    """Return points of the graphs of scores and hits (n,), and their KS error."""
    ascending, cum_score, cum_hit = cumulated(scores, hits)
    n = len(ascending)
    last = np.unique(np.linspace(0, n - 1, N_POINTS).round().astype(int))
    probability = np.full(last.size, np.nan)
    if n >= n_knots:
        spline = fit_binary(scores, hits.astype(np.float64), n_knots)
        probability = spline.predict(ascending[last])
    return pd.DataFrame(
        {
            "fractile": (last + 1) / n,
            "score": ascending[last],
            "cumulative_score": cum_score[last + 1] / n,
            "cumulative_hit": cum_hit[last + 1] / n,
            "null_sd": np.sqrt(np.sum(ascending * (1 - ascending))) / n,
            "hit_probability": probability,
            "ks_percent": 100 * estimate("ks", scores, hits).value,
        }
    )
