"""Calibration under scikit-learn's names: a metric and a display, ``y_true, y_prob`` in that order.

Bins are defined as in calbias: of equal width [k/b, (k + 1)/b), where scikit-learn closes the upper
edge; of equal mass without cut groups of equal scores. Neither needs scikit-learn.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calbias.auditing.diagrams.reliability import reliability_diagram
from calbias.defaults import CONFIDENCE_LEVEL, N_BINS
from calbias.engine.scores_and_hits import any_array, as_array, validate_same_order
from calbias.errors import InputError, looked_up, of_extra
from calbias.estimation.api import estimate
from calbias.estimators.ece_sweep import bins_chosen
from calbias.samples.by_score import Scored

Strategy = Literal["uniform", "quantile", "sweep"]
Bins = int | Literal["cube_root"]
_ESTIMATORS = {"uniform": "ece_bin_ew", "quantile": "ece_bin_em", "sweep": "ece_sweep_em"}


def calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: Bins = N_BINS,
    strategy: Strategy = "sweep",
    norm: Any = None,
    squared: bool = False,
    estimator: str | None = None,
    pos_label: int | float | bool | str | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Estimate the calibration error.

    ``make_scorer(calibration_error, response_method="predict_proba", greater_is_better=False)``
    makes a scorer of it.

    Parameters
    ----------
    y_true : array_like, shape (n,)
    y_prob : array_like, shape (n,) or (n, K)
        The probability of the positive class; or of all classes, of which the top label is judged.
    n_bins : int or "cube_root", default 15
        The number of bins, or ⌈n^(1/3)⌉ of them; ``strategy="sweep"`` chooses it.
    strategy : {"uniform", "quantile", "sweep"}, default "sweep"
        Bins of equal width, of equal mass, or as many of equal mass as leave the mean labels
        monotone.
    norm : float, "l1" or "l2", optional
        As for ``calbias.estimate``.
    squared : bool, default False
        With norm 2, the mean squared gap and not its root. That of ``estimator="ece_debias_em"``
        is unbiased, and may be below 0.
    sample_weight
        As for ``calbias.estimate``.
    estimator : str, optional
        An estimator of ``calbias.list_estimators()`` instead of a strategy.
    pos_label : int, float, bool or str, optional
        The label of the positive class where ``y_prob`` is (n,); 1 where labels are 0 and 1, or −1
        and 1.
    labels : array_like, shape (K,), optional
        The label of each column of ``y_prob``; by default the labels of ``y_true``, sorted.

    Returns
    -------
    float
        A fraction; 0 is best.

    Raises
    ------
    InputError
        A ``ValueError`` of one line, for input that is not of this form.

    Examples
    --------
    >>> from calbias.sklearn import calibration_error
    >>> y_true, y_prob = [0, 1, 1, 1], [0.3, 0.4, 0.8, 0.9]
    >>> round(calibration_error(y_true, y_prob, strategy="uniform", n_bins=2), 3)
    0.15
    """
    scores, hits = _sample(y_true, y_prob, pos_label, labels, sample_weight)
    name = looked_up("strategy", strategy, _ESTIMATORS) if estimator is None else estimator
    if isinstance(norm, str):
        norm = looked_up("norm", norm, {"l1": 1.0, "l2": 2.0})
    debiased = name.removeprefix("ece_debias_")
    if squared and norm != 2 and debiased == name:
        raise InputError("squared goes with norm=2: the square of the ℓ1 error is no mean")
    name = f"ece_debias_squared_{debiased}" if squared and debiased in ("ew", "em") else name
    value = estimate(
        name, scores, hits,
        n_bins=_number(n_bins, scores.size), norm=norm, sample_weight=sample_weight,
    ).value  # fmt: skip
    return value**2 if squared and debiased == name else value


