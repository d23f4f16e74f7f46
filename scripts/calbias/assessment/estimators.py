"""Each estimator on a model's scores: its estimate, bias and spread there, p-value and rank."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from calbias.assessment.redraws import NULL, redrawn_estimates
from calbias.engine.sorted_batch import sorted_data_set
from calbias.truth.targets.registry import known_targets, target_value_of_sample

LEVEL = 0.05
_TIED = 2.0  # standard errors of a difference of mean squared errors


class LoadedEstimator(NamedTuple):
    """An estimator's function, its target, the norm at which it is used and its own options."""

    run: Callable
    target: str
    norm: float
    options: dict


@dataclass(frozen=True)
class AssessedEstimator:
    """An estimator on one model's scores; errors are fractions, None is what cannot be known.

    Attributes
    ----------
    name, target, norm, n_bins
        The estimator, what it estimates (``lp`` is the ℓp error; the files in
        ``calbias/truth/targets`` define all), p, and the number of bins used: 0 where it has none.
    estimate : float
        The estimate from the model's own hits.
    truth : float or None
        The target's value for the model's scores with its fitted calibration curve.
    bias, bias_se, sd, rmse : float or None
        Mean error, its Monte Carlo standard error, standard deviation and root mean squared error
        of the estimate, from hits redrawn with the fitted curve.
    debiased : float or None
        The estimate less the bias, and at least 0.
    null_mean, null_95 : float
        Mean and 95 % quantile of the estimate if the model were calibrated: hits redrawn with the
        scores as their probabilities.
    p_value : float
        The share of these that reach the estimate, (1 + #{null ≥ estimate}) / (1 + replicates).
    trust_rank : int or None
        1 + the number of estimators of the same target and norm whose rmse is smaller by more than
        two standard errors of the difference. Estimators that cannot be told apart share a rank.
    note : str
        Why a value is None.
    """

    name: str
    target: str
    norm: float
    n_bins: int
    estimate: float
    truth: float | None
    bias: float | None
    bias_se: float | None
    sd: float | None
    rmse: float | None
    debiased: float | None
    null_mean: float
    null_95: float
    p_value: float
    trust_rank: int | None
    note: str

    @property
    def miscalibrated(self) -> bool:
        """Whether the p-value is below 0.05."""
        return self.p_value < LEVEL

    @property
    def quantity(self) -> tuple[str, float]:
        """Target and norm; at norm 1 the power of the error is the error."""
        return ("lp" if (self.target, self.norm) == ("lp_power", 1.0) else self.target), self.norm


def assessed_estimators(top, model, loaded, replicates, n_bins, seed):
    """Return AssessedEstimators, the most trustworthy of each target and norm first.

    ``top`` is the TopLabel of the data, ``model`` its FittedModel, ``loaded`` {name:
    LoadedEstimator} in the order wanted.
    """
    runs = {name: _at(estimator, n_bins) for name, estimator in loaded.items()}
    null = redrawn_estimates(top.score, top.score, runs, replicates, seed, NULL)
    drawn = None
    if model.rates is not None:
        drawn = redrawn_estimates(top.score, model.rates, runs, replicates, seed, "fitted")
    data = sorted_data_set(top.score, top.hit)
    assessed, squared_errors = [], {}
    for name, (_, target, norm, options) in loaded.items():
        estimates, n_bins_used = runs[name](data)
        estimate = float(estimates[0])
        told = dict.fromkeys(("truth", "bias", "bias_se", "sd", "rmse", "debiased"))
        truth = None
        if drawn is not None and target in known_targets():
            options = {**options, "norm": norm, "n_bins": n_bins}
            truth = target_value_of_sample(target, top.score, model.rates, **options)
        note = model.reason
        if truth is not None:
            errors = drawn[name] - truth
            squared_errors[name] = errors**2
            told = _told(estimate, truth, errors)
        elif not note:
            note = f"the true value of its target {target} is not known here"
        assessed.append(
            AssessedEstimator(
                name=name,
                target=target,
                norm=norm,
                n_bins=max(int(n_bins_used[0]), 0),
                estimate=estimate,
                **told,
                null_mean=float(null[name].mean()),
                null_95=float(np.quantile(null[name], 0.95)),
                p_value=float((1 + np.count_nonzero(null[name] >= estimate)) / (1 + replicates)),
                trust_rank=None,
                note=note,
            )
        )
    return _sorted([_ranked(each, assessed, squared_errors) for each in assessed])


def _at(estimator, n_bins):
    return lambda data: estimator.run(data, n_bins, estimator.norm)


def _told(estimate, truth, errors):
    bias, sd = float(errors.mean()), float(errors.std(ddof=1))
    return {
        "truth": truth,
        "bias": bias,
        "bias_se": sd / len(errors) ** 0.5,
        "sd": sd,
        "rmse": float(np.sqrt(np.mean(errors**2))),
        "debiased": max(estimate - bias, 0.0),
    }


def _ranked(estimator, assessed, squared_errors):
    """Return the estimator with its rank among those of its target and norm, or with a note."""
    if estimator.rmse is None:
        return estimator
    others = [e for e in assessed if e is not estimator and e.quantity == estimator.quantity]
    others = [e for e in others if e.rmse is not None and np.isclose(e.truth, estimator.truth)]
    if not others:
        return replace(
            estimator, note=f"no other estimator of {_in_words(estimator)} to rank it by"
        )
    own = squared_errors[estimator.name]
    better = sum(_is_smaller(squared_errors[other.name], own) for other in others)
    return replace(estimator, trust_rank=1 + better)


def _is_smaller(squared_errors, others):
    """Return whether the mean of the first is smaller by two standard errors of the difference."""
    difference = others - squared_errors
    return difference.mean() > _TIED * difference.std(ddof=1) / len(difference) ** 0.5


def _in_words(estimator):
    return f"target {estimator.target} at norm {estimator.norm:g}"


def _sorted(assessed):
    """Sort by target and norm, in the order in which these first appear, then by rmse."""
    order = list(dict.fromkeys(estimator.quantity for estimator in assessed))

    def key(estimator):
        rmse = np.inf if estimator.rmse is None else estimator.rmse
        return order.index(estimator.quantity), rmse

    return sorted(assessed, key=key)
