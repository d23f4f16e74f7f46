"""An audit from a file to its page and its JSON."""

from pathlib import Path

import numpy as np
import pandas as pd

from calbias.auditing.audit import ESTIMATORS, LARGEST_IN_MEMORY, audit, validate
from calbias.auditing.files import read_source
from calbias.auditing.groups import groups_table
from calbias.auditing.inputs import prepared
from calbias.auditing.intervals.interval import LEVEL
from calbias.auditing.large import large_audit, read_cells
from calbias.auditing.page import page
from calbias.auditing.recalibrations import holm
from calbias.errors import InputError
from calbias.io.command_line import written_whole

_MOST_CLASSES_WITH_INTERVALS = 20
_FEW_COLUMNS = 10  # a table of class values is read as a whole


def audit_file(
    path,
    output=None,
    *,
    by=None,
    class_wise=False,
    estimators=None,
    progress=None,
    **options,
):
    """Audit a file and write the page and the JSON beside it, or at the stem ``output``.

    Returns the Audit. Raises InputError for a file or options that are not as they should be;
    nothing is written then.
    """
    progress = progress or (lambda text: None)
    path = Path(path)
    stem = path.with_suffix("") if output is None else Path(output)
    progress(f"reading {path.name}")
    if is_large(path):
        found = _large(path, by, class_wise, progress, options)
        _write(found, path, stem, by, progress)
        return found
    source = read_source(path, by, class_wise)
    try:
        found = audit(
            **source.arrays, estimators=estimators or ESTIMATORS, progress=progress, **options
        )
        about_file = [text for text in source.warnings if "validation fold" not in text]
        found.warnings[:0] = [f"{text[:1].upper()}{text[1:]}." for text in about_file]
        if any("the values are probabilities" in text for text in about_file):
            found.description["kind"] = "probabilities"
        common = {key: found.options[key] for key in ("n_bins", "norm", "level", "seed")}
        if by is not None:
            progress(f"groups by {by}")
            found.groups = _groups(source, common)
        if class_wise:
            progress("classes")
            found.classes = _classes(source, common)
    except InputError as error:
        message = str(error)
        raise InputError(message if str(path) in message else f"{path}: {message}") from error
    _write(found, path, stem, by, progress)
    return found


def is_large(path):
    """Return whether a file is audited out of core: a Parquet folder, or one of very many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.is_dir():
        return True
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return False  # the reader says what is wrong
    return metadata.num_rows > LARGEST_IN_MEMORY and metadata.num_columns < _FEW_COLUMNS


def _large(path, by, class_wise, progress, options):
    if by or class_wise:
        raise InputError(f"{path}: groups and classes need at most {LARGEST_IN_MEMORY} rows")
    given = {key: options[key] for key in ("level", "seed") if key in options}
    n_bins, p = options.get("n_bins", 15), options.get("norm", 1.0)
    validate(n_bins, p, options.get("level", LEVEL), options.get("seed", 0))
    cells, scores, hits = read_cells(path, n_bins, options.get("seed", 0), progress)
    return large_audit(cells, scores, hits, n_bins, p, progress=progress, **given)


def _write(found, path, stem, by, progress):
    progress("writing the page")
    text = page(found, path.name, f"{stem.name}.json", by)
    for suffix, content in ((".html", text), (".json", found.to_json() + "\n")):
        with written_whole(f"{stem}{suffix}") as temporary:
            Path(temporary).write_text(content, encoding="utf-8")


def _groups(source, common):
    data = prepared(**source.arrays)
    groups = np.asarray(source.groups)[data.order]
    return groups_table(data.sample.scores, data.sample.hits, groups, **common)


def _classes(source, common):
    """Return a table as of groups, a class's probability being the score and the class the hit."""
    data = prepared(**source.arrays)
    logits = data.logits.astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True)
    shares = np.exp(logits)
    shares /= shares.sum(axis=1, keepdims=True)
    n, n_classes = shares.shape
    intervals = n_classes <= _MOST_CLASSES_WITH_INTERVALS
    tables = [
        groups_table(
            shares[:, k], data.labels == k, np.full(n, str(k)), intervals=intervals, **common
        )
        for k in range(n_classes)
    ]
    table = pd.concat(tables)
    table["corrected_p_value"] = holm(table["p_value"])
    found = table["finding"].where(table["finding"] == "too small to tell", "none found")
    table["finding"] = found.where(table["corrected_p_value"] >= 0.05, "miscalibrated")
    return table
