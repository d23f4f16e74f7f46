"""What was read, in numbers and in warnings."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.special import ndtri, stdtrit

from calbias.auditing.data import EVENT, Data
from calbias.auditing.error.bins import binomial_limits
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.reading import plausibility
from calbias.samples.by_score import Scored, dot

FEWEST_OF_EACH = 5  # hits and misses
_HARMLESS = ("no validation fold", "the values are probabilities")  # here, not in the workflow
_FEW, _COMMON = 200, 0.05

OBSERVED_EXPECTED = "observed_expected", "observed_expected_low", "observed_expected_high"
Description = dict[str, str | int | float | None]


def description_of(data: Data, confidence_level: float = CONFIDENCE_LEVEL) -> Description:
    """Return what was read; the exact limits of the share of hits allow for clusters."""
    scored = data.scored
    s, n = scored.scores, scored.n
    gap, accuracy = float(scored.gaps.sum() / n), float(scored.hits.sum() / n)
    by_score = scored.by_score
    return {
        "form": data.form,
        "n_classes": data.n_classes,
        "accuracy": accuracy,
        **dict(
            zip(("accuracy_low", "accuracy_high"), _limits(data, confidence_level), strict=True)
        ),
        "mean_score": accuracy + gap,
        "mean_gap": gap,
        "mean_gap_se": float(np.sqrt(scored.mean(s * (1 - s)) / n)),
        **_observed_expected(data, confidence_level),
        "brier": _brier(data),
        "n_distinct_scores": None if scored.width else by_score.scores.size,
        "largest_atom": None if scored.width else float(by_score.rows.max() / n),
        "scores_of_one": scored.mean(s == 1),
    }


def _brier(data: Data) -> float:
    scored = data.scored
    if scored.seen is not None and data.outcomes:
        return data.outcomes.brier_scores(data.single.score)[0]
    return (dot(scored.rows, scored.scores**2) + dot(scored.hits, 1 - 2 * scored.scores)) / scored.n


def _limits(data: Data, level: float) -> tuple[float, float]:
    """Return the limits of the share of hits; of events, given the mean risk.

    With clusters, rows count as divided by the design effect of the sum of hits, or of the sum of
    events less risks, and Student's quantile takes the place of the normal one.
    """
    scored = data.scored
    n, hits, clusters = float(scored.n), float(scored.hits.sum()), scored.clusters
    effect = 1.0
    if clusters is not None and 0.0 < hits < n:
        rate = scored.scores[clusters.score] if data.kind == EVENT else hits / n
        gaps = clusters.hits - clusters.rows * rate
        mean, number = gaps.sum() / n, clusters.ids.size
        gaps = np.sort(np.bincount(clusters.cluster, gaps - mean * clusters.rows, number))
        rows = clusters.hits * (1.0 - rate - mean) ** 2
        rows = rows + (clusters.rows - clusters.hits) * (rate + mean) ** 2
        tail = 0.5 + 0.5 * level
        quantiles = stdtrit(scored.freedom, tail) / ndtri(tail)
        effect = number / (number - 1) * float(gaps @ gaps) / float(rows.sum())
        effect = max(effect, 1.0) * float(quantiles) ** 2
    low, high = binomial_limits(hits / effect, n / effect, level)
    return float(low), float(high)


def _observed_expected(data: Data, level: float) -> Description:
    """Return the ratio of events to expected events with its interval; nothing without events."""
    if data.kind != EVENT or not data.scored.scores.any():
        return {}
    return dict(zip(OBSERVED_EXPECTED, observed_expected(data.scored, level), strict=True))


def observed_expected(scored: Scored, level: float) -> tuple[float, float, float]:
    """Return Σy/Σs and its interval, NaN for risks of 0.

    On the log scale, with the error of the mean of y − (Σy/Σs)·s over rows, or of its sums over
    clusters with Student's quantile; without an event the exact limit of the rate over the mean
    risk.
    """
    n, events, clusters = float(scored.n), float(scored.hits.sum()), scored.clusters
    expected = dot(scored.rows, scored.scores)
    if not expected:
        return np.nan, np.nan, np.nan
    ratio, z = events / expected, float(ndtri(0.5 + 0.5 * level))
    if events <= 0.0:
        return 0.0, 0.0, float(binomial_limits(0.0, scored.seen or n, level)[1]) * n / expected
    gaps = ratio * scored.scores
    squares, number = dot(scored.hits, (1.0 - gaps) ** 2), n
    squares += dot(scored.rows - scored.hits, gaps**2)
    if clusters is not None:
        sums = clusters.hits - clusters.rows * gaps[clusters.score]
        number = clusters.ids.size
        sums = np.sort(np.bincount(clusters.cluster, sums, number))
        squares, z = float(sums @ sums), float(stdtrit(scored.freedom, 0.5 + 0.5 * level))
    if scored.seen is None or np.isfinite(scored.freedom):
        squares = squares * number / (number - 1.0)
    reach = np.exp(z * np.sqrt(squares) / events)
    return ratio, ratio / reach, ratio * reach


def is_determined(scored: Scored) -> bool:
    """Return whether the hits determine a curve: five of each outcome, and not separated."""
    return min(outcomes_seen(scored)) >= FEWEST_OF_EACH and not is_separated(scored)


def outcomes_seen(scored: Scored) -> tuple[int, int]:
    """Return how many hits and how many misses were seen."""
    if scored.seen is None or scored.clusters is None:
        hits = int(scored.hits.sum())
        return hits, scored.n - hits
    return int(scored.clusters.seen_hits.sum()), int(scored.clusters.seen_misses.sum())


def is_separated(scored: Scored) -> bool:
    """Return whether a threshold separates the hits from the misses, one outcome below it."""
    if scored.seen is not None:
        return False
    first, last = scored.hits == scored.rows, scored.hits > 0  # of a score, misses before hits
    return np.count_nonzero(first != last) + np.count_nonzero(last[:-1] != first[1:]) == 1


def warnings_of(data: Data, description: Description) -> tuple[str, ...]:
    """Return what limits the conclusions, one sentence each."""
    scored = data.scored
    doubts: Iterable[str] | None = data.warnings
    if doubts is None and data.rows is not None and data.outcomes is None:
        is_event = data.kind == EVENT
        doubts = plausibility.of_arrays(data.rows, None if is_event else data.n_classes, is_event)
    texts = [*sentences(doubts or ())]
    n, by_score, (hits, misses) = scored.n, scored.by_score, outcomes_seen(scored)
    outcomes = ("Events", "non-events") if data.kind == EVENT else ("Hits", "misses")
    if 0 < min(hits, misses) < FEWEST_OF_EACH:
        texts.append(
            f"{outcomes[0]}: {hits}, {outcomes[1]}: {misses}; the calibration curve is uncertain."
        )
    if is_separated(scored) and scored.scores[0] < scored.scores[-1]:
        texts.append(
            f"A threshold of the score separates {outcomes[0].lower()} from {outcomes[1]}: the "
            "calibration curve is not determined."
        )
    atom = float(description["largest_atom"] or 0)
    values = int(description["n_distinct_scores"] or n)
    commonest = float(by_score.scores[by_score.rows.argmax()])
    if np.isin(scored.scores, (0, 1)).all():
        texts.append(
            "All scores are 0 or 1: if these are predicted classes, give the model's "
            "probabilities, such as those of predict_proba."
        )
    if values == 1:
        texts.append("All rows have the same score: their mean is judged, and nothing else.")
    elif (
        atom > max(_COMMON, 1 / n)
        and 0 < commonest < 1
        and values > plausibility.FEW_VALUES
        and np.median(by_score.rows) == 1  # not of a forest, or of steps
    ):
        texts.append(
            f"{100 * atom:.1f} % of the rows share one score, {commonest:.6g}: if it is a "
            "default for rows that the model did not score, leave them out."
        )
    if scored.width:
        texts.append(
            f"{n} rows were audited in {scored.scores.size} cells of the score: accuracy, mean "
            "score and ECE are exact, and all else has scores rounded by at most "
            f"{scored.width:.1g}."
        )
    if n < _FEW:
        texts.append(f"{n} rows are few: expect a wide interval.")
    return tuple(texts)


def sentences(texts: Iterable[str]) -> Iterable[str]:
    """Yield the warnings of a reader as sentences, without those that do not concern an audit."""
    for text in texts:
        if not any(harmless in text for harmless in _HARMLESS):
            yield f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(("?", ".")) else ".")
