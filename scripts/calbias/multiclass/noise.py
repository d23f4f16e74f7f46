"""Noise floor and redraw test: what a calibrated model with these probabilities would print.

Labels are drawn from the model's own probabilities, which stay as they are. Given them the test is
exact for every measure: p = (1 + #{T* ≥ T})/(1 + R). It is not the consistency resampling of
Bröcker and Smith (2007) and Vaicenavicius et al. (AISTATS 2019), which resamples the probabilities
too: with bins of all classes that test may reject every calibrated model
(evidence/docs/measured.md).

The value without its noise is √(value² − floor²), and 0 below the floor; of squared errors, which
add up, it is value − floor. On Dirichlet distributions it came closer to the truth than value −
floor and than the correction of each class alone; the table ``multiclass_league`` compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.defaults import N_BINS
from calbias.engine.scores_and_hits import MOST_AUDITED_BINS, validate_options, validate_whole
from calbias.errors import InputError
from calbias.multiclass.class_bins import Floats
from calbias.multiclass.class_rows import Rows, checked
from calbias.multiclass.measures import Measure, prepared, target_of

FEWEST_REPLICATES = 20


@dataclass(frozen=True)
class NoiseFloor:
    """A measure of all classes with its value for a calibrated model.

    Attributes
    ----------
    measure : str
    value : float or None
        The value for the labels, a fraction; None without labels.
    floor, floor_sd : float
        Mean and standard deviation of the measure when labels are drawn from the probabilities.
    corrected : float or None
        The value without its noise: √(value² − floor²), 0 below the floor; of squared errors
        value − floor.
    p_value : float or None
        Share of calibrated data sets with a value at least as large; exact size.
    n_classes, n_samples, n_bins, replicates : int
    """

    measure: str
    value: float | None
    floor: float
    floor_sd: float
    corrected: float | None
    p_value: float | None
    n_classes: int
    n_samples: int
    n_bins: int
    replicates: int

    def __str__(self) -> str:
        calibrated = f"a calibrated model prints {self.floor:.4g} ± {self.floor_sd:.2g}"
        about = f"{self.n_samples} rows, {self.n_classes} classes, {self.n_bins} bins"
        if self.value is None:
            return f"{self.measure}: {calibrated} ({about})"
        return (
            f"{self.measure} {self.value:.4g}; {calibrated}; without noise {self.corrected:.4g}; "
            f"p = {self.p_value:.2g} ({about})"
        )


def noise_floor(
    probabilities: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    measure: str = "classwise_ece_mean",
    n_bins: int = N_BINS,
    replicates: int = 200,
    seed: int = 0,
) -> NoiseFloor:
    """Compare a measure of all classes with what a calibrated model would print.

    Parameters
    ----------
    probabilities : array_like, shape (n, K), K >= 2
        One row a sample; rows sum to 1 (within 0.005: labels are drawn from the normalised row).
    labels : array_like, shape (n,), (n, 1) or (n, K), optional
        Class numbers from 0, or one-hot rows. Without labels the floor alone is computed.
    measure : str
        Such as ``classwise_ece_mean``, ``classwise_ece_sum`` (K times it), ``top_label_ece``,
        ``confidence_ece``, ``thresholded_ece_em``, ``skce``.
    n_bins : int
        Number of bins of each class.
    replicates : int
        Number of label vectors drawn, at least 20.
    seed : int
        Of the random labels. They do not depend on the order of the rows.

    Returns
    -------
    NoiseFloor

    Raises
    ------
    InputError
        A ``ValueError`` of one line, for an unknown measure and input that is not of this form.

    Notes
    -----
    With K = 2 the classes mirror each other: both have the class-wise value of the
    probability of class 1, while ``confidence_ece`` is about the larger of the two probabilities.

    References
    ----------
    Vaicenavicius, Widmann, Andersson, Lindsten, Roll and Schön (2019). Evaluating model calibration
    in classification. AISTATS. Their consistency resampling resamples the probabilities too.

    Examples
    --------
    >>> import calbias
    >>> probabilities = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 20
    >>> found = calbias.noise_floor(probabilities, [0, 1, 2] * 20)
    >>> round(found.value, 3), found.floor < found.value, found.p_value < 0.05
    (0.133, True, True)
    """
    validate_options(n_bins, None, MOST_AUDITED_BINS)
    validate_whole("replicates", replicates, FEWEST_REPLICATES)
    validate_whole("seed", seed, 0)
    if not isinstance(measure, str):
        raise InputError(f"measure must be a name such as classwise_ece_mean, not {measure!r:.60}")
    rows, numbers = checked(probabilities, labels)
    [floor] = noise_floors([(measure, int(n_bins))], rows, numbers, replicates, seed)
    return floor


def noise_floors(
    measures: Iterable[tuple[str, int]],
    rows: Rows,
    labels: NDArray[np.int64] | None,
    replicates: int,
    seed: int,
) -> list[NoiseFloor]:
    """Return the NoiseFloor of each measure (name, number of bins), all of the same drawn labels.

    ``labels`` (n,) are in the order in which the rows were given, or None.
    """
    prepared_measures = [(name, n_bins, prepared(name, rows, n_bins)) for name, n_bins in measures]
    all_drawn = drawn_values([each for *_, each in prepared_measures], rows, replicates, seed)
    given = None if labels is None else rows.given(labels)
    return [
        summary(name, n_bins, each, None if given is None else each.values(given), drawn, rows)
        for (name, n_bins, each), drawn in zip(prepared_measures, all_drawn, strict=True)
    ]


def drawn_values(
    measures: Sequence[Measure], rows: Rows, replicates: int, seed: int
) -> list[Floats]:
    """Return each measure's values (R, G) of its groups for labels drawn from the probabilities."""
    all_labels = rows.redrawn(replicates, seed)
    batches = [[each.values(labels) for each in measures] for labels in all_labels]
    return [np.concatenate(values) for values in zip(*batches, strict=True)]


