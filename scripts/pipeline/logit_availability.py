"""Which models have real logits or real scores, as Snakemake must know before any job starts."""

import csv
import difflib
import os
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from calbias.errors import InputError
from calbias.io.files import validate_no_placeholder
from pipeline.manifest import read_manifest, verify_size
from pipeline.models import Config, Models, published_models

DEFAULT_LOGITS_DIR = "resources/logits"
LONGEST = 12  # models that a line names


class Available(NamedTuple):
    """Where the outputs of the models come from.

    ``logits`` {model: path} are there or to be downloaded, ``scores`` {model: path} are top-label
    scores without logits.
    """

    logits: dict[str, str]
    scores: dict[str, str]


def available_files(config: Config, models: Models, resources: Path) -> Available:
    """Return what is ``Available`` of the models of a models table.

    The default ``logits_dir`` is the folder of this name here, then the one of the checkout, where
    two of the published files ship; if another is named, only that is searched. Without its
    ``file`` a paper's model has the scores that ship, if there are any. InputError for a file that
    no job could read, or with neither a file nor published fits.
    """
    folder = Path(config["logits_dir"])
    default = config["logits_dir"] == DEFAULT_LOGITS_DIR
    if not (default or config["download"] or folder.is_dir()):
        raise InputError(f"config: logits_dir: there is no folder {folder}; correct its name")
    published_dir, shipped = Path(resources) / "published", Path(resources) / "scores"
    manifest = read_manifest(published_dir / "nn_calibration_logits_manifest.csv")
    published = published_models(published_dir)
    available = Available({}, {})
    for model, row in models.items():
        path = folder / row["file"]
        if default and row["file"] and not os.path.lexists(path):
            with_code = Path(resources) / "logits" / row["file"]
            path = Path(os.path.relpath(with_code)) if with_code.is_file() else path
        genuine = model in manifest and manifest[model].file == path.name
        if row["file"] and os.path.isdir(path):  # False for a name too long to be one
            raise InputError(
                f"{config['models']}: model {model}: file {row['file']} is a folder ({path}); "
                f"name the file of its outputs"
            )
        if row["file"] and os.path.isfile(path):
            if genuine:
                verify_size(path, manifest[model])
            else:
                validate_no_placeholder(path)
            if _holds_scores(path):
                available.scores[model] = str(path)
            else:
                available.logits[model] = str(path)
                continue
        elif config["download"] and genuine:
            available.logits[model] = str(path)
            continue
        elif model not in published:
            raise InputError(
                f"{config['models']}: model {model}: {_what_is_missing(row, path)}, and there is no"
                f" published fit to simulate from; name a file in {folder} there"
            )
        scores = shipped / f"{model}.parquet"
        if model in published and model not in available.scores and scores.is_file():
            available.scores[model] = os.path.relpath(scores)
    return available


def _what_is_missing(row: dict[str, str], path: Path) -> str:
    if not row["file"]:
        return "its cell file is empty"
    if os.path.islink(path):
        return f"file {path} is a link that leads to no file"
    return f"there is no file {path}"


def _holds_scores(path: Path) -> bool:
    """Return whether the names in a CSV, NPZ or Parquet file mean top-label scores."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
            names = {name.strip() for name in next(filter(None, csv.reader(file)), [])}
        return bool(names & {"score", "hit"})
    if suffix == ".npz" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = {name.removesuffix(".npy") for name in archive.namelist()}
        values = [name.removeprefix("test_") for name in names]
        return "scores" in values or "score" in values
    if suffix == ".parquet":
        return b"\x05score" in _parquet_footer(path)  # a column's name after its length
    return False


def _parquet_footer(path: Path) -> bytes:
    """Return the metadata at the end of a Parquet file, without importing pyarrow."""
    data = Path(path).read_bytes()
    n = int.from_bytes(data[-8:-4], "little")
    return data[-8 - n : -8]


def unused_files(config: Config, models: Models, resources: Path) -> list[str]:
    """Return a line about each file in ``logits_dir`` that no model of the table names, sorted.

    The published files are left out, since a table may have fewer models; so are the models table
    itself and files of configuration, which may lie there too.
    """
    published = Path(resources) / "published/nn_calibration_logits_manifest.csv"
    expected = {row["file"] for row in models.values()}
    used = expected | {entry.file for entry in read_manifest(published).values()}
    folder, table = Path(config["logits_dir"]), Path(config["models"]).resolve()
    names = [
        path.name
        for path in (folder.iterdir() if folder.is_dir() else ())
        if path.is_file() and path.suffix not in (".yaml", ".yml") and path.resolve() != table
    ]
    return [
        f"{folder / name}: no model of {config['models']} has this file; rename it, or name it "
        f"there.{_nearest(name, expected)}"
        for name in sorted({*names} - used - {"README.md"})
        if not name.startswith(".")
    ]


def _nearest(name: str, names: Collection[str]) -> str:
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.8)
    return f" Did you mean {nearest[0]}?" if nearest else ""


def sources_in_words(available: Available, models: Models) -> str:
    """Return a line that says which models have real logits or scores, and how many neither."""
    logits = f"Real logits: {_listed(available.logits)}." if available.logits else "No real logits."
    scores = f" Real scores: {_listed(available.scores)}." if available.scores else ""
    n_without = len({*models} - {*available.logits, *available.scores})
    return f"{logits}{scores} No outputs: {n_without} of {len(models)} models."


def _listed(names: Collection[str]) -> str:
    more = len(names) - LONGEST
    return ", ".join([*names][:LONGEST]) + (f" and {more} more" if more > 0 else "")
