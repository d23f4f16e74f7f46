"""Several models on the same rows: all pairs at once, at one level, and how many rows they need."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calbias.auditing.audit_result import plain
from calbias.auditing.comparison.comparison_result import (
    Compared,
    CompareOptions,
    ComparisonNumbers,
)
from calbias.defaults import p_digits
from calbias.io.outputs import GENERATOR

if TYPE_CHECKING:
    import pandas as pd

_MOST_NEEDED = 1e7


@dataclass(frozen=True)
class Board:
    """Models by their ℓ1 error, and the difference of each pair; all numbers are fractions.

    Each of the ``comparisons`` has the level at which all intervals hold at once, that is
    Bonferroni's; p-values are those of a pair times the number of pairs.
    """

    comparisons: tuple[ComparisonNumbers, ...]
    options: CompareOptions
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The rows, the same for all models."""
        return self.comparisons[0].n

    @property
    def models(self) -> list[Compared]:
        """The models, the smallest error first."""
        models = {each.name: each for pair in self.comparisons for each in pair.models}
        return sorted(models.values(), key=lambda each: each.error.value)

    def table(self) -> pd.DataFrame:
        """Return a row for each pair, the clearest first.

        ``difference`` of the errors, ``first`` less ``second``, with ``low`` and ``high``,
        ``p_value``, the ``better`` one, "" where none is found, and ``rows_needed``, about how many
        rows, or clusters, would find the difference if the estimate is the truth.
        """
        import pandas as pd

        rows = []
        for pair in self.comparisons:
            p_value = min(len(self.comparisons) * pair.p_value, 1.0)
            is_found = pair.low > 0 or pair.high < 0
            better = (pair.first if pair.difference < 0 else pair.second) if is_found else ""
            values = (pair.first, pair.second, pair.difference, pair.low, pair.high, p_value)
            rows.append((*values, better, np.nan if is_found else _rows_needed(pair)))
        columns = ["first", "second", "difference", "low", "high", "p_value", "better",
                   "rows_needed"]  # fmt: skip
        return pd.DataFrame(rows, columns=columns).sort_values("p_value", ignore_index=True)

    def subgroups(self) -> pd.DataFrame | None:
        """Return in which subgroups which pair differs; None without subgroups.

        A row for each pair and subgroup in which one model has the smaller gap, at the level of the
        pair.
        """
        import pandas as pd

        tables = [
            pair.subgroups.table.assign(first=pair.first, second=pair.second)
            for pair in self.comparisons
            if pair.subgroups is not None
        ]
        if not tables:
            return None
        table = pd.concat(tables, ignore_index=True)
        table["p_value"] = np.minimum(table["p_value"] * len(self.comparisons), 1.0)
        is_found = (table["low"] > 0) | (table["high"] < 0)
        table["better"] = np.where(table["difference"] < 0, table["first"], table["second"])
        names = ["first", "second", "segment", "n", "difference", "low", "high", "p_value",
                 "better"]  # fmt: skip
        return table.loc[is_found, names].sort_values("p_value", ignore_index=True)

    @property
    def sentence(self) -> str:
        """Which model has the smallest error, and how many pairs differ."""
        table, first = self.table(), self.models[0]
        value, low, high = (f"{100 * x:.1f}" for x in first.error)
        n_different = int((table["better"] != "").sum())
        level = f"{100 * self.options.confidence_level:g} %"
        return (
            f"n = {self.n}: of {len(self.models)} models {first.name} has the smallest calibration "
            f"error, {value} % ({low} to {high} %); {n_different} of {len(table)} pairs differ "
            f"({level} for all at once)."
        )

    @property
    def lines(self) -> list[str]:
        """A line for each pair."""
        unit = "rows" if self.comparisons[0].n_clusters is None else "clusters"
        lines = []
        for row in self.table().itertuples():
            ends = f"{100 * row.low:z.2f} to {100 * row.high:z.2f}"
            verdict = f"{row.better} is better calibrated"
            if not row.better:
                needed = f"about {float(f'{row.rows_needed:.2g}'):.0f} {unit} would tell"
                is_large = row.rows_needed > _MOST_NEEDED
                needed = f"ten million {unit} would not tell" if is_large else needed
                verdict = f"no difference found, {needed}"
            lines.append(
                f"{row.first} less {row.second}: {100 * row.difference:z.2f} points ({ends}), p = "
                f"{p_digits(row.p_value)}: {verdict}"
            )
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds."""
        subgroups = self.subgroups()
        by_subgroup = {} if subgroups is None else {"subgroups": plain(subgroups)}
        models = [
            {"name": each.name} | {name: plain(getattr(each, name)) for name in ("error", "brier")}
            for each in self.models
        ]
        return {
            "generator": GENERATOR.format("compare"),
            "sentence": self.sentence,
            "n": self.n,
            "n_clusters": self.comparisons[0].n_clusters,
            "kind": self.comparisons[0].kind,
            "models": models,
            "pairs": plain(self.table()),
            **by_subgroup,
            "options": plain(self.options),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """Return the table of the pairs as CSV, which says what wrote it."""
        return self.table().assign(generator=GENERATOR.format("compare")).to_csv(index=False)


def pair_level(level: float, models: int) -> float:
    """Return the level of one of all pairs whose intervals hold at once with ``level``."""
    return 1.0 - (1.0 - level) / (models * (models - 1) // 2)


def _rows_needed(pair: ComparisonNumbers) -> float:
    """Return how many rows, or clusters, would bring the end of the interval beyond 0 to it.

    It comes nearer to the estimate with their root.
    """
    size = pair.n if pair.n_clusters is None else pair.n_clusters
    end = pair.high if pair.difference < 0 else pair.low
    return size * (1.0 - end / pair.difference) ** 2 if pair.difference else np.inf
