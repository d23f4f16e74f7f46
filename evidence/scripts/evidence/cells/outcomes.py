"""Cells whose outcomes are right on average, with their true calibration error.

``TRIAL`` are the cells on which the design was chosen; ``JUDGING`` were written down before any
of them was read, with laws, censoring and faults that the trial did not have.

A risk s has the chance c(s) of an event by the horizon 5. Times are Weibull, or log-normal, with
that chance. Censoring takes a given share of the rows before the horizon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from calbias.outcomes.follow_up import FollowUp
from calbias.outcomes.given import Given
from calbias.outcomes.mean_outcomes import MeanOutcomes

Floats = NDArray[np.float64]
HORIZON, _SHAPE, _MANY = 5.0, 1.3, 200_000
Generator = np.random.Generator

LAWS: dict[str, Callable[[Generator, int], Floats]] = {
    "b25": lambda g, n: g.beta(2, 5, n),
    "b112": lambda g, n: g.beta(1, 12, n),
    "sat": lambda g, n: expit(g.normal(0, 3, n)),
    "b33": lambda g, n: g.beta(3, 3, n),
    "two": lambda g, n: np.where(g.random(n) < 0.6, g.beta(2, 20, n), g.beta(8, 4, n)),
    "percent": lambda g, n: np.clip(g.beta(2, 6, n).round(2), 0.01, 0.99),
    "rare": lambda g, n: g.beta(1, 25, n),
}
CURVES: dict[str, Callable[[Floats], Floats]] = {
    "calibrated": lambda s: s,
    "slope": lambda s: expit(0.7 * logit(s)),
    "shift": lambda s: 0.75 * s,
    "wave": lambda s: s + 0.1 * np.sin(6 * np.pi * s) * np.minimum(1, 8 * np.minimum(s, 1 - s)),
    "steep": lambda s: expit(1.5 * logit(s) + 0.2),
    "higher": lambda s: expit(logit(s) + 0.35),
    "step": lambda s: np.where((s > 0.3) & (s < 0.5), s + 0.12, s),
}


class Rows(NamedTuple):
    """A data set: scores and outcomes, and clusters or None."""

    scores: Floats
    outcomes: MeanOutcomes
    clusters: Any = None


@dataclass(frozen=True)
class Followed:
    """A cell of follow-up.

    ``censoring`` is one of none, independent, score (twenty times the hazard at the highest risk),
    falling (ten times at the lowest), middle (most at middle risks), admin (staggered entry) and
    late (steady until 4, then most of it). ``share`` is censored before the horizon. ``other`` is
    the hazard of a competing event, ``step`` the step to which times are rounded up, ``members``
    the rows of a cluster, whose latent correlation is 0.1.
    """

    name: str
    n: int
    law: str
    curve: str = "calibrated"
    censoring: str = "independent"
    share: float = 0.35
    times: str = "weibull"
    other: float = 0.0
    step: float = 0.0
    members: int = 0

    def risks(self, scores: Floats) -> Floats:
        """Return the true risks."""
        return np.clip(CURVES[self.curve](scores), 0.0, 0.999)

    def draw(self, generator: Generator) -> Rows:
        """Return a data set."""
        scores = LAWS[self.law](generator, self.n)
        latent = generator.normal(size=self.n)
        clusters = None
        if self.members:
            clusters = np.arange(self.n) // self.members
            shared = generator.normal(size=clusters[-1] + 1)[clusters]
            latent = np.sqrt(0.9) * latent + np.sqrt(0.1) * shared
        times, causes = self._followed(generator, scores, latent, self._scale)
        return Rows(scores, FollowUp.of(times, causes, HORIZON).outcomes(scores), clusters)

    def _followed(
        self, generator: Generator, scores: Floats, latent: Floats, scale: float
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Return times and causes, with censoring of the given scale."""
        u, risk = np.clip((1 + _erf(latent)) / 2, 1e-12, 1 - 1e-12), self.risks(scores)
        other = np.full(scores.size, np.inf)
        if self.other:  # the event happens first with the chance of the risk
            is_event = u < risk
            event = np.where(is_event, HORIZON * generator.random(scores.size) ** 0.8, np.inf)
            hits = generator.random(scores.size) < self.other * (1 - scores)
            other = np.where(hits & ~is_event, HORIZON * generator.random(scores.size), np.inf)
        elif self.times == "weibull":
            event = HORIZON * (np.log1p(-u) / np.log1p(-risk)) ** (1 / _SHAPE)
        else:
            event = HORIZON * np.exp(0.8 * (ndtri(u) - ndtri(risk)))
        end = scale * self._ends(generator, scores)
        if self.step:
            event, other, end = (np.ceil(x / self.step) * self.step for x in (event, other, end))
        times = np.minimum(np.minimum(event, other), end)
        causes = np.where(event <= np.minimum(other, end), 1, np.where(other <= end, 2, 0))
        return np.minimum(times, 100.0), causes

    def _ends(self, generator: Generator, scores: Floats) -> Floats:
        """Return ends of follow-up, up to their scale."""
        n, rank = scores.size, scores.argsort().argsort() / scores.size
        if self.censoring == "none":
            return np.full(n, np.inf)
        if self.censoring == "admin":
            return 0.4 + 0.8 * generator.random(n)
        if self.censoring == "late":
            return np.where(generator.random(n) < 0.3, generator.random(n), 1 + generator.random(n))
        hazard = {
            "independent": np.ones(n), "score": 20.0**rank, "falling": 10.0 ** (1 - rank),
            "middle": 8.0 ** (1 - 2 * np.abs(rank - 0.5)),
        }[self.censoring]  # fmt: skip
        return generator.exponential(1.0, n) / hazard

    @cached_property
    def _scale(self) -> float:
        """The scale of censoring at which the share is censored before the horizon."""
        low, high = 1e-3, 1e4
        for _ in range(40):
            middle = np.sqrt(low * high)
            generator = np.random.default_rng(0)
            scores = LAWS[self.law](generator, _MANY // 4)
            latent = generator.normal(size=scores.size)
            times, causes = self._followed(generator, scores, latent, middle)
            few = np.mean((times < HORIZON) & (causes == 0)) < self.share
            low, high = (low, middle) if few else (middle, high)
        return float(high)

    def truth(self, kept: Floats) -> float:
        """Return the mean error of rows with these scores."""
        return float(np.abs(self.risks(kept) - kept).mean())


@dataclass(frozen=True)
class Drawn:
    """A cell of a judge, of weights or of shares: ``make`` draws the outcomes of hits."""

    name: str
    n: int
    law: str
    make: Callable[[Generator, Floats, NDArray], tuple[Given, Floats] | Floats]
    curve: str = "calibrated"
    members: int = 0

    def draw(self, generator: Generator) -> Rows:
        """Return a data set."""
        scores = LAWS[self.law](generator, self.n)
        chance = np.clip(CURVES[self.curve](scores), 0.0, 1.0)
        hits = (generator.random(self.n) < chance).astype(float)
        made = self.make(generator, chance, hits)
        given, hits = made if isinstance(made, tuple) else (Given(), made)
        return Rows(scores, given.outcomes(scores, hits))

    def truth(self, kept: Floats) -> float:
        """Return the mean error of rows with these scores."""
        return float(np.abs(np.clip(CURVES[self.curve](kept), 0, 1) - kept).mean())


def _judge(right: float, wrong: float, labelled: float, by_score: bool = False) -> Any:
    def make(generator: Generator, chance: Floats, hits: Floats) -> Any:
        says = np.where(hits == 1, generator.random(hits.size) < right,
                        generator.random(hits.size) < wrong)  # fmt: skip
        share = labelled * (0.4 + 1.2 * chance) if by_score else labelled
        human = np.where(generator.random(hits.size) < share, hits, np.nan)
        return Given(judge=says.astype(float)), human

    return make


def _weights(spread: float, by_score: bool = False) -> Any:
    def make(generator: Generator, chance: Floats, hits: Floats) -> Any:
        logs = generator.normal(0, spread, hits.size) + (chance if by_score else 0.0)
        return Given(weights=np.exp(logs)), hits

    return make


def _shares(most: int, spread: float, weighted: bool = False) -> Any:
    def make(generator: Generator, chance: Floats, hits: Floats) -> Any:
        votes = generator.integers(1, most + 1, hits.size)
        inside = np.clip(chance, 1e-6, 1 - 1e-6)
        rate = generator.beta(inside / spread, (1 - inside) / spread)
        shares = generator.binomial(votes, rate) / votes
        return Given(weights=votes.astype(float) if weighted else None), shares

    return make


def _erf(x: Floats) -> Floats:
    from scipy.special import erf

    return np.asarray(erf(x / np.sqrt(2)))


TRIAL = (
    Followed("none", 1000, "b25", censoring="none"),
    Followed("independent 35", 1000, "b25"),
    Followed("independent 10", 1000, "b25", share=0.10),
    Followed("score 35", 1000, "b25", censoring="score"),
    Followed("score 60", 1000, "b25", censoring="score", share=0.60),
    Followed("admin 35", 1000, "b25", censoring="admin"),
    Followed("few events", 200, "b112", share=0.60),
    Followed("low risks, score 35", 1000, "b112", censoring="score"),
    Followed("saturated, score 35", 1000, "sat", censoring="score"),
    Followed("score 35, n = 5000", 5000, "b25", censoring="score"),
    Followed("competing, score", 1000, "b25", censoring="score", other=0.6),
    Followed("clusters, score 35", 1000, "b25", censoring="score", members=25),
    Followed("slope, score 35", 1000, "b25", "slope", "score"),
    Followed("shift, score 35", 1000, "b25", "shift", "score"),
    Followed("wave, n = 5000", 5000, "b25", "wave", "score"),
    Drawn("judge, a tenth", 2000, "b33", _judge(0.92, 0.15, 0.1)),
)
JUDGING = (
    Followed("ties, horizon at an event", 800, "b33", step=1.0),
    Followed("ties and whole percents", 1500, "percent", censoring="middle", step=0.5),
    Followed("log-normal, falling 50", 1200, "two", censoring="falling", share=0.50,
             times="log-normal"),
    Followed("middle 45", 700, "b33", censoring="middle", share=0.45),
    Followed("late 40", 1000, "two", censoring="late", share=0.40),
    Followed("rare, 10 %", 1500, "rare", share=0.10),
    Followed("rare, 60 %", 400, "rare", share=0.60),
    Followed("admin 60", 2000, "two", censoring="admin", share=0.60),
    Followed("score 50, n = 300", 300, "b33", censoring="score", share=0.50),
    Followed("falling 55, n = 4000", 4000, "b25", censoring="falling", share=0.55),
    Followed("competing, falling", 1500, "two", censoring="falling", other=0.5),
    Followed("competing, few", 500, "b112", censoring="independent", other=0.8),
    Followed("clusters of 10, middle", 1200, "b33", censoring="middle", members=10),
    Followed("clusters of 50, admin", 2500, "two", censoring="admin", members=50),
    Followed("steep, middle", 1000, "b33", "steep", "middle"),
    Followed("higher, falling, ties", 1000, "two", "higher", "falling", step=1.0),
    Followed("step, late", 3000, "b33", "step", "late"),
    Followed("shift, rare", 2500, "b112", "shift", "admin"),
    Followed("steep, competing", 2000, "b33", "steep", "score", other=0.4),
    Drawn("judge, labels by score", 1500, "two", _judge(0.85, 0.25, 0.2, by_score=True)),
    Drawn("judge, blind", 1000, "b33", _judge(0.6, 0.4, 0.3)),
    Drawn("judge, rare", 3000, "b112", _judge(0.9, 0.05, 0.15)),
    Drawn("weights, heavy", 1000, "b33", _weights(1.0)),
    Drawn("weights, by score", 2000, "two", _weights(0.5, by_score=True)),
    Drawn("weights, rare", 2000, "b112", _weights(0.7)),
    Drawn("shares of few", 600, "b33", _shares(4, 0.3)),
    Drawn("shares, weighted", 1500, "two", _shares(9, 0.1, weighted=True)),
    Drawn("judge, steep", 2000, "b33", _judge(0.85, 0.25, 0.2), "steep"),
    Drawn("weights, shift", 1500, "b33", _weights(0.8), "shift"),
    Drawn("shares, step", 1500, "b33", _shares(4, 0.3), "step"),
)  # fmt: skip
