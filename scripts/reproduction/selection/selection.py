"""Which recalibration method a measure selects, and how often it agrees with the reference's."""

from functools import cache

import numpy as np

from pipeline.fits.empirical_error import empirical_tce, fit_curve
from reproduction.selection.analysis_choices import CHOICES, DEFAULT, METHODS
from reproduction.selection.measures import load_measures, measured, resampled_values
from reproduction.selection.reference import beta_tce, resampled_tce


def selected(values):
    """Return the first method of least value of {method: value}; None if all are NaN."""
    methods = [method for method in METHODS if not np.isnan(values[method])]
    return min(methods, key=lambda method: values[method], default=None)


class Selections:
    """The selections of one model, under every choice; each number is computed once.

    ``tops`` {variant: TopLabel} of the test fold, ``counts`` (B, n) from ``draw_counts``. Choices
    other than the default use the first quarter of the resamples, and at least two.
    """

    def __init__(self, tops, counts, estimators=None):
        self.tops, self.counts = tops, counts
        self.measures = cache(lambda norm=2.0: load_measures(norm, estimators))
        self.curve = cache(lambda variant: fit_curve(tops[variant]))
        self.measured = cache(
            lambda variant, ties="average", norm=2.0: measured(
                self.measures(norm), tops[variant], ties
            )
        )
        self.reference = cache(self._reference)
        self._resampled_values = cache(
            lambda variant, ties, norm, b: resampled_values(
                self.measures(norm), tops[variant], counts[:b], ties
            )
        )
        self._resampled_reference = cache(
            lambda variant, norm, b: resampled_tce(
                tops[variant], self.curve(variant), counts[:b], norm
            )
        )

    def rows(self, choices=CHOICES):
        """Return one dict per choice and measure; the beta reference has no frequencies: NaN."""
        return [row for choice in choices for row in self._rows(choice)]

    def _rows(self, choice):
        variants, ties, norm = choice.variants, choice.ties, choice.norm
        reference_method = selected(
            {m: self.reference(v, choice.reference, norm) for m, v in variants.items()}
        )
        b = len(self.counts) if choice == DEFAULT else max(2, len(self.counts) // 4)
        values = [self._resampled_values(v, ties, norm, b) for v in variants.values()]
        by_reference = None
        if choice.reference == "glm_empirical":
            by_reference = _selected_on_resamples(
                [self._resampled_reference(v, norm, b) for v in variants.values()]
            )
        for measure in self.measures(norm):
            numbers = {m: self.measured(v, ties, norm)[measure] for m, v in variants.items()}
            method = selected(numbers)
            by_measure = _selected_on_resamples([of_method[measure] for of_method in values])
            agreement = np.nan if by_reference is None else np.mean(by_measure == by_reference)
            yield {
                "choice": choice.name,
                "measure": measure,
                "selected_method": method,
                "reference_method": reference_method,
                "agrees": method == reference_method,
                "agreement_frequency": float(agreement),
                "selected_frequency": float(np.mean(by_measure == METHODS.index(method))),
                "n_resamples": b,
            }

    def _reference(self, variant, kind="glm_empirical", norm=2.0):
        tce = empirical_tce if kind == "glm_empirical" else beta_tce
        return tce(self.tops[variant], self.curve(variant).curve, norm)


def _selected_on_resamples(values_by_method):
    """Return the place in ``METHODS`` of the least value, the first of equals, (B,)."""
    return np.argmin(np.stack(values_by_method), axis=0)
