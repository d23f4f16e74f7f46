"""netcal: ECE, MCE and MMCE."""

from netcal.metrics import ECE, MCE, MMCE
from printing import print_values

print_values(
    lambda scores, hits: [
        ("ece_width", lambda: ECE(bins=15).measure(scores, hits)),
        ("ece_mass", lambda: ECE(bins=15, equal_intervals=False).measure(scores, hits)),
        ("mce_width", lambda: MCE(bins=15).measure(scores, hits)),
        ("mmce", lambda: MMCE().measure(scores, hits)),
    ]
)
