"""uncertainty-calibration: binned and debiased errors of Kumar et al. (2019)."""

import calibration
from printing import print_values


def _l2(scores, hits, debias):
    return calibration.utils._get_ce(
        scores, hits, p=2, debias=debias, num_bins=15,
        binning_scheme=calibration.utils.get_equal_bins, mode="marginal",
    )  # fmt: skip


print_values(
    lambda scores, hits: [
        ("ece_width", lambda: calibration.get_ece(scores, hits)),
        ("ece_mass", lambda: calibration.get_ece_em(scores, hits)),
        ("ece_mass_l2", lambda: _l2(scores, hits, False)),
        ("debiased_mass_l2", lambda: _l2(scores, hits, True)),
    ]
)
