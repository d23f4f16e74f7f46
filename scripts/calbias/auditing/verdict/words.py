"""The words of an audit for faults: sentences of findings, the page's table of parts, subgroups.

A pair of words is of scores that are too high, or too far apart, and of the opposite.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from calbias.auditing.verdict.finding import Finding

Words = Literal["hits", "events"]

HEIGHT = ("too high", "too low")
SURENESS = ("too sure", "not sure enough")
SPREAD = ("too spread", "not spread enough")
EXTREMENESS = ("too extreme", "not extreme enough")
FREQUENCY = ("less often", "more often")
ORDER, SHAPE, CERTAIN = "in the wrong order", "wrong in shape", "wrong at exactly"
SEARCHED = "found by searching"
PARTS = {
    "level": f"a shift: all scores {' or '.join(HEIGHT)}",
    "line": f"a slope: scores {' or '.join(SPREAD)}",
    "spread": "the same, by the Brier score (Spiegelhalter)",
    "shape": "a smooth error of another shape",
    "local": "an interval of scores that is wrong",
    "atoms": "a single score, shared by many rows, that is wrong",
    "certain": "misses at scores of exactly 1, or hits at exactly 0",
}
"""What each part of the verdict looks for."""


def sentence_of(finding: Finding, words: Words) -> str:
    """Return a finding in plain words, of a classifier ("hits") or a risk model ("events").

    A shift is a statement on all rows. An interval of scores or one score was found by searching
    for the worst, and its gap is larger than the true one: the sentence says so.
    """
    if finding.kind == "certain":
        return _of_certain(finding, words)
    if finding.kind == "atoms":
        return _of_atom(finding, words)
    if finding.kind in ("local", "shape"):
        return _of_interval(finding, words)
    if finding.kind == "line" and finding.slope is not None:
        return _of_slope(finding)
    return _of_shift(finding, words)


def _of_certain(f: Finding, words: Words) -> str:
    """Return the sentence of outcomes that a score of 0 or 1 excludes."""
    outcome = "an event" if words == "events" else "a hit"
    unlikely, what = (f.rows - f.hits, "without") if f.high == 1.0 else (f.hits, "with")
    return f"{CERTAIN} {_score(f.high)}: {unlikely} of {f.rows} rows {what} {outcome}"


def _of_atom(f: Finding, words: Words) -> str:
    """Return the sentence of one wrong score."""
    events = words == "events"
    rate = f"{100 * f.rate:.0f} % {words}"
    misses = f.rows - f.hits
    if f.low == 1.0 or (misses and rate.startswith("100 ")):  # 100 % would hide them
        rate = f"{misses} {'without an event' if events else 'misses'}"
    elif f.hits and rate.startswith("0 "):
        rate = f"{f.hits} {words}"
    stated = "with a risk of" if events else "scored"
    return f"rows {stated} exactly {_score(f.low)}: {rate} ({f.rows} rows, {SEARCHED})"


def _of_interval(f: Finding, words: Words) -> str:
    """Return the sentence of a wrong interval of scores, or of a shape that is clearest there."""
    ends = dict.fromkeys((_score(f.low), _score(f.high)))  # one score is named once
    who = "risks" if words == "events" else "scores"
    scores = f"{who} {'–'.join(ends)} ({f.rows} rows, {SEARCHED})"
    points, is_low = f"{abs(100 * f.gap):.1f} points", int(f.gap < 0)
    if f.kind == "shape":
        return f"{SHAPE}: most clearly at {scores}, {points} {HEIGHT[is_low]}"
    verb = "have events" if words == "events" else "hit"
    return f"{scores} {verb} {points} {FREQUENCY[is_low]} than they say"


def _of_slope(f: Finding) -> str:
    """Return the sentence of a slope."""
    assert f.slope is not None
    slope = "slope without limit" if np.isinf(f.slope) else f"slope {f.slope:z.2f}"
    return f"{ORDER if f.is_reversed else SPREAD[int(f.slope >= 1)]} ({slope})"


def _of_shift(f: Finding, words: Words) -> str:
    """Return the sentence of a gap of all rows."""
    low, high = sorted(100 * np.copysign(1.0, f.gap) * end for end in (f.gap_low, f.gap_high))
    digits, is_low = digits_of(f.gap_high - f.gap_low), int(f.gap <= 0)
    gap, low, high = (f"{x:z.{digits}f}" for x in (abs(100 * f.gap), low, high))
    what = f"risks {HEIGHT[is_low]}" if words == "events" else SURENESS[is_low]
    return f"{what} by {gap} points ({low} to {high}) on average"


def digits_of(width: float) -> int:
    """Return the decimals, in percent, of the ends of an interval so wide."""
    return min(max(math.ceil(-math.log10(width)) - 1, 1), 6) if width > 0 else 1


def _score(score: float) -> str:
    """Return a score as text, .85 or 1: three decimals, more near 1 and 0."""
    decimals = 3
    while decimals < 6 and 0 < score < 1 and min(score, 1 - score) < 5 * 10.0**-(decimals):
        decimals += 1
    text = f"{score:.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).removeprefix("0") or "0"
