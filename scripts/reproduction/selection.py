"""Which recalibration method a measure selects, and how often it agrees with the reference's.

A measure is an estimator or the KS error; it selects on the test fold, and on resamples of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import known_estimators, usable_norm
from calbias.reading.top_label import TopLabel
from pipeline.fits.empirical_error import empirical_tce, fit_curve
from reproduction.measures import resampled_values
from reproduction.reference_error import beta_tce, resampled_tce

Measures = dict[str, Callable[[SortedBatch], float]]

N_BINS = 15
USUAL = "ece_bin_ew"
"""The measure whose selection others are compared with: ``tce_gain_percent`` is the TCE reference
of the method that it selects minus that of the method that another selects, above 0 where the other
selects the better one, and ``tce_gain_se_percent`` its standard deviation over the resamples, the
selections held."""

METHODS = ("temperature_scaling", "histogram_binning", "isotonic_regression")
"""The methods that Table 1 selects from; of equal values the earlier method's is taken as least:
the one with fewer parameters."""


class Choice(NamedTuple):
    """A way to make Table 1: the variant of each method, the norm, ties and the TCE reference."""

    name: str
    temperature_scaling: str = "temperature_scaling"
    histogram_binning: str = "histogram_binning"
    isotonic_regression: str = "isotonic_regression"
    norm: float = 2.0
    ties: str = "average"
    reference: str = "glm_empirical"

    @property
    def variants(self) -> dict[str, str]:
        """{method: variant} of the three methods."""
        return {method: getattr(self, method) for method in METHODS}


DEFAULT = Choice("default")
CHOICES = (
    DEFAULT,
    Choice("histogram_equal_mass", histogram_binning="histogram_binning_em"),
    Choice("histogram_empty_bins_zero", histogram_binning="histogram_binning_zero"),
    Choice("isotonic_step", isotonic_regression="isotonic_regression_step"),
    Choice(
        "top_label",
        histogram_binning="histogram_binning_top_label",
        isotonic_regression="isotonic_regression_top_label",
    ),
    Choice("norm_1", norm=1.0),
    Choice("ties_input_order", ties="input_order"),
    Choice("reference_glm_beta", reference="glm_beta"),
)
"""``histogram_*`` and ``isotonic_step``: see the methods' files. ``top_label``: the two binning
methods see the top label's score alone, instead of one class against the rest. ``norm_1``: p = 1 in
estimators and reference. ``ties_input_order``: tied scores as the rows came, as published numbers
were computed. ``reference_glm_beta``: the TCE integrated over a fitted Beta distribution."""
VARIANTS = tuple(
    dict.fromkeys(("uncalibrated", *(v for c in CHOICES for v in c.variants.values())))
)
"""The methods that the choices need, and the model as it is."""


def load_measures(norm: float = 2.0, estimators: Mapping[str, Path] | None = None) -> Measures:
    """Return {name: measure(data) -> value} for SortedBatch of one row.

    Estimators that do not exist for the norm are left out. The KS error, last, has no norm. Of tied
    scores in input order it sees every step, which the estimator ``ks`` does not.
    """
    files = known_estimators() if estimators is None else estimators
    measures: Measures = {
        name: partial(_value, load_estimator(name, file), norm)
        for name, file in files.items()
        if usable_norm(name, norm, file) == norm
    }
    measures["ks_error"] = _ks_error
    return measures


def _value(run: Callable[..., Any], norm: float, data: SortedBatch) -> float:
    return float(run(data, N_BINS, norm)[0][0])


def _bins_used(top: TopLabel, estimators: Mapping[str, Path] | None) -> dict[str, int]:
    """Return {sweep: the number of bins that it chooses} of a ``TopLabel``, norm 2."""
    data = sorted_data_set(top.score, top.hit)
    files = known_estimators() if estimators is None else estimators
    sweeps = {name: file for name, file in files.items() if name.startswith("ece_sweep")}
    return {
        name: int(load_estimator(name, file)(data, N_BINS, 2.0)[1][0])
        for name, file in sweeps.items()
    }


def _ks_error(data: SortedBatch) -> float:
    """Return max_i |Σ_{j≤i} (hit_j - score_j)|/n of one data set (Gupta et al. 2021, Eq. 11)."""
    return float(np.abs(data.cum_gap[0]).max() / data.scores.shape[1])


def measured(measures: Measures, top: TopLabel, ties: str = "average") -> dict[str, float]:
    """Return {name: value} of a ``TopLabel`` with tied scores taken as ``ties``."""
    data = sorted_data_set(top.score, top.hit, ties)
    return {name: measure(data) for name, measure in measures.items()}


def selected(values: Mapping[str, float]) -> str | None:
    """Return the first method of least value of {method: value}; None if all are NaN."""
    methods = [method for method in METHODS if not np.isnan(values[method])]
    return min(methods, key=lambda method: values[method], default=None)


class Selections:
    """The selections of one model, under every choice; each number is computed once.

    ``tops`` {variant: TopLabel} of the test fold, ``counts`` (B, n) from ``draw_counts``. Choices
    other than the default use the first quarter of the resamples, and at least two.
    """

    def __init__(
        self,
        tops: Mapping[str, TopLabel],
        counts: np.ndarray,
        estimators: Mapping[str, Path] | None = None,
    ) -> None:
        self.tops, self.counts = tops, counts
        self.measures = cache(lambda norm=2.0: load_measures(norm, estimators))
        self.curve = cache(lambda variant: fit_curve(tops[variant]))
        self.measured = cache(
            lambda variant, ties="average", norm=2.0: measured(
                self.measures(norm), tops[variant], ties
            )
        )
        self.n_bins_used = cache(lambda variant: _bins_used(tops[variant], estimators))
        self.reference = cache(self._reference)
        self._resampled_values = cache(
            lambda variant, ties, norm, b: resampled_values(
                self.measures(norm), tops[variant].score, tops[variant].hit, counts[:b], ties
            )
        )
        self._resampled_reference = cache(
            lambda variant, norm, b: resampled_tce(
                tops[variant], self.curve(variant), counts[:b], norm
            )
        )

    def rows(self, choices: Iterable[Choice] = CHOICES) -> list[dict[str, Any]]:
        """Return one dict per choice and measure; the beta reference has no frequencies: NaN."""
        return [row for choice in choices for row in self._rows(choice)]

    def _rows(self, choice: Choice) -> Iterator[dict[str, Any]]:
        variants, ties, norm = choice.variants, choice.ties, choice.norm
        b = len(self.counts) if choice == DEFAULT else max(2, len(self.counts) // 4)
        values = [self._resampled_values(v, ties, norm, b) for v in variants.values()]
        tce = {m: self.reference(v, choice.reference, norm) for m, v in variants.items()}
        by_reference, resampled = None, dict.fromkeys(METHODS, np.full(b, np.nan))
        if choice.reference == "glm_empirical":
            resampled = {m: self._resampled_reference(v, norm, b) for m, v in variants.items()}
            by_reference = _selected_on_resamples([*resampled.values()])
        numbers = {
            measure: {m: self.measured(v, ties, norm)[measure] for m, v in variants.items()}
            for measure in self.measures(norm)
        }
        usual = selected(numbers[USUAL]) if USUAL in numbers else None
        for measure in numbers:
            method = selected(numbers[measure])
            gain, gains = np.nan, np.full(b, np.nan)
            if usual and method:
                gain, gains = tce[usual] - tce[method], resampled[usual] - resampled[method]
            by_measure = _selected_on_resamples(
                [method_values[measure] for method_values in values]
            )
            agreement = np.nan if by_reference is None else np.mean(by_measure == by_reference)
            yield {
                "choice": choice.name,
                "measure": measure,
                "selected_method": method,
                "reference_method": selected(tce),
                "agrees": method == selected(tce),
                "agreement_frequency": float(agreement),
                "selected_frequency": float(np.mean(by_measure == METHODS.index(method))),
                "n_resamples": b,
                "tce_gain_percent": 100 * gain,
                "tce_gain_se_percent": 100 * float(np.std(gains, ddof=1)),
            }

    def _reference(self, variant: str, kind: str = "glm_empirical", norm: float = 2.0) -> float:
        tce = empirical_tce if kind == "glm_empirical" else beta_tce
        return tce(self.tops[variant], self.curve(variant).curve, norm)


def _selected_on_resamples(values_by_method: Sequence[np.ndarray]) -> np.ndarray:
    """Return the place in ``METHODS`` of the least value, the first of equals, (B,)."""
    return np.argmin(np.stack(values_by_method), axis=0)
