"""Comparisons of estimators on the same simulated data sets, with the errors of differences."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import CLEAR, FEW, RARE, SAME, Measurement, NotJudged, Verdict
from reproduction.bias import error_of_mean

Mean = tuple[float, float]  # with its standard error
Advantage = tuple[pd.Series, pd.Series]  # of cells, and its standard errors
CELL = ["scenario", "n_samples"]


class Biases(NamedTuple):
    """Biases of estimators in cells, and the covariances of their Monte Carlo errors.

    ``bias`` has cells × estimators, in percent; where an estimator has several numbers of bins its
    columns are pairs (estimator, n_bins). ``covariance`` is (cells, columns, columns). The columns
    of a cell are estimates of the same data sets; cells are independent.
    """

    bias: pd.DataFrame
    covariance: np.ndarray

    @classmethod
    def of(cls, run: RunTables, rows: pd.DataFrame, value: str = "bias_percent") -> Self:
        """Return those of rows of table ``bias``; NotJudged where a correlation is missing."""
        (table, errors), correlation = wide(run, rows, (value, "bias_se_percent"))
        se = errors.to_numpy()
        return cls(table, correlation * se[:, :, None] * se[:, None, :])

    @property
    def se(self) -> pd.DataFrame:
        """The standard errors, like ``bias``."""
        errors = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        return pd.DataFrame(errors, self.bias.index, self.bias.columns)

    def where(self, cells: np.ndarray) -> Self:
        """Return those of the cells of a boolean array."""
        return self._replace(bias=self.bias[cells], covariance=self.covariance[cells])

    def by_group(self, groups: Mapping[str, str]) -> Self:
        """Return the means over the scenarios of a group, by group and n: Figures 4 and 6."""
        scenarios, sizes = (self.bias.index.get_level_values(name) for name in CELL)
        keys = [pd.Index(scenarios.map(groups), name="group"), sizes]
        bias = self.bias.groupby(keys).mean()
        here = bias.index.get_indexer(pd.MultiIndex.from_arrays(keys))
        shares = (np.arange(len(bias))[:, None] == here).astype(float)
        shares /= shares.sum(axis=1, keepdims=True)
        return type(self)(bias, np.tensordot(shares**2, self.covariance, 1))

    def gain(self, a: Hashable, b: Hashable) -> Advantage:
        """Return by how much |bias| of a is below |bias| of b, with its paired standard error."""
        i, j = (self.bias.columns.get_loc(name) for name in (a, b))
        first, second = self.bias[a], self.bias[b]
        sign = np.where(first * second < 0, -1.0, 1.0)
        variance = (
            self.covariance[:, i, i]
            + self.covariance[:, j, j]
            - 2 * sign * self.covariance[:, i, j]
        )
        return second.abs() - first.abs(), pd.Series(np.sqrt(variance.clip(0)), first.index)

    def mean_gain(self, a: Hashable, b: Hashable) -> Mean:
        """Return the mean gain over the cells, with its standard error."""
        gain, error = self.gain(a, b)
        return float(gain.mean()), float(error_of_mean(error))

    def mean_abs(self) -> dict[str, Mean]:
        """Return {estimator: (mean |bias|, its error)}, least first."""
        pairs = zip(self.bias.abs().mean(), error_of_mean(self.se), strict=True)
        means = dict(zip(self.bias.columns, pairs, strict=True))
        return dict(sorted(means.items(), key=lambda item: item[1][0]))


def wide(
    run: RunTables, rows: pd.DataFrame, values: Sequence[str]
) -> tuple[list[pd.DataFrame], np.ndarray]:
    """Return cells × columns of values of table ``bias``, and correlations of the estimates.

    The correlations are (cells, columns, columns), between estimates of the same data sets.
    """
    rows = rows.assign(column=[*zip(rows["estimator"], rows["n_bins"], strict=True)])
    columns = [*dict.fromkeys(rows["column"])]
    names = [name for name, _ in columns]
    labels = names if len({*names}) == len(names) else columns
    tables = []
    for value in values:
        table = rows.pivot(index=CELL, columns="column", values=value)[columns]
        tables.append(table.set_axis(pd.Index(labels, tupleize_cols=False), axis=1))
    experiment = rows["experiment"].iloc[0]
    return tables, _correlations(run, experiment, tables[0].index, columns)


def _correlations(
    run: RunTables, experiment: str, cells: pd.MultiIndex, columns: list[tuple[str, int]]
) -> np.ndarray:
    """Return table ``correlations`` as an array (cells, columns, columns)."""
    table = run.table("correlations")
    table = table[table["experiment"] == experiment].fillna({"n_bins_a": 0, "n_bins_b": 0})
    column_index = pd.MultiIndex.from_tuples(columns)
    k = cells.get_indexer(pd.MultiIndex.from_frame(table[CELL]))
    i, j = (
        column_index.get_indexer(pd.MultiIndex.from_frame(table[[f"estimator_{x}", f"n_bins_{x}"]]))
        for x in "ab"
    )
    here = (k >= 0) & (i >= 0) & (j >= 0)
    k, i, j = k[here], i[here], j[here]
    result = np.full((len(cells), len(columns), len(columns)), np.nan)
    result[:, range(len(columns)), range(len(columns))] = 1.0
    # an estimator that never changes has no correlation, and no error either
    result[k, i, j] = result[k, j, i] = table["correlation"].fillna(0.0)[here]
    if np.isnan(result).any():
        raise NotJudged(f"table correlations lacks pairs of experiment {experiment}")
    return result


class CellCounts(NamedTuple):
    """How many cells clearly agree with a claim, are undecided, are the other way round."""

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


def clear_cells(advantage: np.ndarray, standard_error: np.ndarray) -> CellCounts:
    """Return the counts of advantages (m,) with errors (m,): both sides count by CLEAR errors."""
    advantage, limit = np.asarray(advantage), CLEAR * np.asarray(standard_error)
    agree, disagree = int(np.sum(advantage > limit)), int(np.sum(advantage < -limit))
    return CellCounts(agree, advantage.size - agree - disagree, disagree)


def count_cells(
    advantage: np.ndarray, standard_error: np.ndarray, same: float = SAME
) -> CellCounts:
    """Return the counts of advantages (m,), above 0 where a claim holds, with errors (m,).

    A cell agrees by CLEAR errors, and disagrees by more than ``same``, whatever its error: a less
    exact run finds fewer cells that agree and hides none that disagree.
    """
    advantage, limit = np.asarray(advantage), CLEAR * np.asarray(standard_error)
    agree, disagree = int(np.sum(advantage > limit)), int(np.sum(advantage < -same))
    return CellCounts(agree, advantage.size - agree - disagree, disagree)


def counted(advantages: Mapping[str, Advantage]) -> tuple[dict[str, CellCounts], float]:
    """Return {case: CellCounts} of {case: advantages with their errors}, and the largest error."""
    counts = {case: count_cells(*advantage) for case, advantage in advantages.items()}
    return counts, max(error.max() for _, error in advantages.values())


def cell_measurements(name: str, counts: Mapping[str, CellCounts]) -> list[Measurement]:
    """Return Measurements of {case: CellCounts}: the cells that clearly agree, then the others."""
    return [
        Measurement(f"{name}, cells of {cells.total} {what}", getattr(cells, count), "", case)
        for what, count in (("clearly so", "agree"), ("the other way round", "disagree"))
        for case, cells in counts.items()
    ]
