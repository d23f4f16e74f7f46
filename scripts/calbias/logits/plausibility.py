"""Warnings, one line each, of legal outputs that look like a mistake."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sized

import numpy as np
from scipy.special import bdtrc

from calbias.logits.output_file import Fold
from calbias.logits.top_label import TopLabel, top_label

MANY_ONES = 0.05
"""The fraction of scores equal to 1 from which on a warning is given."""
FEW_VALUES = 20
"""So few distinct scores were chosen, as by words or by the leaves of a tree, and not rounded."""
GIVEN = "given"
_ENOUGH = 10
_BY_CHANCE = 1e-3
_OUTCOMES, _EVENTS = ("misses", "hits"), ("non-events", "events")


def of_logits(
    raw: Mapping[str, Fold], logits: Mapping[str, Fold], probabilities: bool
) -> Iterator[str]:
    """Yield the doubts about folds as they were read, and as logits."""
    if probabilities:
        yield "the values are probabilities; their logarithms serve as logits"
    else:
        yield from _of_whole_numbers([fold.values for fold in raw.values()])
    yield from _of_repeats({name: fold.logits for name, fold in logits.items()})
    for name, fold in logits.items():
        top, said = top_label(*fold), said_of(name, logits)
        yield from _of_chance(said, top.hit, fold.logits.shape[1])
        yield from _of_one_outcome(said, top.hit)
        if probabilities:
            ones = raw[name].values.max(axis=1) >= 1
            yield from _of_ones(said, ones, "give logits, or probabilities with more digits")
        else:
            largest = f"the largest logit is {fold.logits.max():.3g}"
            yield from _of_ones(said, top.score == 1, f"{largest}: is it on a softmax's scale?")


def of_scores(
    folds: Mapping[str, TopLabel], is_event: bool = False, is_log: bool = False
) -> Iterator[str]:
    """Yield the doubts about ``{fold: TopLabel}`` of top-label scores, or of an event's.

    Of a log calbias itself made the columns: there is no doubt about these.
    """
    for name, top in folds.items():
        said = said_of(name, folds)
        yield from _of_one_outcome(said, top.hit, _EVENTS if is_event else _OUTCOMES)
        if np.unique(top.score).size > FEW_VALUES:
            yield from _of_ones(said, top.score == 1, "give scores with more digits, or logits")
        if not is_log:
            yield from of_event(said, top) if is_event else _of_order(said, top)


def of_arrays(top: TopLabel, n_classes: int | None = None, is_event: bool = False) -> Iterator[str]:
    """Yield the doubts about the ``TopLabel`` of a user's arrays, of n_classes if known."""
    yield from of_scores({GIVEN: top}, is_event)
    if n_classes:
        yield from _of_chance(GIVEN, top.hit, n_classes)


def said_of(fold: str, folds: Sized) -> str:
    """Return the name of a fold in a warning; the rows of a file without folds are given rows."""
    return fold if len(folds) > 1 else GIVEN


def of_event(fold: str, top: TopLabel) -> Iterator[str]:
    """Warn of probabilities of an event (n,) that the other class's, or none, would beat clearly.

    Clearly is a paired difference of three standard errors.
    """
    p, event = top.score, top.hit.astype(float)
    if min(event.sum(), (1 - event).sum()) < _ENOUGH:
        return
    if _clearly_positive((event - p) ** 2 - (event - (1 - p)) ** 2):
        yield (
            f"1 - p fits the {fold} events better than p: is the score the probability of the "
            "other class, or are the labels reversed?"
        )
        return
    common = event.mean() > 0.5
    loss = (event == common).astype(float) - (event == (p > 0.5))
    tells = (event - event.mean()) * (p - p.mean())  # an overfitted model tells events apart
    if _clearly_positive(loss) and not _clearly_positive(tells):
        yield (
            f"{fold} accuracy at a threshold of 1/2 is {100 * np.mean(event == (p > 0.5)):.1f} %, "
            f"below the base rate {100 * np.mean(event == common):.1f} %: is the score the "
            "probability of class 1?"
        )


