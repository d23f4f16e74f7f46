"""Recalibration: a map of a model's scores that corrects them, fitted, judged and kept.

``Recalibrator`` has scikit-learn's manners and does not need scikit-learn.
"""

from __future__ import annotations

import json
import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from calbias.auditing.audit import audit_data
from calbias.auditing.data import Data, Options
from calbias.auditing.inputs import prepared, prepared_means
from calbias.auditing.page.advice import advised_method, gain_sentence
from calbias.auditing.recalibrations import FEWEST, recalibration_map, recalibration_table
from calbias.defaults import LOGITS, PROBABILITIES, Z_95
from calbias.engine.scores_and_hits import as_array, validate_same_order, validate_whole
from calbias.errors import InputError, looked_up, reading
from calbias.outcomes.given import Given, GivenOptions, has_shares
from calbias.recalibration.map_text import GENERATOR, KEYS, VERSION, checked_entries
from calbias.recalibration.methods import (
    ADVISED,
    NONE,
    OF_LOGITS,
    map_of,
    parameters_of,
    validate_method,
)

_DEFAULTS = {"method": ADVISED, "values": LOGITS, "top_label": False, "seed": 0}


class Recalibrator:
    """A map that recalibrates scores, with scikit-learn's manners.

    It works in ``clone``, in a pipeline behind a transformer, and in a grid search with
    scikit-learn's own scorers; scikit-learn is not needed.

    Parameters
    ----------
    method : str, default "advised"
        Of scores: shift, slope, platt, beta, isotonic, spline. Of logits, or class probabilities:
        temperature or vector. ``advised`` is what an audit of the rows advises, which may be to
        leave the scores as they are.
    values : {"logits", "probabilities"}, default "logits"
        What a matrix (n, K) with K of at least 2 holds. Scores (n,) or (n, 1) are in [0, 1].
    top_label : bool, default False
        Of a matrix of two classes, recalibrate the confidence of the predicted class, not the
        probability of class 1.
    seed : int, default 0
        Seed of the folds of the cross-validation.

    Attributes
    ----------
    method_ : str
        The method; "none" where the audit advises none.
    gain_ : float
        Fall of the Brier score, on rows that the map was not fitted on; NaN for "none".
    gain_interval_ : (float, float)
        Its interval of 95 %.
    sentence_ : str
        Both in words; empty after ``from_json``.
    n_rows_ : int
        The rows of the data.
    n_classes_ : int or None
        K for a matrix; None for scores.
    classes_ : ndarray
        The labels of the columns of ``predict_proba``: 0 and 1, or 0 to K - 1.
    columns_ : tuple of str
        The names of the classes in a file; empty after ``fit``.
    score_, read_as_ : str or None
        The column of a file's scores, and what its values were read as (percent, logits, …); None
        after ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> import calbias
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.beta(6, 1.5, 4000)
    >>> hits = rng.random(4000) < scores**2
    >>> recalibrator = calbias.Recalibrator("platt").fit(scores, hits)
    >>> recalibrator.gain_interval_[0] > 0
    True
    >>> again = calbias.Recalibrator.from_json(recalibrator.to_json())
    >>> bool((again.predict(scores) == recalibrator.predict(scores)).all())
    True
    """

    def __init__(
        self,
        method: str = ADVISED,
        *,
        values: str = LOGITS,
        top_label: bool = False,
        seed: int = 0,
    ) -> None:
        self.method = method
        self.values = values
        self.top_label = top_label
        self.seed = seed

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, **outcomes: Unpack[GivenOptions]
    ) -> Recalibrator:
        """Fit to scores and hits, or to a matrix of logits and labels.

        Parameters
        ----------
        X : array_like, shape (n,), (n, 1) or (n, K)
        y : array_like, shape (n,)
            1 for a hit or an event and 0 elsewhere; of a matrix the class numbers, from 0.
        **outcomes
            Follow-up, weights or a judge, as of ``calbias.audit``; X are then risks (n,) of an
            event, and follow-up takes the place of y.

        Returns
        -------
        Recalibrator
            Itself.

        Raises
        ------
        InputError
            For an unknown method, bad rows, or fewer than 50 rows of both outcomes.
        """
        self._validate_options()
        given = Given.of("fit", outcomes)
        validate_same_order(scores=X, y=y, **outcomes)
        if given or has_shares(y):
            data = prepared_means(None, None, _as_rows(X), y, None, None, given)
            return self._fit_data(data)
        if y is None:
            raise InputError("give y: 1 for a hit or an event, and 0 elsewhere")
        return self._fit_data(self._data(X, y))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return recalibrated scores.

        Parameters
        ----------
        X : array_like
            Scores or a matrix, as in ``fit``.

        Returns
        -------
        ndarray
            Scores (n,); of temperature and vector scaling the probabilities of all classes, (n, K).

        Raises
        ------
        InputError
            Before ``fit``, and for other columns than in ``fit``.
        """
        if not hasattr(self, "map_"):
            raise InputError("this Recalibrator has no map yet: call fit first")
        values = _as_rows(X)
        n_classes = None if values.ndim == 1 else values.shape[1]
        if n_classes != self.n_classes_:
            kinds = [
                "scores" if k is None else f"{k} classes" for k in (self.n_classes_, n_classes)
            ]
            raise InputError(f"the map is of {kinds[0]}, and {kinds[1]} are given")
        data = self._data(values, np.zeros(len(values), np.int64))
        if self.method_ in OF_LOGITS:
            return softmax(self.map_.predict(np.asarray(data.logits)), axis=1)
        return np.array(self.map_.predict(data.single.score), dtype=np.float64)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probabilities of all classes, for scikit-learn's scorers.

        Parameters
        ----------
        X : array_like
            Scores or a matrix, as in ``fit``.

        Returns
        -------
        ndarray
            Of scores, and of two classes whose event is judged, those of 0 and 1, (n, 2); of
            temperature and vector scaling those of all classes, (n, K).

        Raises
        ------
        InputError
            As ``predict``, and for a method that recalibrates the confidence of the predicted class
            of a matrix, which says nothing of the others.
        """
        values = self.predict(X)
        if values.ndim == 2:
            return values
        if self._is_of_top_label:
            raise InputError(
                f"{self.method_} of a matrix recalibrates the confidence of the predicted class "
                "alone: for probabilities of all classes take temperature or vector"
            )
        return np.column_stack([1.0 - values, values])

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return minus the Brier score of the recalibrated scores, or of all classes.

        Parameters
        ----------
        X, y : array_like
            As in ``fit``.

        Returns
        -------
        float
            At most 0, which is best.
        """
        values = self.predict(X)
        data = self._data(_as_rows(X), y)
        if values.ndim == 1:
            return -float(np.mean((values - data.single.hit) ** 2))
        hits = np.arange(values.shape[1]) == np.asarray(data.labels)[:, None]
        return -float(np.mean(np.sum((values - hits) ** 2, axis=1)))

    @property
    def classes_(self) -> np.ndarray:
        """The labels of the columns of ``predict_proba``."""
        return np.arange(2 if self._is_of_top_label else self.n_classes_ or 2)

    @property
    def _is_of_top_label(self) -> bool:
        """Whether scores are confidences of the predicted class of a matrix."""
        k = self.n_classes_
        return k is not None and self.method_ not in OF_LOGITS and (k > 2 or bool(self.top_label))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``deep`` changes nothing."""
        return {name: getattr(self, name) for name in _DEFAULTS}

    def set_params(self, **params: Any) -> Recalibrator:
        """Set parameters by name, and return itself; InputError for an unknown one."""
        for name, value in params.items():
            looked_up("parameter", name, _DEFAULTS)
            setattr(self, name, value)
        return self

    def to_json(self) -> str:
        """Return the map as a JSON text; ``from_json`` reads it."""
        if not hasattr(self, "map_"):
            raise InputError("this Recalibrator has no map yet: call fit first")
        is_judged = self.method_ != NONE
        gains = (self.gain_, *self.gain_interval_) if is_judged else (None,) * 3
        values = (
            *(GENERATOR, VERSION, self.method_, parameters_of(self.map_), self.values),
            *(bool(self.top_label), self.n_classes_, list(self.columns_), self.n_rows_, *gains),
            *(self.score_, self.read_as_),
        )
        return json.dumps(dict(zip(KEYS, values, strict=True)), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Recalibrator:
        """Return the Recalibrator of ``to_json``.

        Raises
        ------
        InputError
            For a text that is no map: of another version, damaged, or with numbers that no fit has.
        """
        return read_text(text, "this text", cls)

    def __repr__(self) -> str:
        changed = (f"{k}={v!r}" for k, v in self.get_params().items() if v != _DEFAULTS[k])
        return f"Recalibrator({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "map_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            classifier_tags=ClassifierTags(),
            target_tags=TargetTags(required=True),
            input_tags=InputTags(one_d_array=True),
        )

    def _validate_options(self) -> None:
        validate_method(self.method)
        looked_up("values", self.values, dict.fromkeys((LOGITS, PROBABILITIES)))
        validate_whole("seed", self.seed, 0)

    def _data(self, X: ArrayLike, y: ArrayLike) -> Data:
        values = _as_rows(X)
        if values.ndim == 1:
            return prepared(values, y)
        matrix = {self.values: values}
        return prepared(**matrix, labels=y, top_label=self.top_label)

    def _fit_data(self, data: Data) -> Recalibrator:
        """Fit to a Data, on its validation fold where it has a large enough one."""
        n, method = data.scored.n, self.method
        if method == ADVISED:
            audit = audit_data(data, Options(seed=self.seed))
            method, table = advised_method(audit), audit.recalibration
        else:
            table = recalibration_table(data, self.seed, [method])
        if table is None or not len(table):
            raise InputError(
                f"{n} rows with {int(data.scored.hits.sum())} hits are too few: recalibration "
                f"takes {FEWEST} rows of both outcomes"
            )
        self.method_, self.n_rows_ = method, n
        self.n_classes_ = None if data.logits is None else data.logits.shape[1]
        self.columns_, self.score_, self.read_as_ = data.classes, data.score, data.read_as
        if method == NONE:
            self.map_ = map_of(NONE, {})
            self.gain_, self.gain_interval_ = np.nan, (np.nan, np.nan)
            self.sentence_ = (
                f"The audit advises no recalibration: {audit.sentence} The map leaves the scores "
                "as they are."
            )
            return self
        self.map_ = recalibration_map(data, method)
        try:
            map_of(method, parameters_of(self.map_))  # a file of it is read so
        except InputError as error:
            raise InputError(f"no map of {method} fits: {error}; take another method") from None
        row = table.loc[method]
        reach = Z_95 * row["gain_se"]
        self.gain_ = float(row["gain"])
        self.gain_interval_ = float(row["gain"] - reach), float(row["gain"] + reach)
        self.sentence_ = gain_sentence(row, data.kind)
        return self


