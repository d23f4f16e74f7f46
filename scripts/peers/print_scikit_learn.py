"""scikit-learn: the ECE that its users assemble from ``calibration_curve``."""

import numpy as np
from printing import print_values
from sklearn.calibration import calibration_curve


def _ece(scores, hits, strategy):
    share, mean_score = calibration_curve(hits, scores, n_bins=15, strategy=strategy)
    edges = np.linspace(0, 1, 16)
    if strategy == "quantile":
        edges = np.percentile(scores, 100 * edges)
    counts = np.bincount(np.searchsorted(edges[1:-1], scores), minlength=15)
    return np.average(np.abs(share - mean_score), weights=counts[counts > 0])


print_values(
    lambda scores, hits: [
        ("ece_width", lambda: _ece(scores, hits, "uniform")),
        ("ece_mass", lambda: _ece(scores, hits, "quantile")),
    ]
)
