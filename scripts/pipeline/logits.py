"""Outputs of models in the pipeline's own forms: logits, top-label tables, and files of scores.

The logits of a model are ``results/logits/{model}.npz``: arrays ``validation_logits`` (n, K) and
``test_logits`` (m, K) in float32, ``validation_labels`` (n,) and ``test_labels`` (m,) in int64,
classes counted from 0. The archive is not compressed (logits hardly compress), its entries are
dated 1980-01-01, and so the same logits always give the same bytes. The files of
``resources/outputs`` have the same arrays in smaller types.
"""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calbias.engine.seeding import stream
from calbias.errors import InputError
from calbias.reading.output_file import FOLDS, Fold
from calbias.reading.read_logits import of_scores, read_raw
from calbias.reading.top_label import TopLabel, top_label_of_scores
from pipeline.manifest import verify_shipped
from pipeline.tables import validate_unchanged
from pipeline.write_results import written_whole

TopLabels = dict[str, TopLabel]  # by fold

# Sources of a model's outputs.
REAL_LOGITS, REAL_SCORES = "real_logits", "real_scores"


class Logits(NamedTuple):
    """A model's logits in both folds."""

    validation: Fold
    test: Fold


def save_logits(path: Path | str, logits: Logits) -> None:
    """Write a ``Logits`` whole to ``path``, whose name must end in ``.npz``."""
    arrays: dict[str, Any] = {}
    for name in FOLDS:
        fold = getattr(logits, name)
        arrays[f"{name}_logits"] = np.ascontiguousarray(fold.logits, dtype=np.float32)
        arrays[f"{name}_labels"] = np.ascontiguousarray(fold.labels, dtype=np.int64)
    with written_whole(path, checksum=True) as temporary:
        np.savez(temporary, **arrays)


def load_logits(path: Path | str) -> Logits:
    """Return the ``Logits`` in a file; InputError if it has no such arrays."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            folds = (
                Fold(
                    archive[f"{name}_logits"].astype(np.float32, copy=False),
                    archive[f"{name}_labels"].astype(np.int64, copy=False),
                )
                for name in FOLDS
            )
            return Logits(*folds)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path}: not a file that step read_logits wrote "
            f"({str(error).splitlines()[0]}); delete it and rerun"
        ) from error


def two_folds(folds: Mapping[str, Fold], seed: int) -> Logits:
    """Return the ``Logits`` of both folds; a test fold alone is split in half.

    The split depends on the seed and the number of rows alone. Both halves keep the file's order.
    """
    if "validation" in folds:
        return Logits(folds["validation"], folds["test"])
    logits, labels = folds["test"]
    n = len(labels)
    order = stream(seed, str(n), "split").permutation(n)
    halves = [np.sort(order[: n // 2]), np.sort(order[n // 2 :])]
    validation, test = (Fold(logits[rows], labels[rows]) for rows in halves)
    return Logits(validation, test)


class Origin(NamedTuple):
    """The metadata of a top-label table.

    ``source`` is ``real_logits`` or ``real_scores``; ``softmax`` is ``none`` for scores as given;
    ``warnings`` are lines of the file's reader.
    """

    model: str
    source: str
    softmax: str
    warnings: tuple[str, ...] = ()


def write_top_labels(path: Path, top_labels: Mapping[str, Any], origin: Origin) -> None:
    """Write ``{fold: TopLabel}`` with an ``Origin`` whole, as Parquet."""
    folds = [fold for fold in FOLDS if fold in top_labels]
    sizes = [len(top_labels[fold].hit) for fold in folds]
    columns = {"fold": pa.array(np.repeat(folds, sizes)).dictionary_encode()}
    for name in TopLabel._fields:
        columns[name] = np.concatenate([getattr(top_labels[fold], name) for fold in folds])
    metadata = {"model": origin.model, "source": origin.source, "softmax": origin.softmax}
    if origin.warnings:
        metadata["warnings"] = json.dumps(origin.warnings, ensure_ascii=False)
    with written_whole(path, checksum=True) as temporary:
        pq.write_table(pa.table(columns, metadata=metadata), temporary)


def read_top_labels(path: Path) -> tuple[TopLabels, Origin]:
    """Return ({fold: TopLabel}, Origin) of a table; of a fold that it lacks, arrays (0,)."""
    try:
        validate_unchanged(path)
        table = pq.read_table(path)
        fold = table["fold"].cast(pa.string()).to_numpy()
        columns = [table[name].to_numpy() for name in TopLabel._fields]
        metadata = table.schema.metadata or {}
        metadata = {key.decode(): text.decode() for key, text in metadata.items()}
        warnings = tuple(json.loads(metadata.get("warnings", "[]")))
        origin = Origin(metadata["model"], metadata["source"], metadata["softmax"], warnings)
    except (OSError, pa.ArrowException, KeyError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{path}: not a top-label table ({reason}); delete it and rerun"
        ) from error
    return {name: TopLabel(*(x[fold == name] for x in columns)) for name in FOLDS}, origin


def read_scores(
    path: Path | str, manifest: Path | str | None = None
) -> tuple[TopLabels, tuple[str, ...]]:
    """Return ({fold: TopLabel}, warnings) of scores and hits; InputError without them.

    A file that ``manifest``, the path of the shipped files' manifest, lists must be as listed.
    """
    path = Path(path)
    if manifest is not None:
        verify_shipped(path, manifest)
    raw = read_raw(path)
    if raw.form != "scores":
        raise InputError(
            f"{path}: no columns score and hit (or score, label and prediction); add them, or read "
            "logits by step read_logits"
        )
    outputs = of_scores(raw)
    tops = {name: top_label_of_scores(*fold) for name, fold in outputs.folds.items()}
    return tops, outputs.warnings
