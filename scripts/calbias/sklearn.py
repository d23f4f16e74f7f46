"""Calibration under scikit-learn's names: ``y_true, y_prob`` in that order, and their keywords.

    calibration_error       a metric: any estimator, ``strategy`` and ``n_bins`` as in scikit-learn
    calibration_scorer      a scorer for ``cross_val_score`` and ``GridSearchCV``
    calibration_curve       prob_true, prob_pred
    CalibrationDisplay      the curve with the band in which a calibrated model's curve lies

Bins are defined as in calbias: of equal width [k/b, (k + 1)/b), where scikit-learn closes the upper
edge; of equal mass without cut groups of equal scores. scikit-learn is needed for a scorer and for
``from_estimator`` alone, matplotlib for a picture.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calbias.auditing.reliability import ReliabilityDiagram, reliability_diagram
from calbias.conventions import CONFIDENCE_LEVEL, N_BINS
from calbias.engine.scores_and_hits import as_array, validate_same_order
from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError
from calbias.estimation.api import estimate
from calbias.estimators.ece_sweep import bins_chosen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Strategy = Literal["uniform", "quantile", "sweep"]
_ESTIMATORS = {"uniform": "ece_bin_ew", "quantile": "ece_bin_em", "sweep": "ece_sweep_em"}


def calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int | Literal["cube_root"] = N_BINS,
    strategy: Strategy = "sweep",
    norm: float | None = None,
    estimator: str | None = None,
    pos_label: int | float | bool | str | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Estimate the calibration error.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        True labels.
    y_prob : array_like, shape (n,) or (n, K)
        The probability of the positive class; or of all classes, of which the top label is judged.
    n_bins : int or "cube_root", default 15
        The number of bins, or ⌈n^(1/3)⌉; ``strategy="sweep"`` chooses it.
    strategy : {"uniform", "quantile", "sweep"}, default "sweep"
        Bins of equal width, of equal mass, or as many of equal mass as leave the mean labels
        monotone.
    norm : float, optional
        p of the ℓp error; as ``calbias.estimate`` by default.
    estimator : str, optional
        An estimator of ``calbias.list_estimators()`` instead of a strategy.
    pos_label : int, float, bool or str, optional
        The label of the positive class where ``y_prob`` is (n,); 1 where labels are 0 and 1, or −1
        and 1.
    labels : array_like, shape (K,), optional
        The label of each column of ``y_prob``; by default the labels of ``y_true``, sorted.
    sample_weight : array_like, shape (n,), optional
        As for ``calbias.estimate``; not with ``strategy="sweep"``.

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
    scores, hits = _sample(y_true, y_prob, pos_label, labels)
    name = _estimator(strategy) if estimator is None else estimator
    number = _number(n_bins, scores)
    return estimate(name, scores, hits, n_bins=number, norm=norm, sample_weight=sample_weight).value


def calibration_scorer(**options: Any) -> Any:
    """Return a scorer, −``calibration_error``, for ``cross_val_score`` and ``GridSearchCV``.

    Parameters
    ----------
    **options
        Those of ``calibration_error``.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``: greater is better.

    Raises
    ------
    InputError
        Without scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from calbias.sklearn import calibration_scorer
    >>> X, y = make_classification(random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=calibration_scorer()).shape
    (5,)
    """
    try:
        from sklearn.metrics import make_scorer
    except ModuleNotFoundError:
        raise InputError("a scorer needs scikit-learn: pip install scikit-learn") from None
    return make_scorer(
        calibration_error, response_method="predict_proba", greater_is_better=False, **options
    )


def calibration_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    pos_label: int | float | bool | str | None = None,
    n_bins: int | Literal["cube_root"] = 5,
    strategy: Strategy = "uniform",
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of positives and the mean probability of each bin that is not empty.

    Parameters
    ----------
    y_true, y_prob, pos_label, n_bins, strategy, sample_weight
        As for ``calibration_error``.

    Returns
    -------
    prob_true, prob_pred : ndarray (b,)

    Raises
    ------
    InputError
        For input that is not of this form.

    Examples
    --------
    >>> from calbias.sklearn import calibration_curve
    >>> prob_true, prob_pred = calibration_curve([0, 1, 1, 1], [0.3, 0.4, 0.8, 0.9], n_bins=2)
    >>> prob_true, prob_pred.round(2)
    (array([0.5, 1. ]), array([0.35, 0.85]))
    """
    sample = _sample(y_true, y_prob, pos_label)
    diagram = _diagram(sample, n_bins, strategy, replicates=1, sample_weight=sample_weight)
    return diagram.mean_hit, diagram.mean_score


