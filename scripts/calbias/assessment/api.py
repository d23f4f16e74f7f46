"""Is a model miscalibrated, by how much, and which estimate is to be trusted at its sample size?

Each estimator is applied to the model's own scores and judged by construction (Roelofs et al. 2022,
section 4): on the same scores, hits are redrawn from a known calibration curve. The model's fitted
curve gives bias and spread; perfect calibration, T(c) = c, gives the p-value (consistency
resampling, Bröcker and Smith 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from calbias.assessment.calibration_curve import fitted_model
from calbias.assessment.estimators import (
    LEVEL,
    AssessedEstimator,
    LoadedEstimator,
    assessed_estimators,
)
from calbias.errors import InputError
from calbias.estimation.api import validate_options
from calbias.estimation.inputs import as_top_label, validate_whole
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import (
    FOLDER,
    estimator_file,
    estimator_options,
    estimator_target,
    usable_norm,
)

DECIDES = "ece_sweep_em"
ESTIMATORS = (
    "ece_sweep_em",
    "ece_sweep_ew",
    "ece_bin_em",
    "ece_bin_ew",
    "ece_label_binned_em",
    "ece_label_binned_ew",
    "kde",
    "ece_debias_em",
    "ece_debias_ew",
)
MOST_REPLICATES = 10_000  # enough for a p-value; each has all samples of the model


@dataclass(frozen=True)
class Assessment:
    """What is known about one model's calibration; errors are fractions.

    Attributes
    ----------
    n_samples : int
    accuracy, mean_score : float
        The share of hits and the mean confidence.
    direction : str
        ``overconfident`` or ``underconfident`` where the mean score is above or below the accuracy
        by more than two standard errors, else ``neither``.
    norm : float
        p of the ℓp error that was asked for. An estimator that is not defined for it has its own.
    fitted_curve : str
        The calibration curve of least AIC, from which hits are redrawn; empty where there is none.
    fit_p_value : float or None
        Small where that curve does not follow the hits: bias and spread are then approximate.
    decided_by : str
        The estimator whose p-value counts. It does not depend on the data.
    estimators : tuple of AssessedEstimator
        The most trustworthy of each target and norm first.
    """

    n_samples: int
    accuracy: float
    mean_score: float
    direction: str
    norm: float
    fitted_curve: str
    fit_p_value: float | None
    decided_by: str
    estimators: tuple[AssessedEstimator, ...] = field(repr=False)

    def __getitem__(self, name: str) -> AssessedEstimator:
        """Return the assessment of one estimator by its name."""
        for estimator in self.estimators:
            if estimator.name == name:
                return estimator
        raise KeyError(name)

    def __str__(self) -> str:
        """Return the verdict, and a line per estimator in percent."""
        names = ("estimate", "bias", "sd", "debiased")
        head = f"{'percent':24}{'norm':>5}" + "".join(f"{name:>10}" for name in names)
        lines = [self.verdict, f"{head}{'p-value':>10}{'rank':>6}"]
        for e in self.estimators:
            cells = [_percent(getattr(e, name)) for name in names]
            rank = "" if e.trust_rank is None else e.trust_rank
            row = f"{e.name:24}{e.norm:>5g}" + "".join(f"{cell:>10}" for cell in cells)
            lines.append(f"{row}{e.p_value:>10.3g}{rank:>6}")
        return "\n".join(lines)

    @property
    def p_value(self) -> float:
        """The p-value of perfect calibration that counts, that of ``decided_by``."""
        return self[self.decided_by].p_value

    @property
    def miscalibrated(self) -> bool:
        """Whether that p-value is below 0.05."""
        return self.p_value < LEVEL

    @property
    def best(self) -> AssessedEstimator:
        """The most trustworthy estimator of the ℓp error at the norm asked for.

        It is ``decided_by`` where that shares the first rank, or where no estimator has a rank.
        """
        of_error = [e for e in self.estimators if e.quantity == ("lp", self.norm)]
        first = [e for e in of_error if e.trust_rank == 1]
        deciding = self[self.decided_by]
        return deciding if deciding in first or not first else first[0]

    @property
    def verdict(self) -> str:
        """One sentence: calibrated or not, in which direction, and by how much."""
        found = (
            f"Not calibrated (p = {self.p_value:.2g} by {self.decided_by})"
            if self.miscalibrated
            else f"No miscalibration is found (p = {self.p_value:.2g} by {self.decided_by})"
        )
        means = f"mean score {100 * self.mean_score:.2f} %, accuracy {100 * self.accuracy:.2f} %"
        direction = "" if self.direction == "neither" else f"{self.direction}, "
        best = self.best
        size = f"calibration error (ℓ{best.norm:g}) "
        if best.debiased is None or best.sd is None:
            size += f"{100 * best.estimate:.2f} % by {best.name}, of unknown bias"
        else:
            size += (
                f"{100 * best.debiased:.2f} ± {100 * best.sd:.2f} % by {best.name} less its bias"
            )
        return f"{found}: {direction}{means}; {size}."


def assess(
    scores: ArrayLike | None = None,
    hits: ArrayLike | None = None,
    *,
    logits: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    estimators: Sequence[str] = ESTIMATORS,
    n_bins: int = 15,
    norm: float = 1.0,
    replicates: int = 1000,
    seed: int = 0,
) -> Assessment:
    """Judge a model's calibration: estimates with their bias and spread, and a verdict.

    Parameters
    ----------
    scores, hits, logits, probabilities, labels
        The model's outputs, as for ``calbias.estimate``.
    estimators : sequence of str, optional
        Their names; ``calbias.list_estimators()`` lists all.
    n_bins : int, default 15
        Number of bins, for estimators with a fixed number.
    norm : float, default 1
        p of the ℓp error. 1 is the norm of the ECE that most papers and packages print. Estimators
        that are not defined for it are applied at their own, and ranked apart.
    replicates : int, default 1000
        The number of simulated data sets, at least 2 and at most 10 000.
    seed : int, default 0

    Returns
    -------
    Assessment
        ``verdict`` says the result in one sentence; ``estimators`` holds the details.

    Raises
    ------
    InputError
        For input that is not of this form, and fewer than two samples.

    Notes
    -----
    One p-value counts, that of ``decided_by``: ``ece_sweep_em``, or the first estimator of the ℓp
    error where that is not among them. It is chosen before the data are seen, so that a calibrated
    model is called miscalibrated in 5 % of the cases. The smallest of several p-values has no such
    guarantee.

    References
    ----------
    Roelofs, Cain, Shlens and Mozer (2022), section 4, for bias by construction. Bröcker and Smith
    (2007), Increasing the reliability of reliability diagrams, for consistency resampling.

    Examples
    --------
    >>> import calbias
    >>> overconfident = calbias.Scenario("example", 2.8, 0.4, calbias.Curve("power", b1=2.0))
    >>> scores, hits = calbias.simulate(overconfident, n_samples=2000)
    >>> assessment = calbias.assess(scores[0], hits[0], replicates=100)
    >>> assessment.direction, assessment.miscalibrated
    ('overconfident', True)
    >>> best = assessment.best
    >>> abs(best.debiased - calbias.true_calibration_error(overconfident, norm=1)) < 3 * best.sd
    True
    """
    validate_options(n_bins, norm)
    validate_whole("replicates", replicates, 2)
    validate_whole("seed", seed, 0)
    top = as_top_label(scores, hits, logits=logits, probabilities=probabilities, labels=labels)
    if isinstance(estimators, str):
        raise InputError(f"estimators must be a list of names, such as [{estimators!r}]")
    loaded = loaded_estimators(estimators, norm)
    return assess_top_label(top, loaded, replicates, int(n_bins), float(norm), seed)


def loaded_estimators(names, norm, folders=(FOLDER,)):
    """Return {name: LoadedEstimator}, each at the norm wanted or else at its own."""
    loaded = {}
    for name in names:
        path = estimator_file(name, folders)
        loaded[name] = LoadedEstimator(
            load_estimator(name, path),
            estimator_target(name, path),
            usable_norm(name, norm, path),
            estimator_options(name, path),
        )
    if not loaded:
        raise InputError("there is no estimator to assess by: name at least one")
    return loaded


def assess_top_label(top, loaded, replicates=1000, n_bins=15, norm=1.0, seed=0):
    """Return the Assessment of a TopLabel by ``loaded_estimators``."""
    n = len(top.hit)
    if n < 2:
        raise InputError(f"{n} samples are too few to judge a model by: give at least 2")
    replicates = min(replicates, MOST_REPLICATES)
    model = fitted_model(top)
    assessed = assessed_estimators(top, model, loaded, replicates, n_bins, seed)
    of_error = [name for name, estimator in loaded.items() if estimator.target == "lp"] or list(
        loaded
    )
    gap = float(np.mean(top.score - top.hit))
    standard_error = float(np.sqrt(np.sum(top.score * np.exp(top.log1m_score)))) / n
    return Assessment(
        n_samples=n,
        accuracy=float(top.hit.mean()),
        mean_score=float(top.score.mean()),
        direction=_direction(gap, standard_error),
        norm=norm,
        fitted_curve=model.name,
        fit_p_value=model.fit_p_value,
        decided_by=DECIDES if DECIDES in loaded else of_error[0],
        estimators=tuple(assessed),
    )


def _percent(value):
    return "" if value is None else f"{100 * value:.2f}"


def _direction(gap, standard_error):
    if abs(gap) <= 2 * standard_error:
        return "neither"
    return "overconfident" if gap > 0 else "underconfident"