def summary(
    name: str, n_bins: int, measure: Measure, observed: Floats | None, drawn: Floats, rows: Rows
) -> NoiseFloor:
    """Return the NoiseFloor of the whole from the values of the groups, (1, G) and (R, G)."""
    values = measure.whole(drawn)
    floor = float(values.mean())
    value = None if observed is None else float(measure.whole(observed)[0])
    without = None if value is None else float(corrected(value, floor, is_squared(name)))
    return NoiseFloor(
        measure=name,
        value=value,
        floor=floor,
        floor_sd=float(values.std(ddof=1)),
        corrected=without,
        p_value=None if value is None else redraw_p_value(value, values),
        n_classes=rows.shape[1],
        n_samples=rows.shape[0],
        n_bins=int(n_bins),
        replicates=len(drawn),
    )


def is_squared(measure: str) -> bool:
    """Return whether a measure is a squared error, of which noise is subtracted as it is."""
    target = target_of(measure)
    return target.endswith("squared") or target == "kernel"


def corrected(value: ArrayLike, floor: ArrayLike, squared: bool) -> Floats:
    """Return values without their noise, of any shape."""
    values, floors = np.asarray(value, np.float64), np.asarray(floor, np.float64)
    if squared:
        return np.subtract(values, floors)
    return np.sqrt(np.maximum(values**2 - floors**2, 0.0), dtype=np.float64)


def redraw_p_value(observed: float, drawn: np.ndarray) -> float:
    """Return the p-value of a statistic, in (0, 1], against statistics of a calibrated model, (R,).

    A drawn statistic that is lower by rounding alone counts as equal: the order of summation
    changes the last digits.

    >>> redraw_p_value(0.3, np.array([0.1, 0.2, 0.3]))
    0.5
    """
    as_large = np.count_nonzero(drawn >= observed - 1e-12 * abs(observed))
    return float((1 + as_large) / (1 + drawn.size))
