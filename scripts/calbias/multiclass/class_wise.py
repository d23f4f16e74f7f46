"""Every class of a model and the whole: value, noise floor, corrected value, p-value, verdict."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calbias.conventions import N_BINS, SIGNIFICANT
from calbias.errors import InputError, looked_up
from calbias.multiclass.cells import Floats
from calbias.multiclass.class_result import ClassRow, ClassWise
from calbias.multiclass.holm import findings, holm
from calbias.multiclass.noise import (
    FEWEST_REPLICATES,
    corrected,
    drawn_values,
    is_squared,
    summary,
    validate_options,
)
from calbias.multiclass.registry import MEASURES, prepared
from calbias.multiclass.rows import Rows, checked

TELLABLE_TEMPERATURE = 1.5
"""A class is too small to tell if the overconfidence of this temperature stays unnoticed in it."""
_POWER_REPLICATES = 200
_MOST_LABELS = 200_000_000  # that are drawn by default


def class_wise(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    measure: str = "classwise_ece_mean",
    n_bins: int = N_BINS,
    replicates: int | None = None,
    seed: int = 0,
) -> ClassWise:
    """Judge the probability of every class, and all of them together.

    Parameters
    ----------
    probabilities, labels, n_bins, seed
        As for ``calbias.noise_floor``; labels are needed.
    measure : str
        A measure with a value for each class, such as ``classwise_ece_mean``,
        ``classwise_l2_squared_unbiased``, or ``top_label_ece``, where the class is the predicted
        one.
    replicates : int, optional
        Number of label vectors drawn, at least 20. By default 40 K, at least 999, so that Holm's
        correction for K classes can reject; less for more than 2·10⁸ labels.

    Returns
    -------
    ClassWise
        The whole and a row for each class, with p-values of redraw tests of exact size.

    Raises
    ------
    InputError
        A ``ValueError`` of one line, for an unknown measure and input that is not of this form.

    Notes
    -----
    A class that is not found miscalibrated is *too small to tell* if its test would find a model
    whose truth is p^(2/3), normalised (temperature 1.5), with a probability of less than 80 %.

    References
    ----------
    Kull et al. (2019). Beyond temperature scaling. NeurIPS. Holm (1979). A simple sequentially
    rejective multiple test procedure. Scandinavian Journal of Statistics.

    Examples
    --------
    >>> import calbias
    >>> probabilities = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 20
    >>> found = calbias.class_wise(probabilities, [0, 1, 2] * 20)
    >>> [row.finding for row in found.rows]
    ['miscalibrated', 'miscalibrated', 'miscalibrated']
    >>> found.to_frame().loc[0, "value"].round(3)
    np.float64(0.133)
    """
    least = FEWEST_REPLICATES if replicates is None else replicates
    validate_options(measure, n_bins, least, seed)
    looked_up("measure", measure, MEASURES)
    rows, numbers = checked(probabilities, labels)
    assert numbers is not None
    n, n_classes = rows.shape
    if replicates is None:
        most = max(_MOST_LABELS // n, FEWEST_REPLICATES)
        replicates = min(max(999, 40 * n_classes), most)
    prepared_measure = prepared(measure, rows, int(n_bins))
    observed = prepared_measure.values(rows.given(numbers))
    if observed.shape[1] != n_classes:
        raise InputError(f"measure {measure} has no value for each class; use noise_floor")
    drawn = drawn_values(prepared_measure, rows, replicates, seed)
    overconfident = drawn_values(
        prepared_measure, rows, _POWER_REPLICATES, seed + 1, TELLABLE_TEMPERATURE
    )
    whole = summary(measure, n_bins, prepared_measure, observed, drawn, rows)
    table = _rows(observed[0], drawn, overconfident, is_squared(measure), rows, numbers)
    return ClassWise(whole, table, _notes(rows, numbers, replicates))


def _rows(
    observed: Floats,
    drawn: Floats,
    overconfident: Floats,
    squared: bool,
    rows: Rows,
    labels: np.ndarray,
) -> tuple[ClassRow, ...]:
    n, n_classes = rows.shape
    replicates = len(drawn)
    floor = drawn.mean(axis=0)
    # a drawn value that is lower by rounding alone counts as equal, as in redraw_p_value
    as_large = (drawn >= observed - 1e-12 * np.abs(observed)).sum(axis=0)
    p_values = (1 + as_large) / (1 + replicates)
    corrected_p = np.array(holm(p_values))
    rank = int(np.ceil((1 - SIGNIFICANT) * (replicates + 1))) - 1
    critical = np.sort(drawn, axis=0)[min(rank, replicates - 1)]
    power = (overconfident > critical).mean(axis=0)
    counts = np.bincount(labels, minlength=n_classes)
    columns = {
        "group": np.arange(n_classes),
        "n_labels": counts,
        "n_predicted": np.bincount(rows.top, minlength=n_classes),
        "mean_probability": rows.probabilities.mean(axis=0),
        "share": counts / n,
        "value": observed,
        "floor": floor,
        "floor_sd": drawn.std(axis=0, ddof=1),
        "corrected": corrected(observed, floor, squared),
        "p_value": p_values,
        "corrected_p_value": corrected_p,
        "power": power,
        "finding": findings(corrected_p, power),
    }
    cells = zip(*(columns[name].tolist() for name in ClassRow._fields), strict=True)
    return tuple(ClassRow(*row) for row in cells)


def _notes(rows: Rows, labels: np.ndarray, replicates: int) -> tuple[str, ...]:
    n, n_classes = rows.shape
    notes = []
    if n_classes == 2:
        notes.append(
            "Two classes: class 0 and class 1 mirror each other, and their values are equal; the "
            "top label is the larger of the two probabilities."
        )
    absent = np.flatnonzero(np.bincount(labels, minlength=n_classes) == 0)
    if absent.size:
        notes.append(
            f"{_classes(absent)} never occur{'s' * (absent.size == 1)} among the labels: the value "
            f"is the mean probability, all of it an error if the labels are complete."
        )
    predicted = np.bincount(rows.top, minlength=n_classes)
    if predicted.max() == n:
        notes.append(f"Class {predicted.argmax()} is predicted in every row.")
    zeros = float(np.mean(rows.probabilities == 0.0))
    if zeros > 0:
        impossible = int(np.sum(rows.probabilities[np.arange(n), labels[rows.order]] == 0.0))
        notes.append(
            f"{100 * zeros:.2g} % of the probabilities are exactly 0, and {impossible} labels have "
            "probability 0: labels are never drawn there."
        )
    if n_classes / (replicates + 1) > SIGNIFICANT:
        notes.append(
            f"With {replicates} redraws no corrected p-value is below "
            f"{min(1.0, n_classes / (replicates + 1)):.2g}: for {n_classes} classes give replicates"
            f"={40 * n_classes}."
        )
    return tuple(notes)


def _classes(numbers: np.ndarray) -> str:
    shown = ", ".join(map(str, numbers[:5])) + (", …" if numbers.size > 5 else "")
    return f"Class {shown}" if numbers.size == 1 else f"{numbers.size} classes ({shown})"