def _clearly_positive(differences: np.ndarray) -> bool:
    error = differences.std() / np.sqrt(len(differences))
    return bool(differences.mean() > 3 * error)


def _of_whole_numbers(folds: Iterable[np.ndarray]) -> Iterator[str]:
    """Warn of a column of whole numbers while others are none: often the label."""
    whole = np.all([np.all(values == np.rint(values), axis=0) for values in folds], axis=0)
    low = np.min([values.min(axis=0) for values in folds], axis=0)
    high = np.max([values.max(axis=0) for values in folds], axis=0)
    if not whole.all():
        for column in np.flatnonzero(whole & (low < high)):
            yield (
                f"column {column} (counted from 0) of the logits holds whole numbers from "
                f"{low[column]:g} to {high[column]:g}: is it the label?"
            )


def _of_chance(fold: str, hit: np.ndarray, n_classes: int) -> Iterator[str]:
    """Warn where chance, 1/K, could well give the hits: P(as many or more) > 0.1 %."""
    n, hits, chance = len(hit), int(hit.sum()), 1 / n_classes
    if n >= _ENOUGH and bdtrc(hits - 1, n, chance) > _BY_CHANCE:
        yield (
            f"{fold} accuracy {100 * hits / n:.1f} % is at chance ({100 * chance:.1f} %): are "
            "labels and classes in the same order?"
        )


def _of_one_outcome(
    fold: str, hit: np.ndarray, outcomes: tuple[str, str] = _OUTCOMES
) -> Iterator[str]:
    """Warn if all samples are hits, or none is: no curve can be fitted."""
    if hit.all() or not hit.any():
        yield (
            f"all {len(hit)} {fold} samples are {outcomes[int(hit.all())]}: they show how far the "
            "scores are off on average, and not the shape of a calibration curve"
        )


def _of_ones(fold: str, ones: np.ndarray, remedy: str) -> Iterator[str]:
    if ones.mean() > MANY_ONES:
        yield (
            f"{100 * ones.mean():.1f} % of the {fold} scores are exactly 1: the model's confidence "
            f"was rounded away; {remedy}"
        )


def _of_order(fold: str, top: TopLabel) -> Iterator[str]:
    """Warn if misses have clearly higher scores, or scores below 1/2 look like 1 - confidence."""
    hits, misses = top.score[top.hit == 1], top.score[top.hit == 0]
    if not len(misses):
        return
    folded = (top.hit - top.score) ** 2 - (top.hit - np.maximum(top.score, 1 - top.score)) ** 2
    if np.sum(top.score < 0.5) >= _ENOUGH and _clearly_positive(folded):
        yield (
            f"{fold} rows with a score below 1/2 are hits more often than they say, as if score "
            "were the probability of class 1 and hit a correct prediction: if so, give the columns "
            "label (0 or 1) and score"
        )
        return
    if min(len(hits), len(misses)) < _ENOUGH:
        return
    error = np.sqrt(hits.var() / len(hits) + misses.var() / len(misses))
    if misses.mean() - hits.mean() > max(3 * error, 1e-9):  # not of rounding, at one score
        yield (
            f"{fold} hits have lower scores ({hits.mean():.3f}) than misses ({misses.mean():.3f}): "
            "is hit 1 where the prediction was correct?"
        )


def _of_repeats(folds: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Warn of rows that occur twice within a fold and of rows that occur in both."""
    rows = {name: _digests(logits) for name, logits in folds.items()}
    for fold, digests in rows.items():
        n_repeated = len(digests) - len(set(digests))
        if n_repeated:
            yield f"{n_repeated} of {len(digests)} {fold} rows repeat another one; check the file"
    in_both = set(rows.get("validation", ()))
    n_shared = sum(digest in in_both for digest in rows["test"])
    if n_shared:
        yield (
            f"{n_shared} of {len(rows['test'])} test rows are validation rows too: fits on one "
            "fold are then judged on themselves"
        )


def _digests(logits: np.ndarray) -> list[bytes]:
    return [hashlib.blake2b(row, digest_size=16).digest() for row in np.ascontiguousarray(logits)]
