"""calzone: ECE, Hosmer–Lemeshow and Spiegelhalter's test."""

from calzone import metrics
from calzone.utils import reliability_diagram
from printing import print_values, two_columns


def _bins(scores, hits, equal_mass=False):
    share, mean_score, _, counts = reliability_diagram(
        hits, two_columns(scores), num_bins=15, class_to_plot=1, is_equal_freq=equal_mass
    )
    return share, mean_score, counts


print_values(
    lambda scores, hits: [
        ("ece_width", lambda: metrics.calculate_ece_mce(*_bins(scores, hits))[0]),
        ("ece_mass", lambda: metrics.calculate_ece_mce(*_bins(scores, hits, True))[0]),
        ("hosmer_lemeshow_p", lambda: metrics.hosmer_lemeshow_test(*_bins(scores, hits, True))[1]),
        (
            "spiegelhalter_p",
            lambda: metrics.spiegelhalter_z_test(hits.copy(), two_columns(scores))[1],
        ),
    ]
)
