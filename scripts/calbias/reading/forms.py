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


def forms_of(values: np.ndarray) -> list[str]:
    """Return what rows (n, K) of finite numbers can be by definition: one form, or several.

    Fractions are probabilities, whatever they sum to: rows that are none are errors later. Numbers
    of at least 0 that sum to 85 to 115 in all rows are percentages. A negative number makes logits.
    Whole numbers may also be counts, and numbers above 1 whose inverses sum to about 1 odds.
    """
    if not values.size or not np.isfinite(values).all():
        return [form_of(values)] if values.size else [PROBABILITIES]
    low, sums = values.min(axis=1), values.sum(axis=1, dtype=np.float64)
    is_inside = (low >= 0) & (values.max(axis=1) <= 1 + EXCESS)
    if _most(is_inside) or _most(np.abs(sums - 1) <= SUM_TOLERANCE):
        return [PROBABILITIES]
    if (low < 0).any():
        return [LOGITS]
    if _is_near(sums, 100).all():
        return [PERCENT]
    if all((values[rows] == np.rint(values[rows])).all() for rows in row_blocks(values)):
        return [COUNTS, LOGITS]
    if (low > 1).all() and _most(_is_near((1 / np.maximum(values, 1)).sum(axis=1), 1)):
        return [ODDS, LOGITS]
    is_steady = _most(np.abs(sums / np.median(sums) - 1) <= SUM_TOLERANCE)
    return [COUNTS, LOGITS] if is_steady else [LOGITS]


def form_of(values: np.ndarray) -> str:
    """Return what the rows (n, K) of an array are, where nobody can be asked: the first form."""
    return forms_of(values)[0] if np.isfinite(values).all() else LOGITS


def _most(rows: np.ndarray) -> bool:
    return bool(rows.mean() >= _MOSTLY)


def _is_near(sums: np.ndarray, total: float) -> np.ndarray:
    return np.abs(sums / total - 1) <= MARGIN


def common_form(folds: Sequence[Fold]) -> str:
    """Return the form of all folds; InputError where rows or folds have two, or none is sure."""
    forms = [forms_of(fold.values) for fold in folds]
    for fold, fold_forms in zip(folds, forms, strict=True):
        if len(fold_forms) > 1:
            totals = fold.values.sum(axis=1)
            sums = " to ".join(dict.fromkeys(f"{x:.6g}" for x in (totals.min(), totals.max())))
            raise fold.place.error(
                f"no value is negative and rows sum to {sums}: --values {fold_forms[0]} divides "
                f"each {'row by its sum' if fold_forms[0] == COUNTS else 'inverse by that sum'}, "
                "--values logits takes the values as logits"
            )
        validate_one_form(fold, fold_forms[0])
    if len({*(fold_forms[0] for fold_forms in forms)}) > 1:
        k = int(forms[1][0] == LOGITS)
        raise folds[k].place.error(
            f"{_named(forms[k][0])}, but {folds[1 - k].place.part} has "
            f"{_named(forms[1 - k][0])}; give both folds the same"
        )
    return forms[0][0]


def validate_one_form(fold: Fold, form: str) -> None:
    """Raise InputError where some rows, or all, are probabilities and others are logits."""
    values = fold.values
    if form not in (PROBABILITIES, LOGITS):
        return
    is_outside = ((values < 0) | (values > 1 + EXCESS)).any(axis=1)
    is_inside = np.abs(values.sum(axis=1, dtype=np.float64) - 1) <= SUM_TOLERANCE
    is_inside &= ~is_outside
    if form == LOGITS and is_inside.mean() >= _MOSTLY:
        raise fold.place.error("probabilities, but other rows are logits; give all rows one form")
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
        if is_mixture(numbers):
            row = int(np.argmax((numbers > 0) & (numbers < 1)))
            raise error(
                f"score {numbers[row]:g} is a fraction beside whole percentages: write all scores "
                "as fractions, or all as percentages", row,
            )  # fmt: skip
        return np.minimum(numbers / 100, 1.0)
    return 1 / numbers if form == ODDS else expit(numbers)


def _not_probabilities(scores: np.ndarray) -> str:
    """Return the option that scores outside [0, 1] need, in words, or why none can be."""
    low, high = float(scores.min()), float(scores.max())  # NaN where one is
    is_outside = (scores < 0) | (scores > 1 + EXCESS)
    if low >= 0 and 10 < high <= 100 and is_mixture(scores):
        return "some scores are fractions and some percentages: write all in one form"
    if low >= 0 and 10 < high <= 100 and is_outside.mean() > 0.5:
        return "--values percent divides percentages by 100"
    if low >= 0 and high <= 10 and is_outside.mean() > 0.5 and np.all(scores == np.rint(scores)):
        return f"{low:g} to {high:g} is a scale: give the probability that each grade stands for"
    if -np.inf < low < -0.1 and high > 0 and np.isfinite(high) and is_outside.mean() > 0.6:
        return "--values logits takes 1/(1 + exp(-score)) of the logits of two classes"
    return ""


def is_mixture(scores: np.ndarray) -> bool:
    """Return whether all numbers above 1 are whole, and some below are fractions of more than 1 %.

    Percentages with a decimal have one above 1 too.
    """
    above, below = scores[scores > 1], scores[(scores > 0) & (scores < 1)]
    return bool(above.size and below.size and np.all(above == np.rint(above)))
