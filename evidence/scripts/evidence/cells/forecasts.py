"""Forecasts of hits, with what an audit and a Monitor make of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calbias.auditing.verdict.judge import judge
from calbias.auditing.verdict.statistics import PARTS
from calbias.defaults import SIGNIFICANT
from calbias.engine.sorted_batch import SortedBatch
from calbias.monitoring.monitor import Monitor
from calbias.samples.by_score import Scored
from evidence.runner import Method, each
from reproduction.judging import Sample

_REDRAWS = 239  # exact at 5 %


@dataclass(frozen=True)
class Forecasts:
    """Scores and hits (n,) in time, scores without ties."""

    scores: NDArray[np.float64]
    hits: NDArray

    @cached_property
    def batch(self) -> SortedBatch:
        """The rows as a batch of one data set."""
        return Sample(self.scores, self.hits).data

    @cached_property
    def rejections(self) -> dict[str, bool]:
        """Whether the verdict and each of its statistics reject at the 5 % level."""
        verdict = judge(Scored.of(self.scores, self.hits), _REDRAWS)
        p_values = {"verdict": verdict.p_value}
        p_values |= {f"verdict_{part.name}": part.p_value for part in verdict.parts}
        return {name: p <= SIGNIFICANT for name, p in p_values.items()}

    def rings(self) -> bool:
        """Return whether a Monitor of the level 5 % rings."""
        monitor = Monitor(SIGNIFICANT)
        monitor.update(self.scores, self.hits)
        return monitor.alarm is not None


def audit_methods(data_sets: int, rejected: bool = True) -> dict[str, Method]:
    """Return the methods verdict, verdict_<statistic> and monitor: shares (not) ``rejected``.

    The verdict has a quarter of the data sets, the monitor, which is slower, a twentieth.
    """

    def judged(name: str) -> Method:
        return Method("", each(lambda data: data.rejections[name] == rejected), data_sets // 4)

    names = ("verdict", *(f"verdict_{part}" for part in PARTS if part != "atoms"))
    rings = Method("", each(lambda data: data.rings() == rejected), data_sets // 20)
    return {**{name: judged(name) for name in names}, "monitor": rings}
