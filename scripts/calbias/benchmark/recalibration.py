"""How long recalibration methods take to fit, against samples and classes (Guo et al. 2017, §4)."""

from functools import partial

import numpy as np

from calbias.benchmark.timing import compare
from calbias.recalibration.registry import load_method

FASTEST = "temperature_scaling"  # by Guo et al.
METHODS = (
    "histogram_binning",
    "isotonic_regression",
    "bbq",
    "platt_scaling",
    "vector_scaling",
    "spline",
)
SIZES = ((1000, 10), (2000, 10), (4000, 10), (8000, 10), (4000, 20), (4000, 40))


def recalibration_rows(rounds, sizes=SIZES, methods=METHODS):
    """Return rows of table ``benchmark``: each method's fit against temperature scaling's.

    ``sizes`` are pairs (samples, classes); the work is named after the number of classes, and
    ``n_scores`` is the number of samples. A ratio above 1 says that temperature scaling is faster.
    """
    rows = []
    for n_samples, n_classes in sizes:
        logits, labels = _drawn(n_samples, n_classes)
        fits = {name: partial(load_method(name), logits, labels) for name in (FASTEST, *methods)}
        work = f"recalibration_{n_classes}_classes"
        temperature = FASTEST, fits.pop(FASTEST)
        rows += compare(work, n_samples, temperature, fits, rounds)
    return rows


def _drawn(n_samples, n_classes):
    """Return logits (n, K), overconfident by a factor of 2, and labels (n,)."""
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 4, (n_samples, n_classes)).astype(np.float32)
    gumbel = -np.log(-np.log(rng.random(logits.shape)))
    return logits, np.argmax(logits / 2 + gumbel, axis=1)