@dataclass(eq=False, repr=False)
class CalibrationDisplay:
    """A calibration curve with the band in which a calibrated model's curve lies.

    Attributes
    ----------
    prob_true, prob_pred : ndarray (b,)
        The share of positives and the mean probability of each bin that is not empty.
    y_prob : ndarray (n,)
    band_low, band_high : ndarray (b,)
        The limits of ``prob_true`` in a bin if the model is calibrated, with the probability asked
        for; they hold for one bin at a time.
    estimator_name : str or None
    line_, ax_, figure_
        matplotlib's line, axes and figure, after ``plot``.

    Examples
    --------
    >>> from calbias.sklearn import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions(
    ...     [0, 1, 1, 1], [0.3, 0.4, 0.8, 0.9], n_bins=2, plot=False)
    >>> display.prob_true
    array([0.5, 1. ])
    """

    prob_true: np.ndarray
    prob_pred: np.ndarray
    y_prob: np.ndarray
    _: KW_ONLY
    band_low: np.ndarray
    band_high: np.ndarray
    estimator_name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        n_bins: Bins = 5,
        strategy: Strategy = "uniform",
        pos_label: int | float | bool | str | None = None,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        confidence_level: float = CONFIDENCE_LEVEL,
        plot: bool = True,
        **kwargs: Any,
    ) -> CalibrationDisplay:
        """Return the display of labels and probabilities.

        ``confidence_level`` is the probability of the band; ``kwargs`` go to ``plot``; the others
        are as for ``calibration_error``.
        """
        scores, hits = _sample(y_true, y_prob, pos_label, labels, sample_weight)
        looked_up("strategy", strategy, _ESTIMATORS)
        if strategy == "sweep":
            if sample_weight is not None:
                raise InputError("the sweep's bins take no weights here: take another strategy")
            n_bins = bins_chosen(Scored.of(scores, hits), "equal_mass")
        diagram = reliability_diagram(
            scores, hits, n_bins=_number(n_bins, scores.size), confidence_level=confidence_level,
            binning="equal_width" if strategy == "uniform" else "equal_mass",
            sample_weight=sample_weight,
        )  # fmt: skip
        bands = {"band_low": diagram.band_low, "band_high": diagram.band_high}
        display = cls(diagram.mean_hit, diagram.mean_score, scores, **bands, estimator_name=name)
        return display.plot(**kwargs) if plot else display

    def plot(self, *, ax: Any = None, **kwargs: Any) -> CalibrationDisplay:
        """Draw the curve, its band and the diagonal; ``kwargs`` are of the curve's line."""
        if ax is None:
            ax = of_extra("a picture", "matplotlib.pyplot").figure().add_subplot()
        if "Perfectly calibrated" not in ax.get_legend_handles_labels()[1]:
            ax.plot([0, 1], [0, 1], "k:", label="Perfectly calibrated")
        style = {"marker": "s", "linestyle": "-", "label": self.estimator_name or "model"} | kwargs
        [self.line_] = ax.plot(self.prob_pred, self.prob_true, **style)
        band = {"linewidth": 7, "alpha": 0.25, "color": self.line_.get_color()}
        ax.vlines(self.prob_pred, self.band_low, self.band_high, **band)
        ax.set(xlabel="Mean predicted probability", ylabel="Fraction of positives")
        ax.legend(loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _number(n_bins: Bins, n: int) -> int:
    """Return the number of bins for n rows."""
    return math.ceil(n ** (1 / 3)) if n_bins == "cube_root" else n_bins


def _sample(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    pos_label: Any,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and hits: of the positive class, or of the top label of several columns."""
    validate_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    truth, probabilities = any_array("y_true", y_true), as_array("y_prob", y_prob)
    truth = truth.reshape(-1) if truth.ndim == 2 and truth.shape[1] == 1 else truth
    if truth.ndim != 1 or probabilities.ndim not in (1, 2) or len(truth) != len(probabilities):
        raise InputError(
            f"y_true must be (n,) and y_prob (n,) or (n, K): their shapes are {truth.shape} and "
            f"{probabilities.shape}"
        )
    if probabilities.ndim == 2 and probabilities.shape[1] > 1:
        classes = np.unique(truth) if labels is None else np.asarray(labels)
        if len(classes) != probabilities.shape[1]:
            raise InputError(
                f"y_prob has {probabilities.shape[1]} columns for {len(classes)} labels: give "
                "labels, one of each column"
            )
        top = probabilities.argmax(axis=1)
        return probabilities[np.arange(len(top)), top], (classes[top] == truth).astype(np.uint8)
    values = set(np.unique(truth).tolist())
    if len(values) > 2 and set(np.unique(probabilities)) <= {0.0, 1.0}:
        raise InputError("y_prob holds 0 and 1 alone: are y_true and y_prob swapped?")
    words = f"y_true has the labels {sorted(values, key=str)!s:.60}"
    if pos_label is None:
        if not (values <= {0, 1} or values <= {-1, 1}):
            raise InputError(f"{words}: give pos_label, the label of the positive class")
        pos_label = 1
    elif len(values) > 2 or (len(values) == 2 and pos_label not in values):
        raise InputError(
            f"{words}, not two with pos_label {pos_label!r:.60}; y_prob of more than two classes "
            "is (n, K)"
        )
    return probabilities.reshape(-1), (truth == pos_label).astype(np.uint8)
