"""The result of an audit: its numbers, sentences and tables."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from calbias.auditing.data import EVENT, Options
from calbias.auditing.description import OBSERVED_EXPECTED, Description
from calbias.auditing.diagrams.corp import CorpDiagram
from calbias.auditing.error.bins import PictureBins
from calbias.auditing.error.within import Answer, Gate, InParts, gate_of
from calbias.auditing.subgroups.subgroups import Subgroups
from calbias.auditing.verdict.verdict_result import CalibrationVerdict
from calbias.auditing.verdict.words import digits_of
from calbias.defaults import MISCALIBRATED, TOO_SMALL
from calbias.engine.posterior import PosteriorCurve
from calbias.io.outputs import GENERATOR

if TYPE_CHECKING:
    import pandas as pd

_CLEAR = 0.001  # a p-value that a low end of 0 seems to contradict
_NAMED = 5  # classes, in a sentence
TABLES = ("estimates", "risk", "recalibration", "classes")


class _Asked(Protocol):
    """The options that an Audit and a Comparison share."""

    @property
    def confidence_level(self) -> float: ...
    @property
    def within(self) -> float | None: ...


class Result:
    """What an Audit and a Comparison share: one sentence, answers, JSON; equal by their numbers."""

    n: int
    kind: str
    n_clusters: int | None
    subgroups: InParts | None
    options: _Asked

    @property
    def confidence_level(self) -> float:
        """The probability of the intervals."""
        return self.options.confidence_level

    @property
    def limit(self) -> float | None:
        """The error, or the difference, a fraction, that was asked about; None without that."""
        return self.options.within

    def gate(self, x: float) -> Gate:
        """Return the Gate of ``x``, a fraction: the answer of ``within``, and what decided it."""
        raise NotImplementedError

    @property
    def asked(self) -> Gate | None:
        """The Gate of the limit, None where nothing was asked."""
        return None if self.limit is None else self.gate(self.limit)

    def _gate(self, estimate: float, interval: tuple[float, float], x: float) -> Gate:
        size = (self.n, "rows") if self.n_clusters is None else (self.n_clusters, "clusters")
        return gate_of(estimate, interval, x, size, self.subgroups)

    @property
    def sentence(self) -> str:
        """The result in one line."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists, numbers and texts, as the JSON file has it."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON; an unknown number is null."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sentence}>"


