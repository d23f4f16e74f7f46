from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.tables import read_table, write_table

SAME, SMALL = 1e-9, 1e-6  # relative and absolute
COLUMNS = ("table", "row", "column", "kept", "fresh")


def compare_evidence(*, kept: list[Path], fresh: list[Path], output: Path) -> None:
    """Name each number of the kept tables that differs in this run's tables.

    kept: tables of resources/evidence
    fresh: the tables of this run, in the same order
    output: table of the differences to write; without rows where nothing differs
    """
    rows: list[dict[str, Any]] = []
    for old, new in zip(kept, fresh, strict=True):
        rows += differences(old.stem, read_table(old), read_table(new))
    write_table(output, COLUMNS, rows)
    print(f"{len(rows)} numbers of {len(kept)} tables differ from the kept ones")


def differences(name: str, old: pd.DataFrame, new: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a dict for each number; rows are known by their words and whole numbers."""
    keys = [c for c in old if c in new and old[c].dtype.kind in "OiUTb"]
    both = old.merge(new, on=keys, how="outer", suffixes=("", " fresh"), indicator=True)
    words = both[keys].astype(str).agg(" ".join, axis=1)
    sides = {"left_only": ("row", ""), "right_only": ("", "row")}
    for label, side in zip(words, both["_merge"], strict=True):
        if side in sides:
            yield dict(zip(COLUMNS, (name, label, "", *sides[side]), strict=True))
    shared = both["_merge"] == "both"
    for column in old.columns.difference(keys):
        if f"{column} fresh" not in both:
            yield dict(zip(COLUMNS, (name, "", column, "column", ""), strict=True))
            continue
        a, b = both.loc[shared, column], both.loc[shared, f"{column} fresh"]
        off = ((a - b).abs() > SAME * a.abs() + SMALL) | (a.isna() != b.isna())
        for row in off[off].index:
            yield dict(zip(COLUMNS, (name, words[row], column, a[row], b[row]), strict=True))
