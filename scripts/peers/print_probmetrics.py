"""probmetrics: binned error (of torchmetrics), smooth error, and the two ECCE statistics."""

import torch
from printing import print_values, two_columns
from probmetrics.distributions import CategoricalDirac, CategoricalProbs
from probmetrics.metrics import Metrics


def _metric(name, scores, hits):
    labels = CategoricalDirac(torch.from_numpy(hits), 2)
    probabilities = CategoricalProbs(torch.from_numpy(two_columns(scores)))
    return Metrics.from_names([name]).compute_all(labels, probabilities)[name]


print_values(
    lambda scores, hits: [
        ("ece_top_label", lambda: _metric("ece-15", scores, hits)),
        ("smece_top_label", lambda: _metric("smece", scores, hits)),
        ("range", lambda: _metric("kuiper", scores, hits)),
    ]
)
