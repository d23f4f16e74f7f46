"""The top-label table of a model, ``results/top_labels/{model}.parquet``.

One row per sample, the validation fold first if there is one: fold, score, log_score, log1m_score,
hit (see ``calbias.logits.top_label.TopLabel``). The file's metadata is its ``Origin``.
"""

import json
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calbias.errors import InputError
from calbias.logits.output_file import FOLDS
from calbias.logits.top_label import TopLabel, top_label
from pipeline.results import written_whole
from pipeline.tables.rows import validate_unchanged


class Origin(NamedTuple):
    """The metadata of a top-label table.

    ``source`` is ``real_logits`` or ``real_scores``; ``softmax`` is ``none``
    for scores as given; ``warnings`` are lines of the file's reader.
    """

    model: str
    source: str
    softmax: str
    warnings: tuple[str, ...] = ()


def top_labels_of(logits, softmax):
    """Return ``{fold: TopLabel}`` of a ``store.Logits`` under a softmax convention."""
    return {fold: top_label(*getattr(logits, fold), softmax) for fold in FOLDS}


def write_top_labels(path, top_labels, origin):
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


def read_top_labels(path):
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
