"""model-diagnostics: the CORP decomposition of the Brier score."""

from model_diagnostics.scoring import SquaredError, decompose
from printing import print_values


def _mcb(scores, hits):
    return decompose(hits, scores, scoring_function=SquaredError())["miscalibration"][0]


print_values(lambda scores, hits: [("corp_mcb", lambda: _mcb(scores, hits))])
