"""relplot: binned ECE and smECE."""

import relplot.metrics
from printing import print_values

print_values(
    lambda scores, hits: [
        ("ece_width", lambda: relplot.metrics.binnedECE(scores, hits, nbins=15)),
        ("smece", lambda: relplot.metrics.smECE(scores, hits)),
    ]
)