@dataclass(frozen=True, eq=False, repr=False)
class AuditNumbers(Result):
    """The numbers, sentences and tables of a ``calbias.Audit``, which describes them."""

    kind: str
    n: int
    error: float
    interval: tuple[float, float]
    verdict: CalibrationVerdict
    rows_per_bin: float
    ece: float
    noise_floor: float
    description: Description
    curve: PosteriorCurve
    bins: PictureBins
    corp: CorpDiagram | None
    options: Options
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    n_clusters: int | None = None
    effective_n: float | None = None
    design_effect: float | None = None
    mean_design_effect: float | None = None
    estimates: pd.DataFrame | None = None
    risk: pd.DataFrame | None = None
    recalibration: pd.DataFrame | None = None
    subgroups: Subgroups | None = None
    classes: pd.DataFrame | None = None
    outcome: str | None = None
    strata: tuple[Any, ...] = ()

    @property
    def norm(self) -> float:
        """p of the ℓp error."""
        return self.options.norm

    @property
    def p_value(self) -> float:
        """The p-value of the verdict."""
        return self.verdict.p_value

    @property
    def miscalibrated(self) -> bool:
        """Whether the p-value is at most 5 %."""
        return self.verdict.miscalibrated

    @property
    def direction(self) -> str:
        """``overconfident``, ``underconfident``, or ``neither`` within two standard errors."""
        gap, error = (float(self.description[key] or 0) for key in ("mean_gap", "mean_gap_se"))
        if abs(gap) <= 2 * error * math.sqrt(self.mean_design_effect or 1.0):
            return "neither"
        return "overconfident" if gap > 0 else "underconfident"

    @property
    def finding(self) -> str:
        """The verdict in words, and how many subgroups fail."""
        count = self.subgroups.headline if self.subgroups else ""
        why = f", {self.contrast}" if self.contrast else ""
        if self.miscalibrated:
            text = f"miscalibrated, {self.verdict.p_text}: {self.verdict.sentence}{why}"
            return f"{text}; {count}" if count else text
        text = f"no miscalibration found, {self.verdict.p_text}{why}"
        return f"{text}, but {count}" if count else text

    @property
    def contrast(self) -> str:
        """Why verdict and interval differ, in words; empty where they do not."""
        excludes_0 = float(self.in_percent[1]) > 0.0
        if not self.miscalibrated and excludes_0:
            return (
                "although the interval excludes 0: so it does for a few calibrated models, and "
                "the test shares its 5 % among six kinds of fault"
            )
        if self.miscalibrated and self.p_value <= _CLEAR and not excludes_0:
            return (
                "although the interval includes 0: to exclude it takes more rows than to find a "
                "fault"
            )
        return ""

    @property
    def size(self) -> str:
        """What was judged, in words."""
        what = "risks of an event" if self.kind == EVENT else "predictions"
        within = "" if self.n_clusters is None else f" in {self.n_clusters} clusters"
        return f"{self.n} {what}{within}" + (f" ({self.outcome})" if self.outcome else "")

    @property
    def assumption(self) -> str:
        """What the upper end of the interval assumes, and what it cannot hold."""
        size, missing = "", "alternate faster"
        if self.norm == 2:
            size, missing = ", and that it has one size there", "alternate faster, or are narrower,"
        return (
            "The lower end of the interval holds whatever the calibration curve is; the upper end "
            "assumes that no error changes its sign within a bin of neighbouring scores (about "
            f"{self.rows_per_bin:.0f} rows){size}: faults that {missing} may be missing from it."
        )

    def within(self, x: float) -> Answer:
        """Return whether the calibration error is at most ``x``, a fraction, by the interval.

        "yes" where the upper end is at most x, "no" where the lower end is above it, else
        "undecided". With ``by`` it is "no" also where a subgroup has a gap above x, and "undecided"
        where a miscalibrated subgroup may have one, by the limits that hold for all subgroups at
        once. InputError unless x is from 0 to below 1.

        >>> import calbias
        >>> audit = calbias.audit([0.9] * 200, [1] * 160 + [0] * 40)
        >>> audit.within(0.2), audit.within(0.1), audit.within(0.01)
        ('yes', 'undecided', 'no')
        """
        return self.gate(x).answer

    def gate(self, x: float) -> Gate:
        """Return the Gate of ``x``, a fraction: the answer of ``within``, and what decided it."""
        return self._gate(self.error, self.interval, x)

    @property
    def in_percent(self) -> tuple[str, str, str, str, str]:
        """Error, low and high end, ECE and noise floor, with the digits that the interval has."""
        low, high = self.interval
        digits = digits_of(high - low)
        values = (self.error, low, high, self.ece, self.noise_floor)
        error, low_text, high_text, ece, floor = (f"{100 * x:.{digits}f}" for x in values)
        return error, low_text, high_text, ece, floor

    @property
    def whole(self) -> str:
        """Mean score and share of hits; of an event their ratio, with exact limits."""
        names = "mean_score", "accuracy", "accuracy_low", "accuracy_high"
        mean, rate, low, high = (float(self.description[name] or 0) for name in names)
        parts = ((mean, mean), (rate, rate), (low, rate), (high, rate))
        shown = [f"{100 * x:.{_decimals(like)}f} %" for x, like in parts]
        if self.kind != EVENT:
            return "mean score {}, accuracy {} ({} to {})".format(*shown).replace(" % to", " to")
        ratio = ""
        if OBSERVED_EXPECTED[0] in self.description:
            values = (self.description[name] for name in OBSERVED_EXPECTED)
            ratio = ", observed/expected {:.2f} ({:.2f} to {:.2f})".format(*values)
        if self.outcome:
            low_text = shown[2].removesuffix(" %")
            return f"mean risk {shown[0]}, observed {shown[1]} ({low_text} to {shown[3]}){ratio}"
        events = round(rate * self.n)
        return f"mean risk {shown[0]}, {events} event{'s' * (events != 1)} ({shown[1]}){ratio}"

    @property
    def sentence(self) -> str:
        """The result in one line."""
        error, low, high, ece, floor = self.in_percent
        norm = "" if self.norm == 1 else f" (ℓ{self.norm:g})"
        interval = f"{low} to {high} %, {100 * self.confidence_level:g} %"
        asked = f"; {self.gate_sentence}" if self.asked else ""
        return (
            f"n = {self.size}: calibration error{norm} {error} % ({interval}); ECE {ece} %, "
            f"noise floor {floor} %; {self.whole}; {self.finding}{asked}."
        )

    @property
    def gate_sentence(self) -> str:
        """The answer to the limit in words; empty where nothing was asked."""
        asked = self.asked
        return f"error at most {100 * asked.limit:.12g} %: {asked.sentence}" if asked else ""

    @property
    def classes_sentence(self) -> str:
        """What the classes show, in one sentence; empty where they were not asked for."""
        if self.classes is None:
            return ""
        finding = self.classes["finding"]
        bad = list(finding.index[finding == MISCALIBRATED])
        names = f" ({', '.join(bad[:_NAMED])}{', …' if len(bad) > _NAMED else ''})" if bad else ""
        small = int((finding == TOO_SMALL).sum())
        return (
            f"{len(bad)} of {len(finding)} classes miscalibrated{names}, {small} too small to tell."
        )

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return {name: DataFrame} of the tables that have rows."""
        tables = {name: getattr(self, name) for name in TABLES}
        return {name: table for name, table in tables.items() if table is not None and len(table)}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists, numbers and texts, as the JSON file has it."""
        first = ("sentence", "miscalibrated", "p_value", "direction", "norm", "confidence_level")
        shown = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name not in (*TABLES, "subgroups", *self._absent)
        }
        return {
            "generator": GENERATOR.format("audit"),
            **{name: getattr(self, name) for name in first},
            **{name: plain(value) for name, value in shown.items()},
            "interval": dict(zip(("low", "high"), plain(self.interval), strict=True)),
            **({"within": plain(self.asked)} if self.asked else {}),
            **self._told_of_subgroups(),
            **{name: plain(table.reset_index()) for name, table in self.tables().items()},
        }

    @property
    def _absent(self) -> tuple[str, ...]:
        """The fields that only outcomes that are right on average have."""
        return () if self.outcome is not None else ("outcome", "strata")

    def _told_of_subgroups(self) -> dict[str, Any]:
        found = self.subgroups
        return {} if found is None else {"subgroups": {"sentence": found.sentence, **plain(found)}}


def _decimals(share: float) -> int:
    """Return the decimals, in percent, that show a share near 0 or 1 by two digits, at least 1."""
    least = min((x for x in (share, 1.0 - share) if x > 0.0), default=1.0)
    return min(max(math.ceil(-math.log10(100.0 * least)) + 1, 1), 4)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: dicts, lists, texts and finite numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if hasattr(value, "to_dict"):  # a table
        return [plain(row) for row in value.to_dict("records")]
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
