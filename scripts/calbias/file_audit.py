"""Files: an audit from a file to its page and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from calbias.auditing.audit import audit_data, estimator_names
from calbias.auditing.data import EVENT, TOP_LABEL, Data, Options
from calbias.auditing.outcome_columns import OutcomeColumns, read_outcomes
from calbias.auditing.page.page import page
from calbias.auditing.results import Audit
from calbias.auditing.subgroups.segments import with_codes
from calbias.defaults import N_BINS
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError, printable
from calbias.io.files import is_stream
from calbias.io.outputs import output_paths, write_texts
from calbias.reading.cells import rows_where
from calbias.reading.chosen_reading import named_columns, reading_of
from calbias.reading.columns import Columns, listed
from calbias.reading.folds_of_readings import fold_of
from calbias.reading.forms import as_scores
from calbias.reading.judged_rows import rows_without_gaps
from calbias.reading.output_file import Place, judged_words
from calbias.reading.parquet import ParquetTable, large_table
from calbias.reading.question import in_words
from calbias.reading.reading import EVENT as OF_EVENT
from calbias.row_maps import corrected, read_map
from calbias.samples.by_score import MOST_SCORES
from calbias.samples.cells import cells_for

Say = Callable[[str], None]


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
    asked, columns = outcomes or OutcomeColumns(), columns or Columns()
    if maps and asked != OutcomeColumns():
        raise InputError(
            "--map goes without follow-up, weights and a judge: recalibrate --apply the map, and "
            "audit its column calbias_score"
        )
    data: Data | None = None
    needs_rows = maps or by or codes or class_wise or top_label or columns.cluster
    if asked == OutcomeColumns() and not needs_rows and len(paths) == 1:
        table = None if is_stream(paths[0]) else large_table(Path(paths[0]), MOST_SCORES)
        data = sketched(table, columns, chosen.n_bins, say) if table is not None else None
    if data is None:
        more = [name for name in maps.columns if name not in by] if maps else []
        data = read_outcomes(path, (*by, *more), columns, top_label, asked)
        if maps:
            data = corrected(data, maps, str(map), columns.score)
            name += f" after {Path(str(map)).name}"
        columns_of = {each: x for each, x in (data.by or {}).items() if each not in more}
        data = replace(data, by=with_codes(columns_of, codes) or None)
        if class_wise and data.logits is None:
            raise InputError(f"{name}: --class-wise needs a column per class, not scores")
    audit = audit_data(data, chosen, estimators, class_wise=class_wise, progress=say)
    write_texts({html: page(audit, name, numbers.name), numbers: audit.to_json() + "\n"}, say)
    return audit


def sketched(
    table: ParquetTable, columns: Columns, n_bins: int = N_BINS, progress: Say | None = None
) -> Data | None:
    """Return the Data of a large Parquet table of scores, or None for one of classes.

    The rows are read in parts, and counted in a Sketch of which no bin of n_bins cuts a cell.
    """
    from calbias.sketch import Sketch

    location = Place(table.path, "the table")
    table = ParquetTable(table.path, table.sources, table.n_bytes, columns.rows)
    columns = named_columns(table, columns, (), location)[0]
    reading, fold = reading_of(table, columns, (), location)
    if reading.group:
        return None
    judged = judged_words(table.facts(fold).values or ()) if fold else set()
    sketch, missing, n_judged = Sketch(cells_for(n_bins)), (*columns.missing, *reading.missing), 0
    for k, (rows, part) in enumerate(table.parts([*reading.names, *([fold] if fold else [])])):
        kept = np.ones(rows.size, bool)
        if fold:
            kept = rows_where(part, fold, judged.__contains__)
        if missing:
            kept &= rows_without_gaps(part, reading, missing)[0]
        if not kept.all():
            rows, part = rows[kept], {name: column[kept] for name, column in part.items()}
        n_judged += rows.size
        if rows.size:
            part_location = location.part_of(rows)
            values = fold_of(part, reading, part_location)
            scores = as_scores(values.values, reading.values, part_location.error)
            sketch.add(*scores_and_hits(scores, values.labels, part_location.error))
        if progress and k % 10 == 9:
            progress(f"{k + 1} of {table.n_rows / 1e6:.0f} million rows")
    if not n_judged:
        raise location.error("no row has both a score and an outcome")
    notes = [in_words(reading), f"{n_judged} of {table.n_rows} rows are judged, read in parts"]
    if others := [name for name in table if name not in {*reading.names, fold}]:
        notes.append(f"columns not used: {listed(others)}")
    return Data(
        sketch.scored(), kind=EVENT if reading.kind == OF_EVENT else TOP_LABEL, notes=(*notes,),
        score=reading.score, read_as=reading.values,
    )  # fmt: skip
