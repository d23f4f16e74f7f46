"""The result of a verdict: a p-value, its parts, and what was found in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calbias.auditing.verdict.clusters import ClusterFacts, cluster_warnings
from calbias.auditing.verdict.finding import (
    Finding,
    HalfWidth,
    finding_of,
    kinds_of,
)
from calbias.auditing.verdict.groups import Groups
from calbias.auditing.verdict.statistics import Statistics
from calbias.auditing.verdict.words import Words, sentence_of
from calbias.defaults import SIGNIFICANT, p_digits

_ORDER = ("level", "line", "shape", "local", "atoms", "certain")
_SEEN, _WORTH_A_WORD = 0.01, 0.0005  # a share of the rows, and an error, that the warning names
_IMPOSSIBLE = 1e-6  # the chance of any unlikely outcome at exactly 0 or 1 below which one decides


@dataclass(frozen=True)
class Part:
    """One statistic of the verdict, and its p-value by redraw, on its own."""

    name: str
    statistic: float
    p_value: float


@dataclass(frozen=True)
class CalibrationVerdict:
    """Whether scores are miscalibrated, and how.

    Attributes
    ----------
    p_value : float
        Of perfect calibration, in (0, 1]; its least value is 1/(replicates + 1).
    miscalibrated : bool
        Whether the p-value is at most 0.05.
    parts : tuple of Part
        The statistics with their own p-values.
    clearest : str
        The part with the smallest p-value.
    finding, second : Finding, Finding or None
        The numbers of the clearest part, and of a clear shift or slope in addition.
    sentence : str
        Both in words; where nothing was found it says so.
    warnings, notes : tuple of str
        What limits the verdict, and what rounding of the scores may explain.
    rows, replicates : int
    cluster_facts : ClusterFacts or None
        What the verdict rests on where rows were given with clusters.
    """

    p_value: float
    miscalibrated: bool
    parts: tuple[Part, ...]
    clearest: str
    finding: Finding
    second: Finding | None
    sentence: str
    warnings: tuple[str, ...]
    rows: int
    replicates: int
    cluster_facts: ClusterFacts | None = None
    notes: tuple[str, ...] = ()

    @property
    def stated_gap(self) -> float:
        """The size of the mean gap that the sentence states, or 0: the error is not below it."""
        stated = [self.finding, self.second] if self.miscalibrated else []
        return max((abs(f.gap) for f in stated if f and f.kind == "level"), default=0.0)

    @property
    def p_text(self) -> str:
        """The p-value in words: "p = 0.012", or "p < 0.0003" where no redraw is as large."""
        return p_text(self.p_value, self.replicates)


def p_text(p_value: float, replicates: int) -> str:
    """Return the p-value of so many redraws in words, on its side of 0.05."""
    if p_value * (replicates + 1) > 1.5:
        return f"p = {p_digits(p_value)}"
    digits = math.ceil(-math.log10(p_value))
    return f"p < {math.ceil(p_value * 10**digits) / 10**digits:g}"


def in_words(
    groups: Groups,
    statistics: Statistics,
    p_value: float,
    parts: tuple[Part, ...],
    clearest: str,
    words: Words,
    replicates: int,
    facts: ClusterFacts | None = None,
    half: HalfWidth | None = None,
    impossible: int = 0,
) -> CalibrationVerdict:
    """Return the verdict of a p-value and its parts, in words; ``half`` is for clusters.

    ``impossible`` is how many outcomes were seen that no calibrated model has.
    """
    warnings: tuple[str, ...] = ()
    if clearest != "certain" and impossible:
        warnings = (sentence_of(finding_of("certain", groups, statistics), words),)
    kind, other = kinds_of(clearest, groups, statistics)
    finding, second = finding_of(kind, groups, statistics, half), None
    if {kind, other} == {"level", "line"} and finding.slope is None:
        other = None  # both say the same without a slope, as where all rows are hits
    is_found = p_value <= SIGNIFICANT
    sentence = f"no miscalibration found ({p_text(p_value, replicates)})"
    if is_found:
        second = finding_of(other, groups, statistics, half) if other else None
        # the whole first, then a slope or a shape, then a place
        faults = sorted((f for f in (finding, second) if f), key=lambda f: _ORDER.index(f.kind))
        sentence = "; ".join(sentence_of(each, words) for each in faults)
    n = round(float(groups.size.sum()))
    if facts:
        what = "row" if facts.are_rows else "cluster"
        warnings += cluster_warnings(facts.clusters, facts.with_rarer, what)
    return CalibrationVerdict(
        p_value, is_found, parts, clearest, finding, second, sentence, warnings, n,
        replicates, facts, _notes(groups, words),
    )  # fmt: skip


def _notes(groups: Groups, words: Words) -> tuple[str, ...]:
    """Return the largest errors that rounding may explain: at 0, at 1 and elsewhere."""
    n, is_end = groups.size.sum(), (groups.score == 0.0) | (groups.score == 1.0)
    seen = np.where(groups.size >= _SEEN * n, groups.reach, 0.0)
    scores = "risks" if words == "events" else "scores"
    errors = {f"{scores} of exactly {groups.score[k]:g}": seen[k] for k in np.flatnonzero(is_end)}
    errors = {where: reach for where, reach in errors.items() if reach >= _WORTH_A_WORD}
    inside = np.max(seen, initial=0.0, where=~is_end)
    if inside >= _WORTH_A_WORD:
        errors[f"other {scores}" if errors else f"some {scores}"] = inside
    texts = [f"up to {100 * reach:.1f} points at {where}" for where, reach in errors.items()]
    return (f"rounding alone may explain an error of {', '.join(texts)}",) if texts else ()


def impossible_outcomes(groups: Groups) -> int:
    """Return the unlikely outcomes at scores of exactly 0 and 1, where they are impossible."""
    certain = (groups.score == 0.0) | (groups.score == 1.0)
    expected = np.sum((groups.size * groups.chance)[certain])
    return int(groups.unlikely[certain].sum()) if expected < _IMPOSSIBLE else 0


def without_certain(groups: Groups) -> Groups:
    """Return the Groups without scores of exactly 0 and 1."""
    return groups.only((groups.score > 0.0) & (groups.score < 1.0))
