"""What the league and the tests of calibration run on: scenarios, and distributions of few scores.

Two distributions of scores, one saturated like a network's on CIFAR and one spread, are crossed
with perfect calibration, slopes of 0.5, 0.8 and 1.25 in the log-odds, a shift and a wave.
Fitted scenarios of the paper's models and distributions of few values, whose scores are tied,
join them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from calbias.engine.sorted_batch import SortedBatch
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from calbias.truth.targets import Population
from evidence.cells.beta import Wave
from evidence.cells.halves import HalfCell
from pipeline.scenarios import fitted_scenario

DISTRIBUTIONS = {"saturated": (2.78, 0.048), "spread": (2.0, 1.0)}
"""Parameters of a Beta; ``saturated`` is the published fit of resnet110_c10."""
CURVES: dict[str, Curve] = {
    "calibrated": Curve("identity"),
    "slope_0.5": Curve("logit_logit_b1", 0.0, 0.5),
    "slope_0.8": Curve("logit_logit_b1", 0.0, 0.8),
    "slope_1.25": Curve("logit_logit_b1", 0.0, 1.25),
    "shift": Curve("logit_logit_b0_b1", -0.5, 1.0),
    "wave": cast(Curve, Wave()),  # it has the methods of one
}


def league_scenarios(
    models: Sequence[str] = (), beta_fits: Sequence[Path] = (), glm_fits: Sequence[Path] = ()
) -> list[Scenario]:
    """Return the scenarios: two distributions with every curve, then ``models`` with their fits."""
    synthetic = [
        Scenario(f"{distribution}_{name}", *pair, curve)
        for distribution, pair in DISTRIBUTIONS.items()
        for name, curve in CURVES.items()
    ]
    fits = beta_fits, glm_fits
    return synthetic + [fitted_scenario(model, "fitted", *fits)[0] for model in models]


class TiedCell(NamedTuple):
    """A distribution on few scores with a curve; its truths are sums over the values."""

    name: str
    of: HalfCell

    @property
    def population(self) -> Population:
        """The values with the curve's gaps and their probabilities."""
        points, weights = self.of.grid()
        return Population(points, self.of.rates(points) - points, weights)

    def truth(self, target: str) -> float:
        """Return the error ``l1`` or ``l2``."""
        return self.of.truth(target)

    def batches(self, n: int, seed: int, data_sets: int) -> Iterator[SortedBatch]:
        """Yield SortedBatches of one data set."""
        for number in range(data_sets):
            yield self.of.draw(n, seed, number).data


TIED = [  # eleven verbalised values, scores rounded to two digits, and after histogram binning
    TiedCell(f"tied_{name}", HalfCell("league", *both))
    for name, both in {
        "verbalised_calibrated": (("verbalised", ()), ("calibrated", ())),
        "verbalised_values": (("verbalised", ()), ("values", (0.08,))),
        "rounded_slope_0.7": (("rounded", (2.0, 0.7, 2.0)), ("slope", (0.7,))),
        "binned_shift": (("binned", ()), ("shift", (-0.4,))),
    }.items()
]
