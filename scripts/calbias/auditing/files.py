"""A user's file, read by calbias.logits, as what ``prepared`` takes, with a group for each row."""

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from calbias.errors import InputError, did_you_mean
from calbias.logits.manifest import validate_file_exists
from calbias.logits.read_logits import read_logits, read_scores

_TABLES = (".csv", ".parquet")


class Source(NamedTuple):
    """``arrays`` are keywords of ``prepared``, ``groups`` (n,) a name for each row or None."""

    arrays: dict
    groups: np.ndarray | None
    warnings: list


def read_source(path, by=None, class_wise=False):
    """Return the Source of a file: its fold ``test``, or all rows where it has no folds.

    ``by`` names a column of groups. Raises InputError for what the readers refuse.
    """
    path = Path(path)
    validate_file_exists(path)
    names = _names(path)
    is_scores = bool({"score", "scores", "hit", "hits"} & set(names))
    is_scores |= any(name in names for name in ("test_score", "test_scores"))
    if is_scores and class_wise:
        raise InputError(f"{path}: --class-wise needs a column per class, not scores")
    groups = None if by is None else _groups(path, by, names)
    if is_scores:
        found = read_scores(path)
        top = found.folds["test"]
        return Source({"scores": top.score, "hits": top.hit}, groups, list(found.warnings))
    found = _without(path, by) if by else read_logits(path, path.stem, {})
    fold = found.folds["test"]
    return Source({"logits": fold.logits, "labels": fold.labels}, groups, list(found.warnings))


def _names(path):
    """Return the names of the columns or arrays; none where the reader is to say what is wrong."""
    import zipfile

    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if path.suffix.lower() == ".csv":
            with open(path, encoding="utf-8-sig") as file:
                return [name.strip().strip('"') for name in file.readline().split(",")]
        if path.suffix.lower() == ".parquet":
            return pq.read_schema(path).names
        if path.suffix.lower() == ".npz":
            with zipfile.ZipFile(path) as archive:
                return [name.removesuffix(".npy") for name in archive.namelist()]
    except (OSError, UnicodeDecodeError, pa.ArrowException, zipfile.BadZipFile):
        return []
    return []


def _groups(path, by, names):
    """Return the group of each row of the fold that is audited, as text."""
    if path.suffix.lower() not in _TABLES:
        raise InputError(f"{path}: --by needs a CSV or Parquet table with a column of groups")
    if by not in names:
        raise InputError(f"{path}: there is no column {by!r}. {did_you_mean(by, names)}")
    table = _table(path)
    groups = np.array([str(value) for value in table[by].to_pylist()])
    if "fold" in names and by != "fold":
        folds = np.array([str(value).strip() for value in table["fold"].to_pylist()])
        groups = groups[folds == "test"]
    return groups


def _without(path, column):
    """Return the OutputFile of a table without one of its columns."""
    import pyarrow.parquet as pq

    table = _table(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "table.parquet"
        pq.write_table(table.drop_columns([column]), copy)
        try:
            return read_logits(copy, path.stem, {})
        except InputError as error:
            raise InputError(str(error).replace(str(copy), str(path))) from error


def _table(path):
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    read = pa.csv.read_csv if path.suffix.lower() == ".csv" else pa.parquet.read_table
    try:
        return read(path)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].removesuffix(".")
        raise InputError(f"{path}: no readable table: {reason}; write it again") from error
