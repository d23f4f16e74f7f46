"""Two runs compared: verdicts that differ, and the numbers behind them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from calbias.errors import InputError
from pipeline.claims.verdicts import number
from pipeline.provenance import read_record
from pipeline.tables import read_table

KEYS = ["id", "name", "case", "unit"]
SHOWN = 20  # numbers
SETTINGS = ("seed", "replicates", "norm", "softmax", "fits", "score_precision")


def compare_runs(*, before: Path, after: Path, changed: float = 0.01) -> None:
    """Compare the claims of two runs: settings, verdicts, and the numbers that changed most.

    before: folder of results of one run
    after: folder of results of the other
    changed: change of a number from which it is counted, as a fraction of it
    """
    for line in compared(before, after, changed):
        print(line)


def compared(before: Path, after: Path, changed: float = 0.01) -> Iterator[str]:
    """Yield the lines that say what differs between two folders of results."""
    yield from _settings(before, after)
    old, new = (_table(folder, "claims").set_index("id") for folder in (before, after))
    shared = [name for name in old.index if name in new.index]
    for side, only, other in (("before", old, new), ("after", new, old)):
        if names := [name for name in only.index if name not in other.index]:
            yield f"only {side}: {', '.join(names)}"
    differing = [x for x in shared if old.loc[x, "verdict"] != new.loc[x, "verdict"]]
    yield f"{len(shared)} claims, {len(differing)} verdicts differ"
    for name in differing:
        words = f"{old.loc[name, 'verdict']} → {new.loc[name, 'verdict']}"
        yield f"{name}: {words} ({old.loc[name, 'reason']} → {new.loc[name, 'reason']})"
    table = changes(*(_table(folder, "measurements") for folder in (before, after)))
    large = table[table["share"] > changed]
    yield (
        f"{len(table)} numbers, {len(large)} differ by more than {changed:g} of their value, "
        f"{int((table['errors'] > 3).sum())} by more than three standard errors"
    )
    for row in large.sort_values("share", ascending=False).head(SHOWN).itertuples():
        values = f"{number(row.value_before)} → {number(row.value_after)}"
        errors = f", {row.errors:.1f} standard errors" if np.isfinite(row.errors) else ""
        case = f", {row.case}" * bool(row.case)
        yield f"{row.id} {row.name}{case}: {values} ({row.share:+.1%}{errors})"


def changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of two tables ``measurements`` that both have.

    ``share`` is the size of the change over the greater of both sizes, ``errors`` the size of the
    change in its standard errors, NaN where none is known.
    """
    old, new = (x.fillna({"case": "", "unit": ""}).drop_duplicates(KEYS) for x in (before, after))
    both = old.merge(new, on=KEYS, suffixes=("_before", "_after"))
    size = (both["value_after"] - both["value_before"]).abs()
    greatest = both[["value_before", "value_after"]].abs().max(axis=1)
    error = np.hypot(both["error_before"].astype(float), both["error_after"].astype(float))
    return both.assign(
        share=(size / greatest.where(greatest > 0)).fillna(0.0),
        errors=size / error.where(error > 0),
    )


def _settings(before: Path, after: Path) -> Iterator[str]:
    """Yield the settings of the configuration that differ, of runs that recorded them."""
    records = [folder / "provenance.json" for folder in (before, after)]
    if not all(path.is_file() for path in records):
        return
    old, new = (read_record(path).get("config", {}) for path in records)
    for name in SETTINGS:
        if old.get(name) != new.get(name):
            yield f"{name}: {old.get(name)} → {new.get(name)}"


def _table(folder: Path, name: str) -> pd.DataFrame:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of results of a run")
    return read_table(folder / "tables" / f"{name}.csv")
