"""What the tables say, over networks: each number with its standard error over networks.

``python -m measured.summarise`` reads the kept tables and writes ``summary.csv`` in their folder.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats

from measured.bias import write_rows
from measured.collect import KEPT
from measured.comparisons import (
    DEBIAS,
    PAIRS,
    SWEEP,
    comparisons,
    load,
    over_networks,
    predictions,
)
from measured.shipped import FOLDER, table

COLUMNS = ("what", "set", "law", "estimator", "n_networks", "value", "se", "t", "p", "n_above_0")


def scaled(rows: pd.DataFrame, after: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the comparison after temperature scaling, and the change of signed bias by scaling."""
    size = after.assign(size=after.bias_percent.abs()).pivot_table("size", "name", "estimator")
    about = {"law": "scaled", "set": "ten classes, temperature-scaled"}
    for estimator in size.columns:
        yield (
            {"what": "mean |bias|", "estimator": estimator} | about | over_networks(size[estimator])
        )
    for a, b in ((DEBIAS, SWEEP), *PAIRS):
        what = "difference" if b == SWEEP and a == DEBIAS else "advantage"
        values = size[a] - size[b] if what == "difference" else size[b] - size[a]
        name = "debias_em - sweep_em" if what == "difference" else f"{b} - {a}"
        yield {"what": what, "estimator": name} | about | over_networks(values)
    before = rows[(rows.law == "population") & rows.name.isin(after.name)]
    change = after.pivot_table("bias_percent", "name", "estimator") - before.pivot_table(
        "bias_percent", "name", "estimator"
    )
    for estimator in change.columns:
        yield (
            {"what": "bias after scaling less before", "estimator": estimator}
            | about
            | (over_networks(change[estimator]))
        )


def rank_correlations(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield Spearman's correlation over networks of signed bias with the true error."""
    part = rows[(rows.law == "population") & (rows.role != "control") & (rows.l2_percent > 4)]
    for (estimator, n), group in part.groupby(["estimator", "n_samples"]):
        result = stats.spearmanr(group.l2_percent, group.bias_percent)
        yield {
            "what": f"rank correlation of bias with l2 at n = {n}",
            "set": "l2 above 4",
            "law": "population",
            "estimator": estimator,
            "n_networks": len(group),
            "value": round(float(result.statistic), 3),
            "p": float(f"{result.pvalue:.2g}"),
        }


def choices(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what each estimator selects among recalibration methods, over networks."""
    ten = [name for name, row in table().items() if row["n_classes"] == "10"]
    rows = pd.read_csv(folder / "recalibration_selection.csv")
    rows = rows[rows.name.isin(ten)]
    for (choice, n), group in rows.groupby(["choice", "n_samples"]):
        for what in ("share_best", "share_worst", "regret_percent"):
            wide = group.pivot_table(what, "name", "estimator")
            for estimator in wide.columns:
                yield {"what": f"{what} at n = {n}", "set": choice, "estimator": estimator} | (
                    over_networks(wide[estimator])
                )
            yield {
                "what": f"{what} at n = {n}",
                "set": choice,
                "estimator": "sweep_em - debias_em",
            } | (over_networks(wide[SWEEP] - wide[DEBIAS]))
    truths = pd.read_csv(FOLDER / "recalibrated.csv")
    for method, group in truths[truths.name.isin(ten)].groupby("method"):
        defined = "truth" if group.is_defined.all() else "truth in 100 bins"
        yield {"what": defined, "set": "ten classes", "estimator": method} | (
            over_networks(group.set_index("name").l2_percent)
        )


def main(argv: list[str] | None = None) -> int:
    """Write the summary; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=Path, default=KEPT)
    tables = parser.parse_args(argv).tables
    rows = load(tables / "bias.parquet")
    results = [*comparisons(rows), *predictions(rows), *rank_correlations(rows)]
    results += scaled(rows, pd.read_parquet(tables / "scaled.parquet"))
    results += choices(tables)
    lines = [{key: row.get(key, "") for key in COLUMNS} for row in results]
    write_rows(tables / "summary.csv", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
