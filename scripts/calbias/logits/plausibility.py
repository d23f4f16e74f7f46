"""Warn, in one line each, of what is legal in a user's logits but looks like a mistake."""

import hashlib
import warnings

import numpy as np
from scipy.stats import binom

MANY_ONES = 0.05
"""The fraction of scores equal to 1 from which on a warning is given."""
_ENOUGH = 10
_BY_CHANCE = 1e-3
_MEND = "; check the file"


def warn_of_whole_numbers(path, folds):
    """Warn of a column of logits that holds whole numbers while others do not: often the label.

    ``folds`` are arrays of shape (n, K). A constant column is no label, and logits that are whole
    numbers throughout are quantised.
    """
    whole = np.all([np.all(values == np.rint(values), axis=0) for values in folds], axis=0)
    low = np.min([values.min(axis=0) for values in folds], axis=0)
    high = np.max([values.max(axis=0) for values in folds], axis=0)
    if not whole.all():
        for column in np.flatnonzero(whole & (low < high)):
            warnings.warn(
                f"{path}: column {column} (counted from 0) of the logits holds whole numbers "
                f"from {low[column]:g} to {high[column]:g}: is it the label?",
                stacklevel=2,
            )


def warn_of_chance(path, fold, top, n_classes):
    """Warn of a ``TopLabel`` whose hits chance, 1/K, could well give: P(as many or more) > 0.1 %.

    Fewer than ten samples are too few to tell.
    """
    n, hits, chance = len(top.hit), int(top.hit.sum()), 1 / n_classes
    if n >= _ENOUGH and binom.sf(hits - 1, n, chance) > _BY_CHANCE:
        warnings.warn(
            f"{path}: {fold} accuracy {100 * hits / n:.1f} % is at chance "
            f"({100 * chance:.1f} %): are labels and classes in the same order?",
            stacklevel=2,
        )


def warn_of_one_outcome(path, fold, top):
    """Warn if all samples of a ``TopLabel`` are hits, or none is: no curve can be fitted."""
    if top.hit.all() or not top.hit.any():
        every = f"all {len(top.hit)} {fold} samples are {'hits' if top.hit.all() else 'misses'}"
        warnings.warn(
            f"{path}: {every}: no calibration curve can be fitted, and bias and spread of an "
            "estimate cannot be told; give more samples",
            stacklevel=2,
        )


def warn_of_ones(path, fold, ones):
    """Warn if many scores are exactly 1; ``ones`` is a boolean per row."""
    if ones.mean() > MANY_ONES:
        warnings.warn(
            f"{path}: {100 * ones.mean():.1f} % of the {fold} scores are exactly 1: the model's "
            "confidence was rounded away; give logits, or probabilities with more digits",
            stacklevel=2,
        )


def warn_of_repeats(path, validation, test):
    """Warn of rows that occur twice within a fold and of rows that occur in both."""
    rows = {"validation": _digests(validation), "test": _digests(test)}
    for fold, digests in rows.items():
        n_repeated = len(digests) - len(set(digests))
        if n_repeated:
            warnings.warn(
                f"{path}: {n_repeated} of {len(digests)} {fold} rows repeat another one{_MEND}",
                stacklevel=2,
            )
    in_both = set(rows["validation"])
    n_shared = sum(digest in in_both for digest in rows["test"])
    if n_shared:
        warnings.warn(
            f"{path}: {n_shared} of {len(rows['test'])} test rows are validation rows too: "
            "fits on one fold are then judged on themselves",
            stacklevel=2,
        )


def _digests(logits):
    return [hashlib.blake2b(row, digest_size=16).digest() for row in np.ascontiguousarray(logits)]
