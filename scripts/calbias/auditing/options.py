"""The options of an audit."""

from dataclasses import dataclass, replace

from calbias.auditing.intervals.interval import LEVEL
from calbias.errors import InputError
from calbias.estimation.api import is_number, validate_options
from calbias.estimation.inputs import validate_whole

FEWEST_REPLICATES, MOST_REPLICATES = 200, 1000
_SCORES_PER_LAMBDA = 4_000_000


@dataclass
class Options:
    """Number of bins, p of the ℓp errors, probability of the intervals, seed, data sets a curve."""

    n_bins: int = 15
    norm: float = 1.0
    level: float = LEVEL
    seed: int = 0
    replicates: int | None = None

    def __post_init__(self):
        validate_options(self.n_bins, self.norm)
        validate_whole("seed", self.seed, 0)
        if self.replicates is not None:
            validate_whole("replicates", self.replicates, 20)
        if self.n_bins > 10_000:
            raise InputError(f"n_bins must be at most 10000, not {self.n_bins}")
        if not (is_number(self.level) and 0.5 <= self.level < 1):
            raise InputError(f"level must be at least 0.5 and below 1, not {self.level!s:.60}")

    def of_rows(self, n):
        """Return these with ``replicates`` set, if unset, so that n rows take seconds to audit."""
        fitting = min(max(_SCORES_PER_LAMBDA // n, FEWEST_REPLICATES), MOST_REPLICATES)
        return self if self.replicates else replace(self, replicates=fitting)
