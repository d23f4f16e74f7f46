"""MAPIE: top-label ECE for given scores, and its three tests of calibration."""

import numpy as np
from mapie.metrics import calibration
from printing import print_values


def _ece(scores, hits, strategy):
    return calibration.top_label_ece(
        hits, scores, y_score_arg=np.ones(len(scores), int), num_bins=15, split_strategy=strategy
    )


print_values(
    lambda scores, hits: [
        ("ece_width", lambda: _ece(scores, hits, "uniform")),
        ("ece_mass", lambda: _ece(scores, hits, "quantile")),
        ("spiegelhalter_p", lambda: calibration.spiegelhalter_p_value(hits, scores)),
        ("mad_p", lambda: calibration.kolmogorov_smirnov_p_value(hits, scores)),
        ("range_p", lambda: calibration.kuiper_p_value(hits, scores)),
    ]
)