@dataclass(eq=False, repr=False)
class CalibrationDisplay:
    """A calibration curve with the band in which a calibrated model's curve lies.

    Make it by ``from_estimator`` or ``from_predictions``.

    Attributes
    ----------
    prob_true, prob_pred : ndarray (b,)
        The share of positives and the mean probability of each bin that is not empty.
    band_low, band_high : ndarray (b,)
        The limits of ``prob_true`` in a bin if the model is calibrated, with the probability asked
        for; they hold for one bin at a time.
    y_prob : ndarray (n,)
    estimator_name : str or None
    pos_label : int, float, bool, str or None
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
    band_low: np.ndarray | None = None
    band_high: np.ndarray | None = None
    estimator_name: str | None = None
    pos_label: int | float | bool | str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        n_bins: int | Literal["cube_root"] = 5,
        strategy: Strategy = "uniform",
        pos_label: int | float | bool | str | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        ref_line: bool = True,
        confidence_level: float = CONFIDENCE_LEVEL,
        sample_weight: ArrayLike | None = None,
        plot: bool = True,
        **kwargs: Any,
    ) -> CalibrationDisplay:
        """Return the display of labels and probabilities.

        Parameters
        ----------
        y_true, y_prob, n_bins, strategy, pos_label, sample_weight
            As for ``calibration_error``.
        name : str, optional
            The name in the legend.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure is made.
        ref_line : bool, default True
            Whether to draw the diagonal.
        confidence_level : float, default 0.95
            The probability of the band.
        plot : bool, default True
            Whether to draw now.
        **kwargs
            Passed to ``Axes.plot``.

        Returns
        -------
        CalibrationDisplay

        Raises
        ------
        InputError
            For input that is not of this form.
        """
        sample = _sample(y_true, y_prob, pos_label)
        diagram = _diagram(
            sample, n_bins, strategy, confidence_level=confidence_level, sample_weight=sample_weight
        )
        display = cls(
            diagram.mean_hit,
            diagram.mean_score,
            sample[0],
            band_low=diagram.band_low,
            band_high=diagram.band_high,
            estimator_name=name,
            pos_label=pos_label,
        )
        return display.plot(ax=ax, ref_line=ref_line, **kwargs) if plot else display

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        pos_label: int | float | bool | str | None = None,
        name: str | None = None,
        **options: Any,
    ) -> CalibrationDisplay:
        """Return the display of a fitted classifier on data.

        Parameters
        ----------
        estimator : fitted classifier with ``predict_proba``
            Of two classes, judged on the positive one; of more, on the top label.
        X, y : array_like
        pos_label : int, float, bool or str, optional
            The positive class; by default ``estimator.classes_[1]``.
        name : str, optional
            By default the classifier's class.
        **options
            Those of ``from_predictions``.

        Returns
        -------
        CalibrationDisplay

        Raises
        ------
        InputError
            For a classifier without ``predict_proba``, and as ``from_predictions``.
        """
        if not hasattr(estimator, "predict_proba") or not hasattr(estimator, "classes_"):
            raise InputError(
                f"{type(estimator).__name__} has no predict_proba or is not fitted: give a fitted "
                "classifier that has it"
            )
        classes, y_prob = list(estimator.classes_), np.asarray(estimator.predict_proba(X))
        y = np.asarray(y)
        if len(classes) == 2:
            pos_label = classes[1] if pos_label is None else pos_label
            if pos_label not in classes:
                raise InputError(f"pos_label {pos_label!r:.60} is not one of {classes!r:.60}")
            y_prob = y_prob[:, classes.index(pos_label)]
        else:
            y, y_prob = _top_label(y, y_prob, classes)
            pos_label = None
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, y_prob, pos_label=pos_label, name=name, **options)

    def plot(
        self,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        ref_line: bool = True,
        **kwargs: Any,
    ) -> CalibrationDisplay:
        """Draw the curve, its band and the diagonal, and return the display.

        Parameters
        ----------
        ax, name, ref_line, **kwargs
            As for ``from_predictions``.

        Returns
        -------
        CalibrationDisplay

        Raises
        ------
        InputError
            Without matplotlib.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ModuleNotFoundError:
                raise InputError("a picture needs matplotlib: pip install matplotlib") from None
            _, ax = pyplot.subplots()
        name = self.estimator_name if name is None else name
        labels = ax.get_legend_handles_labels()[1]
        if ref_line and "Perfectly calibrated" not in labels:
            ax.plot([0, 1], [0, 1], "k:", label="Perfectly calibrated")
        style = {"marker": "s", "linestyle": "-"} | ({"label": name} if name else {}) | kwargs
        [self.line_] = ax.plot(self.prob_pred, self.prob_true, **style)
        if self.band_low is not None and self.band_high is not None:
            ax.vlines(
                self.prob_pred, self.band_low, self.band_high, linewidth=7, alpha=0.25,
                color=self.line_.get_color(),
            )  # fmt: skip
        positive = "" if self.pos_label is None else f" (Positive class: {self.pos_label})"
        ax.set(
            xlabel=f"Mean predicted probability{positive}",
            ylabel=f"Fraction of positives{positive}",
        )
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _sample(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    pos_label: int | float | bool | str | None = None,
    labels: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and hits: of the positive class, or of the top label of several columns."""
    validate_same_order(y_true=y_true, y_prob=y_prob)
    truth, probabilities = np.asarray(y_true), as_array("y_prob", y_prob)
    truth = truth.reshape(-1) if truth.ndim == 2 and truth.shape[1] == 1 else truth
    if truth.ndim != 1 or probabilities.ndim not in (1, 2) or len(truth) != len(probabilities):
        raise InputError(
            f"y_true must be (n,) and y_prob (n,) or (n, K): their shapes are {truth.shape} and "
            f"{probabilities.shape}"
        )
    if probabilities.ndim == 2 and probabilities.shape[1] > 1:
        classes = np.unique(truth) if labels is None else np.asarray(labels)
        hits, scores = _top_label(truth, probabilities, list(classes))
        return scores, hits
    values = set(np.unique(truth).tolist())
    if pos_label is None:
        if not (values <= {0, 1} or values <= {-1, 1}):
            raise InputError(
                f"y_true has the labels {sorted(values, key=str)!s:.60}: give pos_label, the "
                "label of the positive class"
            )
        pos_label = 1
    elif len(values) > 2 or (len(values) == 2 and pos_label not in values):
        raise InputError(
            f"y_true has the labels {sorted(values, key=str)!s:.60}, not two with pos_label "
            f"{pos_label!r:.60}; y_prob of more than two classes is (n, K)"
        )
    return probabilities.reshape(-1), (truth == pos_label).astype(np.uint8)


def _top_label(
    truth: np.ndarray, probabilities: np.ndarray, classes: list[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return hits and scores of the first largest column."""
    if len(classes) != probabilities.shape[1]:
        raise InputError(
            f"y_prob has {probabilities.shape[1]} columns for {len(classes)} labels: give labels, "
            "one of each column"
        )
    top = probabilities.argmax(axis=1)
    hits = np.asarray(classes)[top] == truth
    return hits.astype(np.uint8), probabilities[np.arange(len(top)), top]


def _estimator(strategy: str) -> str:
    """Return the estimator of a strategy."""
    if strategy not in _ESTIMATORS:
        raise InputError(f"strategy must be one of {', '.join(_ESTIMATORS)}, not {strategy!r:.60}")
    return _ESTIMATORS[strategy]


def cube_root(n: int) -> int:
    """Return ⌈n^(1/3)⌉, exactly."""
    root = round(n ** (1 / 3))
    return root if root**3 >= n else root + 1


def _number(n_bins: Any, scores: np.ndarray) -> Any:
    return cube_root(len(scores)) if n_bins == "cube_root" else n_bins


def _diagram(
    sample: tuple[np.ndarray, np.ndarray], n_bins: Any, strategy: str, **options: Any
) -> ReliabilityDiagram:
    n_bins = _number(n_bins, sample[0])
    if _estimator(strategy) == "ece_sweep_em":
        if options.get("sample_weight") is not None:
            raise InputError("the sweep has no definition with weights: take another strategy")
        n_bins = bins_chosen(sorted_data_set(*sample), "equal_mass")
    options["binning"] = "equal_width" if strategy == "uniform" else "equal_mass"
    return reliability_diagram(*sample, n_bins=n_bins, **options)
