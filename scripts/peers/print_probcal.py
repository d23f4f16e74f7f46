"""probcal: ECE, its debiased form and sweep, smooth ECE, and two tests."""

from printing import print_values
from probcal import metrics

print_values(
    lambda scores, hits: [
        ("ece_width", lambda: metrics.ece(hits, scores, n_bins=15, strategy="width")),
        ("ece_mass", lambda: metrics.ece(hits, scores, n_bins=15)),
        ("ece_mass_l2", lambda: metrics.ece(hits, scores, n_bins=15, norm="l2")),
        ("debiased_mass_l2", lambda: metrics.ece_debiased(hits, scores, n_bins=15)),
        ("sweep_mass_l2", lambda: metrics.ece_sweep(hits, scores, norm="l2")),
        ("smece", lambda: metrics.smooth_ece(hits, scores)),
        ("spiegelhalter_p", lambda: metrics.spiegelhalter_z(hits, scores).p_value),
    ]
)
