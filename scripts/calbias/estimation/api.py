"""Calibration error of a user's own scores, by any estimator."""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from numpy.typing import ArrayLike

from calbias.defaults import N_BINS
from calbias.engine.scores_and_hits import (
    checked_weights,
    scores_and_hits,
    validate_options,
    validate_same_order,
)
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.errors import InputError
from calbias.estimation.loading import estimate_sums, is_of_sums, load_estimator, loaded
from calbias.estimation.monotone import warn_of_a_fall
from calbias.estimation.registry import (
    FOLDER,
    estimator_file,
    estimator_target,
    folders_with,
    known_estimators,
    usable_norm,
)
from calbias.io.python_files import literal
from calbias.reading.checks import as_top_label
from calbias.samples.by_score import Scored
from calbias.samples.in_order import UnsortedRows

Array: TypeAlias = ArrayLike | None
Folder: TypeAlias = Path | str | None
Ties: TypeAlias = Literal["average", "input_order"]


class Estimate(NamedTuple):
    """An estimate of a model's calibration error.

    Attributes
    ----------
    value : float
        The estimate, a fraction.
    n_bins : int
        The number of bins it used: 0 where the estimator has none.
    norm : float
        p of the ℓp error, as asked for; targets other than ``lp`` and ``lp_power``, such as that of
        ``ks``, have no norm and ignore it.
    estimator : str
        The estimator's name.
    target : str
        What it estimates, such as ``lp``, the ℓp calibration error (E|c - T(c)|^p)^(1/p), or
        ``lp_power``, that error to the power of p: see ``calbias.truth.targets``.
    """

    value: float
    n_bins: int
    norm: float
    estimator: str
    target: str


class WeightedEstimate(Estimate):
    """An estimate of weighted rows, with ``effective_n``, (Σ w)²/Σ w²."""

    effective_n: float


class Estimator(NamedTuple):
    """What an estimator is.

    Attributes
    ----------
    name : str
    target : str
        What it estimates, see ``Estimate``.
    bins : {"fixed", "chosen", "none"}
        Whether ``n_bins`` sets the number of bins, the estimator chooses it, or there are none.
    norms : tuple of float
        The norms for which it is defined; empty for all.
    summary, formula : str
        The first line of the text on top of its file, and its formula: the indented lines there
        that begin with the name or a pattern of it, such as ``skce_*``, or else the last one.
    """

    name: str
    target: str
    bins: str
    norms: tuple[float, ...]
    summary: str
    formula: str


