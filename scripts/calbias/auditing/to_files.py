"""An audit from a file to its page and its JSON."""

from pathlib import Path

import numpy as np
from scipy.special import softmax

from calbias.auditing.audit import LARGEST_IN_MEMORY, audit_data
from calbias.auditing.cells import read_cells
from calbias.auditing.estimators import audited_estimators
from calbias.auditing.groups import classes_table, groups_table
from calbias.auditing.inputs import read_data
from calbias.auditing.large import large_audit
from calbias.auditing.options import Options
from calbias.auditing.page import page
from calbias.errors import InputError
from calbias.io.command_line import write_text

_FEW_COLUMNS = 10  # a table of class values is read as a whole


def audit_file(
    path, output=None, *, by=None, class_wise=False, estimators=None, progress=None, **options
):
    """Return the Audit of a file; write page and JSON next to it, or at the stem ``output``."""
    progress = progress or (lambda text: None)
    path = Path(path) if Path(path).name else Path(path).absolute()  # "." has no name
    stem = path.with_suffix("") if output is None else Path(output)
    options = Options(**options)
    audited_estimators(options.norm, options.n_bins, estimators or ())  # unknown names, at once
    progress(f"reading {path.name}")
    if is_large(path):
        if by or class_wise:
            raise InputError(f"{path}: groups and classes need at most {LARGEST_IN_MEMORY} rows")
        cells = read_cells(path, options.n_bins, options.seed, progress)
        found = large_audit(*cells, options, progress)
    else:
        found = _audit_in_memory(path, by, class_wise, estimators, options, progress)
    progress(f"writing {stem}.html and {stem}.json")
    text = page(found, path.name, f"{stem.name}.json", by)
    write_text(f"{stem}.html", text)
    write_text(f"{stem}.json", found.to_json() + "\n")
    return found


def _audit_in_memory(path, by, class_wise, estimators, options, progress):
    data, groups = read_data(path, by, options.seed)
    if class_wise and data.logits is None:
        raise InputError(f"{path}: --class-wise needs a column per class, not scores")
    found = audit_data(data, options, estimators, progress)
    if by is not None:
        progress(f"groups by {by}")
        sample = data.sample
        found.groups = groups_table(sample.scores, sample.hits, groups[sample.order], options)
    if class_wise:
        progress("classes")
        probabilities = softmax(data.logits.astype(np.float64), axis=1)
        found.classes = classes_table(probabilities, data.labels, options)
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
