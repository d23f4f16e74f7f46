"""The options of an audit."""

from dataclasses import dataclass

from calbias.conventions import CONFIDENCE_LEVEL, N_BINS
from calbias.errors import InputError
from calbias.estimation.inputs import validate_level, validate_options, validate_whole

NORMS = (1, 2)
MOST_BINS = 10_000


@dataclass(frozen=True)
class Options:
    """Bins of the ECE, p of the error, level of the interval, seed, data sets a curve.

    ``replicates`` are the data sets that show the bias of an estimator, where that is asked for.
    """

    n_bins: int = N_BINS
    norm: float = 1
    confidence_level: float = CONFIDENCE_LEVEL
    seed: int = 0
    replicates: int = 200

    def __post_init__(self) -> None:
        validate_options(self.n_bins, None)
        object.__setattr__(self, "n_bins", int(self.n_bins))  # 15.0 is a number of bins
        validate_whole("seed", self.seed, 0)
        validate_whole("replicates", self.replicates, 20)
        if self.n_bins > MOST_BINS:
            raise InputError(f"n_bins must be at most {MOST_BINS}, not {self.n_bins}")
        if self.norm not in NORMS:
            raise InputError(f"norm must be 1 or 2, not {self.norm!r:.60}")
        validate_level(self.confidence_level, 0.5)