def estimate(
    estimator: str,
    scores: Array = None,
    hits: Array = None,
    *,
    n_bins: int = N_BINS,
    norm: float | None = None,
    ties: Ties = "average",
    logits: Array = None,
    probabilities: Array = None,
    labels: Array = None,
    sample_weight: Array = None,
    estimator_dir: Folder = None,
) -> Estimate:
    """Estimate the calibration error of a model.

    Parameters
    ----------
    estimator : str
        An estimator's name; ``calbias.list_estimators()`` lists them.
    scores : array_like, shape (n,) or (n, 1)
        Top-label probabilities in [0, 1]. For a yes-or-no model the predicted probabilities of yes
        serve as well, with the outcomes as hits.
    hits : array_like, shape (n,) or (n, 1)
        1 where the prediction was correct, else 0.
    n_bins : int, default 15
        Number of bins, for estimators with a fixed number.
    norm : float, optional
        p of the ℓp error. By default 1, the norm of the ECE that most papers and packages print, or
        2 for estimators that exist for 2 only, such as ``ece_debias_em``. Roelofs et al. (2022) use
        2 throughout.
    ties : {"average", "input_order"}, default "average"
        What happens within groups of equal scores. ``average`` gives each sample the group's mean
        hit, and equal-mass bins do not cut groups: the estimate does not depend on the order of the
        rows. ``input_order`` keeps that order, as published numbers were computed.
    logits, probabilities : array_like, shape (n, K), optional
        Outputs for all K classes, instead of scores.
    labels : array_like, shape (n,), (n, 1) or (n, K), optional
        Class numbers from 0 or one-hot rows, which go with logits or probabilities.
    sample_weight : array_like, shape (n,), optional
        A weight of at least 0 for each row; only ratios matter. Means become weighted means, and
        the debiased estimators subtract the noise of (Σ w)²/Σ w² rows. A row of weight 2 is one
        observation, not two. The kernel densities have no definition for it, and refuse.
    estimator_dir : path, optional
        A folder with estimators of your own, which are known beside those of calbias. A file there
        defines ``estimate(scores, hits, n_bins, norm)``.

    Warns
    -----
    UserWarning
        Where a sweep is used on scores whose hit rate clearly falls somewhere as they grow.

    Returns
    -------
    Estimate
        The value is a fraction: 0.05 is 5 percentage points. With weights it has the attribute
        ``effective_n``, (Σ w)²/Σ w².

    Raises
    ------
    InputError
        A ``ValueError`` of one line, for an unknown estimator, a norm for which it is not defined,
        and input that is not of this form.

    References
    ----------
    Roelofs, Cain, Shlens and Mozer (2022). Mitigating bias in calibration error estimation.
    AISTATS. Each estimator's file names its own reference.

    Examples
    --------
    >>> import calbias
    >>> scores = [0.9, 0.8, 0.6, 0.7]
    >>> hits = [1, 1, 0, 1]
    >>> calbias.estimate("ece_bin_ew", scores, hits, n_bins=2)
    Estimate(value=0.0, n_bins=2, norm=1.0, estimator='ece_bin_ew', target='lp')
    >>> round(calbias.estimate("ece_sweep_em", scores, hits).value, 3)
    0.3
    >>> probabilities = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]]
    >>> labels = [0, 1, 1, 1]
    >>> same = calbias.estimate("ece_sweep_em", probabilities=probabilities, labels=labels)
    >>> round(same.value, 3)
    0.3
    """
    validate_options(n_bins, norm)
    validate_same_order(
        scores=scores, hits=hits, logits=logits, probabilities=probabilities, labels=labels,
        sample_weight=sample_weight,
    )  # fmt: skip
    path = estimator_file(estimator, folders_with(estimator_dir))
    target = estimator_target(estimator, path)
    if scores is None or hits is None or not logits is probabilities is labels is None:
        top = as_top_label(scores, hits, logits=logits, probabilities=probabilities, labels=labels)
        scores, hits = top.score, top.hit
    if sample_weight is not None:
        if ties != "average":
            raise InputError('weights go with ties="average" only: leave ties out')
        rows, outcomes = scores_and_hits(scores, hits)
        scored = Scored.weighted(rows, outcomes, checked_weights(sample_weight, rows.size))
        value, used, norm = estimate_sums(estimator, scored, int(n_bins), norm)
        weighted = WeightedEstimate(value, used, norm, estimator, target)
        weighted.effective_n = scored.effective_n
        return weighted
    if ties == "average" and path.parent == FOLDER and is_of_sums(path):
        sample = UnsortedRows(*scores_and_hits(scores, hits))
        value, used, norm = estimate_sums(estimator, sample, int(n_bins), norm)
        warn_of_a_fall(estimator, sample.scores, sample.hits, used)
        return Estimate(value, used, norm, estimator, target)
    norm = usable_norm(estimator, 1, path) if norm is None else float(norm)
    run = load_estimator(estimator, path)
    values, n_bins_used = run(sorted_data_set(scores, hits, ties), int(n_bins), norm)
    warn_of_a_fall(estimator, *scores_and_hits(scores, hits), int(n_bins_used[0]))
    return Estimate(float(values[0]), max(int(n_bins_used[0]), 0), norm, estimator, target)


def estimate_sorted(
    estimator: str, data: SortedBatch, n_bins: int = N_BINS, norm: float | None = None
) -> float:
    """Return the value of ``estimate`` for a SortedBatch of one row."""
    norm = _usual_norm(estimator) if norm is None else float(norm)
    values, _ = loaded(estimator)(data, n_bins, norm)
    return float(values[0])


@cache
def _usual_norm(estimator: str) -> float:
    return usable_norm(estimator, 1)


def list_estimators(estimator_dir: Path | str | None = None) -> tuple[Estimator, ...]:
    """Describe the estimators that ``estimate`` and ``audit`` know.

    Parameters
    ----------
    estimator_dir : path, optional
        A folder with estimators of your own, as for ``estimate``.

    Returns
    -------
    tuple of Estimator
        Sorted by name.

    Raises
    ------
    InputError
        For a folder that does not exist, and for a name that is taken.

    Examples
    --------
    >>> import calbias
    >>> described = {estimator.name: estimator for estimator in calbias.list_estimators()}
    >>> described["ece_sweep_em"].bins, described["ece_sweep_em"].target
    ('chosen', 'lp')
    """
    files = known_estimators(folders_with(estimator_dir))
    return tuple(_described(name, path) for name, path in sorted(files.items()))


def _described(name: str, path: Path) -> Estimator:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")), clean=False) or ""
    lines = text.splitlines() or [""]
    return Estimator(
        name=name,
        target=estimator_target(name, path),
        bins=literal(path, "BINS", default="fixed"),
        norms=tuple(float(norm) for norm in literal(path, "NORMS", default=())),
        summary=lines[0],
        formula=_formula(name, lines),
    )


def _formula(name: str, lines: list[str]) -> str:
    """Return the indented lines that begin with a pattern of the name, without it; or the last."""
    indented = [line.strip() for line in lines if line.startswith("    ")]
    parts = [line.split(maxsplit=1) for line in indented if " " in line]
    by_name = [
        formula
        for pattern, formula in parts
        if fnmatchcase(name, pattern) and not formula.startswith("=")
    ]
    return "; ".join(by_name) if by_name else indented[-1] if indented else ""
