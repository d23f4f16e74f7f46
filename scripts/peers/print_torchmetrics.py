"""torchmetrics: binary calibration error, ℓ1 and ℓ2."""

import torch
from printing import print_values
from torchmetrics.functional.classification import binary_calibration_error


def _error(scores, hits, norm):
    tensors = torch.from_numpy(scores), torch.from_numpy(hits)
    return binary_calibration_error(*tensors, n_bins=15, norm=norm)


print_values(
    lambda scores, hits: [
        ("ece_width", lambda: _error(scores, hits, "l1")),
        ("ece_width_l2", lambda: _error(scores, hits, "l2")),
        ("mce_width", lambda: _error(scores, hits, "max")),
    ]
)
