"""The result of a comparison of two models: its numbers, sentences, and table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from calbias.auditing.audit_result import Result, plain
from calbias.auditing.comparison.differences import Differences, p_text
from calbias.auditing.data import TOP_LABEL
from calbias.auditing.error.bins import PictureBins
from calbias.auditing.error.within import Answer, Gate
from calbias.defaults import CONFIDENCE_LEVEL, SIGNIFICANT
from calbias.engine.posterior import PosteriorCurve
from calbias.io.outputs import GENERATOR

if TYPE_CHECKING:
    import pandas as pd


class Limits(NamedTuple):
    """A number with the ends of its interval; the ends are NaN where there is none."""

    value: float
    low: float
    high: float


class Compared(NamedTuple):
    """One of the models: its error, Brier score and picture, as an audit has them.

    ``error``, ``brier`` and ``skill`` are (value, low, high). ``skill`` is the Brier skill score
    with the event rate as the reference forecast, None where the scores are of no event.
    """

    name: str
    error: Limits
    brier: Limits
    skill: Limits | None
    curve: PosteriorCurve
    bins: PictureBins


class CompareOptions(NamedTuple):
    """The level of the intervals, the seed of the folds, and a difference that is asked about."""

    confidence_level: float = CONFIDENCE_LEVEL
    seed: int = 0
    within: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonNumbers(Result):
    """The numbers, sentences and table of a ``calbias.Comparison``, which describes them."""

    n: int
    error_first: float
    error_second: float
    difference: float
    low: float
    high: float
    p_value: float
    brier_difference: float
    brier_low: float
    brier_high: float
    n_clusters: int | None = None
    first: str = "first"
    second: str = "second"
    brier_skill: float | None = None
    skill_low: float | None = None
    skill_high: float | None = None
    kind: str = TOP_LABEL
    options: CompareOptions = field(default_factory=CompareOptions)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    models: tuple[Compared, ...] = ()
    subgroups: Differences | None = None

    @property
    def better(self) -> str | None:
        """The name of the model that is better calibrated (5 %), or None."""
        if not self.p_value <= SIGNIFICANT:
            return None
        return self.first if self.difference < 0 else self.second

    def within(self, x: float) -> Answer:
        """Return whether the first is no worse than the second by more than ``x``, a fraction.

        By the interval of the difference. With ``by`` it is "no" also where the gap of the first is
        larger by more than x in a subgroup, and "undecided" where it is found to be larger and may
        be by more than x, by the limits that hold for all subgroups at once.
        """
        return self.gate(x).answer

    def gate(self, x: float) -> Gate:
        """Return the Gate of ``x``, a fraction: the answer of ``within``, and what decided it."""
        return self._gate(self.difference, (self.low, self.high), x)

    @property
    def gate_sentence(self) -> str:
        """The answer to the limit in words; empty where nothing was asked."""
        if self.asked is None:
            return ""
        points = f"{100 * self.asked.limit:.12g} point{'' if self.asked.limit == 0.01 else 's'}"
        worse = f"{self.first} no worse than {self.second} by more than {points}"
        return f"{worse}: {self.asked.sentence}"

    @property
    def verdict(self) -> str:
        """Which model is better calibrated, in words."""
        verdict = f"{self.better} is better calibrated" if self.better else "no difference found"
        return f"{verdict}, {p_text(self.p_value)}"

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, and the Brier scores in another."""
        rows = f" in {self.n_clusters} clusters" if self.n_clusters else ""
        return (
            f"n = {self.n}{rows}: calibration error {_percent(self.error_first)} % ({self.first}) "
            f"and {_percent(self.error_second)} % ({self.second}), difference "
            f"{_points(self.difference, self.low, self.high)} "
            f"({100 * self.confidence_level:g} %); {self.verdict}. {self.brier_sentence}"
            f"{'; ' if self.asked else ''}{self.gate_sentence}."
        )

    @property
    def brier_sentence(self) -> str:
        """Which Brier score is lower, and the skill score of the first against the second."""
        difference = _points(self.brier_difference, self.brier_low, self.brier_high)
        lower = self.first if self.brier_difference < 0 else self.second
        text = f"{lower} has the lower Brier score, difference {difference}"
        if self.brier_low <= 0 <= self.brier_high:
            text = f"Brier scores differ by {difference}: neither is found to be lower"
        if self.brier_skill is None or self.skill_low is None or self.skill_high is None:
            return text
        values = (100 * x for x in (self.brier_skill, self.skill_low, self.skill_high))
        skill = "{:z.1f} % ({:z.1f} to {:z.1f} %)".format(*values)
        return f"{text}; skill score of {self.first} with {self.second} as reference: {skill}"

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return {"measures": DataFrame}: each number with its interval, and p where there is one.

        Errors, Brier scores and skill scores of both models, and their differences; fractions.
        """
        import pandas as pd

        columns = ("name", "value", "low", "high", "p_value")
        return {"measures": pd.DataFrame([*self._measures()], columns=columns).set_index("name")}

    def _measures(self) -> Iterator[tuple[str, float, float, float, float | None]]:
        pair = f"{self.first} less {self.second}"
        for each in self.models:
            yield f"Calibration error: {each.name}", *each.error, None
        yield f"Calibration error: {pair}", self.difference, self.low, self.high, self.p_value
        for each in self.models:
            yield f"Brier score: {each.name}", *each.brier, None
        brier = self.brier_difference, self.brier_low, self.brier_high
        yield f"Brier score: {pair}", *brier, None
        for each in self.models:
            if each.skill:
                yield f"Skill score, reference the event rate: {each.name}", *each.skill, None
        if self.brier_skill is not None:
            value, low, high = self.brier_skill, self.skill_low or 0.0, self.skill_high or 0.0
            yield f"Skill score, reference {self.second}: {self.first}", value, low, high, None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists, numbers and texts, as the JSON file has it."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.subgroups:
            subgroups = {"sentence": self.subgroups.sentence, **plain(self.subgroups)}
            values["subgroups"] = subgroups
        else:
            del values["subgroups"]
        head = {"generator": GENERATOR.format("compare"), "sentence": self.sentence}
        asked = {"within": plain(self.asked)} if self.asked else {}
        return head | plain(values) | asked


def _percent(x: float) -> str:
    return f"{100 * x:.1f}"


def _points(x: float, low: float, high: float) -> str:
    return f"{100 * x:z.2f} points ({100 * low:z.2f} to {100 * high:z.2f})"
