"""The class-wise ECE: the mean over classes of the ECE of each class's probability.

    1/K Σ_j Σ_k n_jk/n · |f_jk − y_jk|,  15 equal-width bins of the probability of class j

Kull et al. (NeurIPS 2019), §2; Nixon et al. (CVPR workshops 2019).
"""

import numpy as np

VARIANTS = {"classwise_ece": {"n_bins": 15}}
INPUT = "probabilities"


def measure(probabilities, labels, n_bins):
    """Return the class-wise ECE, a fraction, of probabilities (n, K) and labels (n,)."""
    n, n_classes = probabilities.shape
    edges = np.arange(1, n_bins) / n_bins
    total = 0.0
    for j in range(n_classes):
        bins = np.searchsorted(edges, probabilities[:, j], side="right")
        gaps = probabilities[:, j] - (labels == j)
        total += np.abs(np.bincount(bins, gaps, n_bins)).sum() / n
    return float(total / n_classes)
