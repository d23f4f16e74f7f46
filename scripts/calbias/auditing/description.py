"""What was read, in numbers and in warnings."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from calbias.auditing.inputs import EVENT, Data
from calbias.auditing.sample import Sample
from calbias.logits import plausibility

FEWEST_OF_EACH = 5  # hits and misses
_HARMLESS = ("no validation fold", "the values are probabilities")  # here, not in the workflow
_FEW, _COMMON = 200, 0.05

Description = dict[str, str | int | float | None]


def description_of(data: Data) -> Description:
    """Return what was read."""
    scores, hits = data.sample.scores, data.sample.hits

    def mean(values: np.ndarray) -> float:
        return float(np.mean(values))

    return {
        "form": data.form,
        "n_classes": data.n_classes,
        "accuracy": mean(hits),
        "mean_score": mean(scores),
        "mean_gap": mean(scores) - mean(hits),
        "mean_gap_se": float(np.sqrt(mean(scores * (1 - scores)) / scores.size)),
        "brier": mean((hits - scores) ** 2),
        **ties_of(scores),
        "scores_of_one": float(np.mean(scores == 1)),
    }


def ties_of(scores: np.ndarray) -> Description:
    """Return the number of distinct scores and the fraction of rows with the commonest."""
    counts = np.unique(scores, return_counts=True)[1]
    return {"n_distinct_scores": len(counts), "largest_atom": float(counts.max() / len(scores))}


def is_determined(sample: Sample) -> bool:
    """Return whether the hits determine a curve: five of each outcome, and not separated."""
    hits = int(sample.hits.sum())
    return min(hits, sample.n - hits) >= FEWEST_OF_EACH and not is_separated(sample)


def is_separated(sample: Sample) -> bool:
    """Return whether a threshold separates the hits from the misses, one outcome below it."""
    changes = np.count_nonzero(sample.hits[1:] != sample.hits[:-1])
    return changes == 1


def warnings_of(data: Data, description: Description) -> tuple[str, ...]:
    """Return what limits the conclusions, one sentence each."""
    sample = data.sample
    doubts: Iterable[str] | None = data.warnings
    if doubts is None:
        n_classes = None if data.kind == EVENT else data.n_classes
        doubts = plausibility.of_arrays(sample.top_label, n_classes)
    texts = [*sentences(doubts)]
    n, hits = sample.n, int(sample.hits.sum())
    outcomes = ("Events", "non-events") if data.kind == EVENT else ("Hits", "misses")
    if 0 < min(hits, n - hits) < FEWEST_OF_EACH:
        texts.append(
            f"{outcomes[0]}: {hits}, {outcomes[1]}: {n - hits}; the calibration curve is uncertain."
        )
    if is_separated(sample) and sample.scores.min() < sample.scores.max():
        texts.append(
            f"A threshold of the score separates {outcomes[0].lower()} from {outcomes[1]}: the "
            "calibration curve is not determined."
        )
    atom, ones = (float(description[key] or 0) for key in ("largest_atom", "scores_of_one"))
    if atom > max(_COMMON, 1 / n) and ones <= _COMMON:
        texts.append(f"{100 * atom:.1f} % of the rows share one score.")
    if n < _FEW:
        texts.append(f"{n} rows are few: expect a wide interval.")
    return tuple(texts)


def sentences(texts: Iterable[str]) -> Iterable[str]:
    """Yield the warnings of a reader as sentences, without those that do not concern an audit."""
    for text in texts:
        if not any(harmless in text for harmless in _HARMLESS):
            yield f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(("?", ".")) else ".")
