"""Files: an audit from a file to its page and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calbias.auditing.audit import audit_data, estimator_names
from calbias.auditing.inputs import EVENT, TOP_LABEL, Data, Options
from calbias.auditing.outcome_columns import OutcomeColumns, read_outcomes
from calbias.auditing.page.page import page
from calbias.auditing.results import Audit
from calbias.auditing.subgroups.segments import with_codes
from calbias.defaults import N_BINS
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError, of_extra, printable, reading
from calbias.io.files import is_stream
from calbias.io.outputs import output_paths, write_texts
from calbias.reading.columns import Columns
from calbias.reading.output_file import Place
from calbias.reading.table_files import parquet_folder, validate_rows_of_parquet
from calbias.row_maps import corrected, read_map
from calbias.samples.by_score import MOST_SCORES
from calbias.samples.cells import cells_for

if TYPE_CHECKING:
    from calbias.sketch import Sketch

_FEW_COLUMNS = 10  # a table of class values is read as a whole
_BATCH = 1 << 20


def audit_file(
    path: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    by: str | Sequence[str] = (),
    codes: Sequence[str] = (),
    class_wise: bool = False,
    estimators: Sequence[str] | str = (),
    columns: Columns | None = None,
    top_label: bool = False,
    force: bool = False,
    map: str | None = None,
    progress: Callable[[str], None] | None = None,
    outcomes: OutcomeColumns | None = None,
    **options: Any,
) -> Audit:
    """Return the Audit of a file; write page and JSON next to it, or at the stem ``output``.

    ``path`` is ``-`` for standard input, or several tables, written next to the first; ``by`` is
    one column or several, of which the numbers of ``codes`` are not cut.
    With the file of a ``map`` the scores after it are audited. ``outcomes`` are columns of
    follow-up, weights or a judge, and ``options`` fields of
    ``Options``.
    """
    say = progress or (lambda text: None)
    by = (by,) if isinstance(by, str) else tuple(by)
    chosen = Options(**options)
    if names := estimator_names(estimators):
        from calbias.auditing.error.estimator_bias import audited_estimators

        audited_estimators(chosen.norm, chosen.n_bins, names)  # an unknown one, before reading
    paths = [path] if isinstance(path, str | Path) else [*path]
    html, numbers = output_paths([*paths, *([map] if map else [])], output, force)
    maps = read_map(map) if map else None
    if maps and class_wise:
        raise InputError("--class-wise audits all classes, and a map corrects the judged score")
    name = printable("standard input" if is_stream(paths[0]) else Path(paths[0]).absolute().name)
    name += f" and {len(paths) - 1} more" * (len(paths) > 1)
    say(f"reading {name}")
    asked = outcomes or OutcomeColumns()
    if maps and asked != OutcomeColumns():
        raise InputError(
            "--map goes without follow-up, weights and a judge: recalibrate --apply the map, and "
            "audit its column calbias_score"
        )
    is_plain = asked == OutcomeColumns() and not (
        maps or by or codes or class_wise or top_label or columns not in (None, Columns())
    )
    if is_plain and len(paths) == 1 and not is_stream(paths[0]) and is_large(Path(paths[0])):
        sketch, is_event = read_sketch(paths[0], chosen.n_bins, say)
        data = Data(sketch.scored(), kind=EVENT if is_event else TOP_LABEL)
    else:
        more = [name for name in maps.columns if name not in by] if maps else []
        data = read_outcomes(path, (*by, *more), columns or Columns(), top_label, asked)
        if maps:
            data = corrected(data, maps, str(map))
            name += f" after {Path(str(map)).name}"
        columns_of = {each: x for each, x in (data.by or {}).items() if each not in more}
        data = replace(data, by=with_codes(columns_of, codes) or None)
        if class_wise and data.logits is None:
            raise InputError(f"{name}: --class-wise needs a column per class, not scores")
    audit = audit_data(data, chosen, estimators, class_wise=class_wise, progress=say)
    write_texts({html: page(audit, name, numbers.name), numbers: audit.to_json() + "\n"}, say)
    return audit


def is_large(path: Path) -> bool:
    """Return whether a file is audited out of core: a Parquet folder, or one of very many rows."""
    if path.is_dir():
        return True
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    parquet = of_extra("a Parquet file", "pyarrow.parquet")
    try:
        metadata = parquet.read_metadata(path)
    except Exception:
        return False  # the reader says what is wrong
    return metadata.num_rows > MOST_SCORES and metadata.num_columns < _FEW_COLUMNS


def read_sketch(
    path: str | Path, n_bins: int = N_BINS, progress: Callable[[str], None] | None = None
) -> tuple[Sketch, bool]:
    """Return the Sketch of a Parquet file or folder, and whether its hits are events, labels of 1.

    No bin of n_bins cuts a cell.
    """
    from calbias.sketch import Sketch

    pa = of_extra("a Parquet file", "pyarrow")
    sketch, done = Sketch(cells_for(n_bins)), 0
    with reading(path, "Parquet", "give a file, or a folder of Parquet files only"):
        data = parquet_folder(path)
        existing = set(data.schema.names)
        is_event = not existing & {"hit", "prediction"}
        names = ["score", "label"] if is_event else ["score", "label", "prediction"]
        names = ["score", "hit"] if "hit" in existing else names
        if not set(names) <= existing:
            raise InputError(
                f"{path}: needs columns score and hit; score, label and prediction; or score, the "
                "probability of label 1, and label"
            )
        n = data.count_rows()
        validate_rows_of_parquet(path, n, len(names), data.files)
        # without a buffer that would hold the whole file
        streamed = pa.dataset.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
        batches = data.to_batches(columns=names, batch_size=_BATCH, batch_readahead=0,
                                  fragment_readahead=0, fragment_scan_options=streamed,
                                  use_threads=False)  # fmt: skip
        for batch in batches:
            scores, hits, *other = (c.to_numpy(zero_copy_only=False) for c in batch.columns)
            if other:
                empty = [c.is_null().to_numpy(zero_copy_only=False) for c in batch.columns[1:]]
                hits = np.where(np.any(empty, axis=0), np.nan, hits == other[0])
            location = Place(Path(path), "the table", np.arange(done, done + len(batch)))
            sketch.add(*scores_and_hits(scores, hits, location.error))
            done += len(batch)
            if progress and (done // _BATCH) % 10 == 0:
                progress(f"{done / 1e6:.0f} of {n / 1e6:.0f} million rows")
    return sketch, is_event
