"""What numbers can be: probabilities, percentages, counts, decimal odds or logits.

Rows of classes are told apart by what is possible. Percentages are at least 0 and sum to about 100,
also where each was rounded or a bookmaker added a margin. Counts are whole numbers of at least 0.
The inverses of odds sum to about 1. Values with a negative one, and all others, are logits. Some
numbers have two possible forms: every reading is named in a note, and the user may choose another.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from calbias.defaults import COUNTS, FORMS, LOGITS, ODDS, PERCENT, PROBABILITIES
from calbias.engine.scores_and_hits import EXCESS
from calbias.reading.output_file import Fold, Place
from calbias.reading.top_label import row_blocks

SUM_TOLERANCE = 5e-3
"""How far a row of probabilities may sum from 1: float32 is 1e-6 off and float16 6e-4, but ten
classes written with three decimals up to 5e-3."""
MARGIN = 0.15
"""How far rounding, or a bookmaker, may move a sum of shares: the sum divides the row."""
_MOSTLY, _STEADY = 0.9, 0.2
_NAMES = {PERCENT: "percentages", ODDS: "decimal odds"}


def form_of(values: np.ndarray) -> str | None:
    """Return what the rows (n, K) of finite numbers can be, by nine of ten; None if undecided."""
    low, high = values.min(axis=1), values.max(axis=1)
    sums = values.sum(axis=1, dtype=np.float64)
    if _most((low >= 0) & (high <= 1 + EXCESS)) or _most(np.abs(sums - 1) <= SUM_TOLERANCE):
        return PROBABILITIES
    if not _most(low >= 0):
        return LOGITS
    positive, is_near = values[low >= 0], _is_near(sums, 100)
    if _most(is_near) and _is_shared(values[is_near]):
        return PERCENT
    if all((positive[rows] == np.rint(positive[rows])).all() for rows in row_blocks(positive)):
        return COUNTS
    inverse = 1 / np.maximum(positive, 1e-9)
    if _most(low > 1) and _most(_is_near(inverse.sum(axis=1), 1)) and _is_shared(inverse):
        return ODDS
    return None if _most(np.abs(sums / np.median(sums) - 1) <= SUM_TOLERANCE) else LOGITS


def _most(rows: np.ndarray) -> bool:
    return bool(rows.mean() >= _MOSTLY)


def _is_near(sums: np.ndarray, total: float) -> np.ndarray:
    return np.abs(sums / total - 1) <= MARGIN


def _is_shared(values: np.ndarray) -> bool:
    """Return whether classes lack what another one of the row has: the sums hardly vary."""
    variance = values.var(axis=0, dtype=np.float64).sum()
    return bool(values.sum(axis=1, dtype=np.float64).var() <= _STEADY * variance)


def common_form(folds: Sequence[Fold]) -> str:
    """Return the form of all folds; InputError where rows or folds have two, or none is sure."""
    forms = [form_of(fold.values) for fold in folds]
    for fold, form in zip(folds, forms, strict=True):
        if form is None:
            total = float(np.median(fold.values.sum(axis=1, dtype=np.float64)))
            raise fold.place.error(
                f"no value is negative and rows sum to {total:.6g}: --values counts divides each "
                "row by its sum, --values logits takes the values as logits"
            )
        if form in (PROBABILITIES, LOGITS):
            _validate_one_form(fold)
    if len({*forms}) > 1:
        k = int(forms[1] == LOGITS)
        raise folds[k].place.error(
            f"{_named(str(forms[k]))}, but {folds[1 - k].place.part} has "
            f"{_named(str(forms[1 - k]))}; give both folds the same"
        )
    return str(forms[0])


def _validate_one_form(fold: Fold) -> None:
    """Raise InputError where some rows are probabilities and some cannot be."""
    values = fold.values
    is_outside = ((values < 0) | (values > 1 + EXCESS)).any(axis=1)
    is_inside = np.abs(values.sum(axis=1, dtype=np.float64) - 1) <= SUM_TOLERANCE
    is_inside &= ~is_outside
    if min(is_inside.mean(), is_outside.mean()) > 1 - _MOSTLY:
        row, other = int(np.argmax(is_inside)), int(np.argmax(is_outside))
        raise fold.place.error(
            f"this row has probabilities and row {other} has logits; give all rows one form", row
        )


def as_probabilities(values: np.ndarray, form: str, location: Place) -> tuple[np.ndarray, str]:
    """Return rows (n, K) that sum to 1, and a note on how they were read.

    Probabilities are returned as they are where all rows sum to 1 within ``SUM_TOLERANCE``.
    """
    if form == PROBABILITIES:
        return _divided_if_rounded(values, location)
    location.validate_rows(
        np.all(values >= 0, axis=1) & (values.sum(axis=1, dtype=np.float64) > 0),
        lambda row: f"{_named(form)} cannot be {values[row].min():g}; {_CHOOSE}",
    )
    if form == ODDS:
        location.validate_rows(
            np.all(values > 1, axis=1),
            lambda row: f"decimal odds cannot be {values[row].min():g}; {_CHOOSE}",
        )
        values = 1 / values.astype(np.float64)
    sums = values.sum(axis=1, dtype=np.float64)
    if form != COUNTS:
        total = 100.0 if form == PERCENT else 1.0
        location.validate_rows(
            _is_near(sums, total),
            lambda row: (
                f"{_named(form)}{' (inverted)' * (form == ODDS)} sum to {sums[row]:.6g}, not to "
                f"about {total:g}; correct the row, or {_CHOOSE}"
            ),
        )
    return _divided(values, sums, form)


_CHOOSE = f"say by --values what they are ({', '.join(FORMS)})"


def _divided_if_rounded(values: np.ndarray, location: Place) -> tuple[np.ndarray, str]:
    """Return probabilities; rows whose sums rounding or a margin moved are divided by these."""
    sums = values.sum(axis=1, dtype=np.float64)
    is_off = np.abs(sums - 1) > SUM_TOLERANCE
    if _most(~is_off) or not _most(_is_near(sums, 1)):
        check_range(values, location)
    if not is_off.any():
        return values, "the columns of classes are read as probabilities: rows sum to 1"
    limit = max(SUM_TOLERANCE, _step(values) * values.shape[1] / 2) * (1 + EXCESS)
    limit = limit if _most(~is_off) else MARGIN
    location.validate_rows(
        np.abs(sums - 1) <= limit,
        lambda row: (
            f"probabilities sum to {sums[row]:.6g}, not 1; normalise the row, write more digits, "
            f"or {_CHOOSE}"
        ),
    )
    return _divided(values, sums, PROBABILITIES)


def _divided(values: np.ndarray, sums: np.ndarray, form: str) -> tuple[np.ndarray, str]:
    """Return rows divided by their sums, and a note that says so."""
    low, high = f"{sums.min():.4g}", f"{sums.max():.4g}"
    limits = low if low == high else f"{low} to {high}"
    return values / sums[:, None], (
        f"the columns of classes are read as {_named(form)}: rows sum to {limits}, and each is "
        f"divided by its sum; otherwise {_CHOOSE}"
    )


def check_range(values: np.ndarray, location: Place) -> None:
    """Raise InputError, with the row, where a probability is not in [0, 1]."""
    location.validate_rows(
        np.all((values >= 0) & (values <= 1 + EXCESS), axis=1),
        lambda row: (
            f"{max(values[row], key=lambda p: abs(p - 0.5))} is not a probability; give values in "
            "[0, 1]" + ": divide percentages by 100" * (form_of(values) == PERCENT)
        ),
    )


def _step(values: np.ndarray) -> float:
    """Return the coarsest decimal step that all values are multiples of, 0 below 0.0001."""
    for digits in (1, 2, 3, 4):
        scaled = values.astype(np.float64) * 10.0**digits
        if np.abs(scaled - np.rint(scaled)).max() < 1e-3:
            return 10.0**-digits
    return 0.0


def _named(form: str) -> str:
    return _NAMES.get(form, form)


def as_scores(values: Any, form: str | None, error: Any) -> Any:
    """Return a column of scores (n,) as probabilities, of the form that the user names."""
    values = np.asarray(values)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.dtype.kind not in "iuf" or not values.size or values.ndim != 1:
        return values
    numbers = values.astype(np.float64)
    if form is None:
        if problem := _not_probabilities(numbers):
            row = int(np.argmin((numbers >= 0) & (numbers <= 1 + EXCESS)))
            raise error(f"score {numbers[row]:g} is not a probability: {problem}", row)
        return values
    if form == COUNTS:
        raise error("--values counts needs a column per class, not one score")
    if form == PROBABILITIES:
        return values
    low, high = {PERCENT: (0, 100), ODDS: (1, np.inf), LOGITS: (-np.inf, np.inf)}[form]
    bad = ~((numbers >= low) & (numbers <= high * (1 + EXCESS)))
    if bad.any():
        row = int(np.argmax(bad))
        raise error(f"score {numbers[row]:g} is not one of {_named(form)}; correct it", row)
    if form == PERCENT:
        return np.minimum(numbers / 100, 1.0)
    return 1 / numbers if form == ODDS else expit(numbers)


def _not_probabilities(scores: np.ndarray) -> str:
    """Return the option that scores outside [0, 1] need, in words, if most of them need one."""
    low, high = float(scores.min()), float(scores.max())  # NaN where one is
    is_outside = (scores < 0) | (scores > 1 + EXCESS)
    if low >= 0 and 1.1 < high <= 100 and is_outside.mean() > 0.5:
        return "--values percent divides percentages by 100"
    if -np.inf < low < -0.1 and high > 0 and np.isfinite(high) and is_outside.mean() > 0.6:
        return "--values logits takes 1/(1 + exp(-score)) of the logits of two classes"
    return ""
