"""The top-label table of a model: ``results/top_labels/{model}.parquet``.

One row per sample, validation fold first: fold, score, log_score, log1m_score, hit (see
``calbias.logits.top_label.TopLabel``). The file's metadata says which model, which source
(``real_logits``, ``surrogate_logits``) and which softmax convention it is.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calbias.errors import InputError
from calbias.logits.store import FOLDS
from calbias.logits.top_label import TopLabel, top_label


class Origin(NamedTuple):
    """The metadata of a top-label table."""

    model: str
    source: str
    softmax: str


def top_labels_of(logits, softmax):
    """Return ``{fold: TopLabel}`` of a ``canonical.Logits`` under a softmax convention."""
    return {fold: top_label(*getattr(logits, fold), softmax) for fold in FOLDS}


def write_top_labels(path, top_labels, origin):
    """Write ``{fold: TopLabel}`` of both folds, with an ``Origin``, as Parquet."""
    sizes = [len(top_labels[fold].hit) for fold in FOLDS]
    columns = {"fold": pa.array(np.repeat(FOLDS, sizes)).dictionary_encode()}
    for name in TopLabel._fields:
        columns[name] = np.concatenate([getattr(top_labels[fold], name) for fold in FOLDS])
    pq.write_table(pa.table(columns, metadata=origin._asdict()), path)


def read_top_labels(path, fold):
    """Return (``TopLabel``, ``Origin``) of one fold, ``validation`` or ``test``."""
    if fold not in FOLDS:
        raise InputError(f"fold {fold!r} is unknown: choose {' or '.join(FOLDS)}")
    try:
        table = pq.read_table(path, filters=[("fold", "=", fold)])
        columns = [table[name].to_numpy() for name in TopLabel._fields]
        return TopLabel(*columns), _origin(table)
    except (OSError, pa.ArrowException, KeyError) as error:
        raise InputError(
            f"{path}: not a top-label table ({str(error).splitlines()[0]}); write it again"
        ) from error


def read_origin(path):
    """Return the ``Origin`` of a top-label table: its model, source and softmax."""
    try:
        return _origin(pq.read_schema(path))
    except (OSError, pa.ArrowException, KeyError) as error:
        raise InputError(
            f"{path}: not a top-label table ({str(error).splitlines()[0]}); write it again"
        ) from error


def _origin(of):
    metadata = (of.schema if isinstance(of, pa.Table) else of).metadata or {}
    return Origin(*(metadata[name.encode()].decode() for name in Origin._fields))
