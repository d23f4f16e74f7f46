"""Warnings, one line each, of legal outputs that look like a mistake."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from shlex import quote
from typing import NamedTuple

import numpy as np
from scipy.special import bdtrc, softmax

from calbias.reading.output_file import Fold
from calbias.reading.top_label import TopLabel, share_ties, top_label
from calbias.reading.words import words_of

FEW_VALUES = 20
"""So few distinct scores were chosen, as by words or by the leaves of a tree, and not rounded."""
GIVEN = "given"
_MANY_ONES, _SINGLE = 0.05, 1e-6
_ENOUGH = 10
_BY_CHANCE, _NEVER = 1e-3, 1e-6
_IDS = {
    each + s
    for each in (
        *("id", "uuid", "patient", "subject", "user", "customer", "question", "item", "game"),
        *("match", "session", "document", "author", "speaker", "image", "case", "cluster"),
        *("family", "hospital", "site", "benchmark", "dataset", "person", "player"),
    )
    for s in ("", "s")
}  # fmt: skip
_OUTCOMES, _EVENTS = ("misses", "hits"), ("non-events", "events")


def of_logits(
    raw: Mapping[str, Fold], logits: Mapping[str, Fold], probabilities: bool
) -> Iterator[str]:
    """Yield the doubts about folds as they were read, and as logits."""
    if probabilities:
        yield "the values are probabilities; their logarithms serve as logits"
    else:
        yield from _of_whole_numbers([fold.values for fold in raw.values()])
    tops = {
        name: share_ties(top_label(*fold), raw[name].values, fold.labels)
        for name, fold in logits.items()
    }
    yield from _of_repeats(raw, logits, tops)
    for name, fold in logits.items():
        top, label = tops[name], said_of(name, logits)
        yield from _of_chance(label, top.hit, fold.logits.shape[1])
        if fold.logits.shape[1] > 2:
            yield from _of_one_outcome(label, top.hit)
        if fold.probabilities is not None:
            remedy = "give logits, or probabilities with more digits"
            yield from _of_ones(label, fold.probabilities.max(axis=1), remedy)
        elif np.mean(top.score == 1) > _MANY_ONES:
            yield (
                f"{100 * np.mean(top.score == 1):.1f} % of the {label} scores are exactly 1: the "
                f"largest logit is {fold.logits.max():.3g}: is it on a softmax's scale?"
            )


def repeats(
    table: Mapping[str, np.ndarray], names: Sequence[str], rows: np.ndarray, outcomes: np.ndarray
) -> Iterator[str]:
    """Yield a hint for each column whose repeated values have one outcome each, beyond chance.

    ``names`` are columns that are not used, ``rows`` the judged ones and ``outcomes`` their labels
    or hits. Rows of one patient, image or question often have equal outcomes, whatever the column
    is called; ids whose outcomes differ are known by their name, and texts by ten values or more.
    """
    import pandas as pd

    outcomes = outcomes.argmax(axis=1) if outcomes.ndim == 2 and outcomes.shape[1] > 1 else outcomes
    outcomes = np.unique(np.ravel(outcomes), return_inverse=True)[1]
    shares, n_values = np.bincount(outcomes) / max(len(outcomes), 1), dict[str, int]()
    for name in names:
        column = table[name][rows]
        if column.dtype.kind not in "iuO" or not len(column):
            continue
        groups = pd.factorize(column)[0]
        sizes = np.bincount(groups + 1)[1:]  # of empty cells none
        several = sizes[sizes > 1]
        if sizes.size > len(column) / 2 or sizes.size < 2 or not several.size:
            continue
        counts = np.zeros((sizes.size, shares.size)) if sizes.size * shares.size < 1e7 else None
        if counts is not None:
            np.add.at(counts, (groups[groups >= 0], outcomes[groups >= 0]), 1)
            is_one = bool(np.all(counts.max(axis=1) == sizes))
            with np.errstate(divide="ignore"):  # of many rows it is 0
                chance = np.sum(np.log(np.sum(shares[:, None] ** several, axis=0)))
            if sizes.size >= _ENOUGH and is_one and chance < math.log(_NEVER):
                n_values[name] = sizes.size
                continue
        if _IDS & words_of(name) or (column.dtype.kind == "O" and sizes.size >= _ENOUGH):
            n_values[name] = sizes.size
    few = [name for name, count in n_values.items() if count < _ENOUGH]
    also = f"; if they start again in each {few[0]}, --cluster {quote(few[0])} too" if few else ""
    for name, count in n_values.items():
        if name not in few:
            yield (
                f"column {name} has {count} values in {len(rows)} rows: if rows of one value "
                f"depend on each other, name it by --cluster {quote(name)}{also}"
            )


def of_two_classes(fold: str, top: TopLabel, is_event: bool) -> Iterator[str]:
    """Yield the doubts about the predicted class of two, or about the event of class 1."""
    yield from _of_one_outcome(fold, top.hit, _EVENTS if is_event else _OUTCOMES)
    if is_event:
        yield from of_event(fold, top)


def of_scores(
    folds: Mapping[str, TopLabel], is_event: bool = False, is_log: bool = False
) -> Iterator[str]:
    """Yield the doubts about ``{fold: TopLabel}`` of top-label scores, or of an event's.

    Of a log calbias itself made the columns: there is no doubt about these.
    """
    for name, top in folds.items():
        label = said_of(name, folds)
        yield from _of_one_outcome(label, top.hit, _EVENTS if is_event else _OUTCOMES)
        yield from _of_ones(label, top.score, "give scores with more digits, or logits")
        if not is_log:
            yield from of_event(label, top) if is_event else _of_order(label, top)


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
    is_whole = np.all([np.all(values == np.rint(values), axis=0) for values in folds], axis=0)
    low = np.min([values.min(axis=0) for values in folds], axis=0)
    high = np.max([values.max(axis=0) for values in folds], axis=0)
    if not is_whole.all():
        for column in np.flatnonzero(is_whole & (low < high)):
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


def _of_ones(fold: str, scores: np.ndarray, remedy: str) -> Iterator[str]:
    """Warn of many scores of exactly 1 where others are as near to 1 as single precision allows.

    Scores of 1 are a forest's own, and in half precision a network's nearest score is far from 1.
    """
    ones, below = scores >= 1, scores[scores < 1]
    if ones.mean() > _MANY_ONES and below.size and 1 - below.max() < _SINGLE:
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
    below = top.score < 0.5
    if np.sum(below) >= _ENOUGH and _clearly_positive(folded) and _falls(top, below):
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


def _falls(top: TopLabel, rows: np.ndarray) -> bool:
    """Return whether, of these rows, those of higher scores are clearly less often hits."""
    score, hit = top.score[rows], top.hit[rows].astype(float)
    return _clearly_positive((score.mean() - score) * (hit - hit.mean()))


def _of_repeats(
    raw: Mapping[str, Fold], logits: Mapping[str, Fold], tops: Mapping[str, TopLabel]
) -> Iterator[str]:
    """Warn of rows that occur twice within a fold and of rows that occur in both.

    Rows of a forest, or of a network in half precision, are often equal by chance, and then their
    labels differ now and then. A warning needs equal labels throughout that chance hardly gives.
    """
    rows = {name: _rows_of(raw[name], logits[name], tops[name]) for name in logits}
    for fold, each in rows.items():
        n, n_distinct = len(each.digest), np.unique(each.digest).size
        if n_distinct < n and not _may_be_chance([each]):
            yield f"{n - n_distinct} of {n} {fold} rows repeat another one; check the file"
    if "validation" in rows:
        is_shared = np.isin(rows["test"].digest, rows["validation"].digest)
        if is_shared.any() and not _may_be_chance([*rows.values()]):
            yield (
                f"{is_shared.sum()} of {is_shared.size} test rows are validation rows too: fits on "
                "one fold are then judged on themselves"
            )


class _Rows(NamedTuple):
    """A digest of each row without its label, the label, the logits, and the fold's accuracy."""

    digest: np.ndarray
    label: np.ndarray
    logits: np.ndarray
    accuracy: np.ndarray