def fitted_to(data: Data, method: str, top_label: bool, seed: int) -> Recalibrator:
    """Return the Recalibrator of a Data that was read from a file."""
    values = PROBABILITIES if data.form == PROBABILITIES else LOGITS
    recalibrator = Recalibrator(method, values=values, top_label=top_label, seed=seed)
    recalibrator._validate_options()
    return recalibrator._fit_data(data)


def _as_rows(X: ArrayLike) -> np.ndarray:
    """Return scores (n,), or a matrix (n, K) with K of at least 2."""
    values = as_array("scores", X)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim not in (1, 2) or not values.size:
        raise InputError(
            f"give scores (n,) or a matrix (n, K) of at least one row, not shape {values.shape}"
        )
    return values


def read_text(text: str, name: object, cls: type[Recalibrator] = Recalibrator) -> Recalibrator:
    """Return the Recalibrator of a JSON text; ``name`` says in errors where it comes from."""
    with reading(name, "recalibration map", "give what calbias recalibrate wrote"):
        state, fitted = checked_entries(text)
    is_judged = state["method"] != NONE
    recalibrator = cls(
        state["method"] if is_judged else ADVISED,
        values=state["values"],
        top_label=state["top_label"],
    )
    recalibrator.method_, recalibrator.map_ = state["method"], fitted
    recalibrator.n_classes_, recalibrator.columns_ = state["n_classes"], (*state["classes"],)
    recalibrator.score_, recalibrator.read_as_ = state["score"], state["read_as"]
    recalibrator.n_rows_, recalibrator.sentence_ = state["n"], ""
    gain, low, high = (
        (state[name] for name in ("gain", "gain_low", "gain_high"))
        if is_judged
        else (math.nan,) * 3
    )
    recalibrator.gain_, recalibrator.gain_interval_ = float(gain), (float(low), float(high))
    return recalibrator
