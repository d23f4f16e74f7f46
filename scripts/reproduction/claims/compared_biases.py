"""Comparisons of biases with their Monte Carlo errors."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from pipeline.claims.verdicts import CLEAR, FEW, RARE, Measurement, Verdict
from reproduction.bias import error_of_mean

Mean = tuple[float, float]  # with its standard error
Advantage = tuple[pd.Series, pd.Series]  # of cells, and its standard errors


class CellCounts(NamedTuple):
    """How many cells clearly agree with a claim, are undecided, clearly disagree."""

    agree: int
    undecided: int
    disagree: int

    @property
    def total(self) -> int:
        """The number of cells."""
        return sum(self)

    def verdict(self) -> Verdict:
        """Return the verdict on 'consistently', as CONSISTENTLY words it."""
        most = self.agree > self.total / 2
        return Verdict.of(
            most and self.disagree <= RARE * self.total, most and self.disagree <= FEW * self.total
        )


def count_cells(advantage: np.ndarray, standard_error: np.ndarray) -> CellCounts:
    """Return how many advantages (m,), with errors (m,), are clear, above 0 where a claim holds."""
    advantage, limit = np.asarray(advantage), CLEAR * np.asarray(standard_error)
    agree, disagree = int(np.sum(advantage > limit)), int(np.sum(advantage < -limit))
    return CellCounts(agree, advantage.size - agree - disagree, disagree)


def counted(advantages: Mapping[str, Advantage]) -> tuple[dict[str, CellCounts], float]:
    """Return {case: CellCounts} of {case: advantages with their errors}, and the largest error."""
    counts = {case: count_cells(*advantage) for case, advantage in advantages.items()}
    return counts, max(error.max() for _, error in advantages.values())


def cell_measurements(name: str, counts: Mapping[str, CellCounts]) -> list[Measurement]:
    """Return Measurements of {case: CellCounts}: the cells that clearly agree, then the others."""
    return [
        Measurement(f"{name}, cells of {cells.total} {what}", getattr(cells, count), "", case)
        for what, count in (("clearly so", "agree"), ("clearly the opposite", "disagree"))
        for case, cells in counts.items()
    ]


def abs_difference(
    bias_a: pd.Series, se_a: pd.Series, bias_b: pd.Series, se_b: pd.Series
) -> Advantage:
    """Return |a| − |b| and a bound on its error, for any correlation of a and b."""
    return np.abs(bias_a) - np.abs(bias_b), se_a + se_b


def less_biased(bias: pd.DataFrame, se: pd.DataFrame, a: str, b: str) -> Advantage:
    """Return by how much |bias| of estimator a is below that of b, and its error, of columns."""
    return abs_difference(bias[b], se[b], bias[a], se[a])


def mean_abs(bias: pd.DataFrame, se: pd.DataFrame) -> dict[str, Mean]:
    """Return {estimator: (mean |bias|, its error)} of DataFrames, least first; rows independent."""
    pairs = zip(bias.abs().mean(), error_of_mean(se[bias.columns]), strict=True)
    means = dict(zip(bias.columns, pairs, strict=True))
    return dict(sorted(means.items(), key=lambda item: item[1][0]))


def clearly_below(means: Mapping[str, Mean], a: str, b: str) -> bool:
    """Return whether mean |bias| of a is below that of b by more than CLEAR bounds of error."""
    difference = means[b][0] - means[a][0]
    return difference > CLEAR * (means[a][1] + means[b][1])


def unrooted_notes(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return a note where the KDE without its root has another verdict; of {estimator: verdict}."""
    if verdicts["kde"] == verdicts["kde_unrooted"]:
        return []
    published = ": the published curves behave like that quantity" * _is_better(verdicts)
    return [
        f"on kde_unrooted, the integral without the p-th root, the verdict is "
        f"{verdicts['kde_unrooted'].words}{published}"
    ]


def without_root(verdicts: Mapping[str, Verdict], rooted: str) -> str:
    """Return a reason, ``rooted``, with where the claim holds better: the KDE without its root."""
    if not _is_better(verdicts):
        return f"the KDE has {rooted}"
    true = "true" if verdicts["kde_unrooted"] == Verdict.REPRODUCED else "nearly true"
    return f"{true} only of the KDE without its p-th root (with it {rooted})"


def _is_better(verdicts: Mapping[str, Verdict]) -> bool:
    return Verdict.worst(verdicts.values()) == verdicts["kde"] != verdicts["kde_unrooted"]