def _rows_of(raw: Fold, fold: Fold, top: TopLabel) -> _Rows:
    keys = [b""] * len(raw.values) if raw.key is None else [*map(bytes, raw.key[:, None])]
    digests = [
        hashlib.blake2b(row, digest_size=8, key=key).digest()
        for row, key in zip(np.ascontiguousarray(raw.values), keys, strict=True)
    ]
    accuracy = np.full(len(digests), top.hit.mean())
    return _Rows(np.frombuffer(b"".join(digests), np.uint64), fold.labels, fold.logits, accuracy)


def _may_be_chance(folds: Sequence[_Rows]) -> bool:
    """Return whether different rows could be as equal as these, by their labels."""
    digest, label, logits, accuracy = map(np.concatenate, zip(*folds, strict=True))
    _, first, group = np.unique(digest, return_index=True, return_inverse=True)
    if first.size <= FEW_VALUES:
        return True
    size = np.bincount(group)
    in_last = np.bincount(group[-len(folds[-1].digest) :], minlength=size.size)
    is_equal = (in_last > 0) & (in_last < size) if len(folds) > 1 else size > 1
    if np.any(is_equal[group] & (label != label[first[group]])):
        return True
    first, size = first[is_equal], size[is_equal]
    by_class = np.sum(softmax(logits[first].astype(float), axis=1) ** size[:, None], axis=1)
    by_accuracy = accuracy[first] ** size + (1 - accuracy[first]) ** size
    return bool(np.sum(np.log(np.maximum(by_class, by_accuracy))) > math.log(_BY_CHANCE))
