"""MCGrad: binned errors and the ECCE test."""

from mcgrad import metrics
from printing import print_values

print_values(
    lambda scores, hits: [
        ("ece_width", lambda: metrics.expected_calibration_error(hits, scores, num_bins=15)),
        ("ece_mass", lambda: metrics.adaptive_calibration_error(hits, scores, num_bins=15)),
        ("range", lambda: metrics.ecce(hits, scores)),
        ("range_p", lambda: metrics.ecce_pvalue(hits, scores)),
    ]
)
