from pathlib import Path

from pipeline.tables.files import read_table, write_table
from pipeline.tables.rows import read_rows
from reproduction.measured.printed import printed_values
from reproduction.measured.tables import measures_table, printed_tables


def tabulate_measures(
    *,
    measures: list[Path],
    models_table: Path,
    replication: Path | None,
    printed: list[Path],
    output_measures: Path,
    output_printed: Path,
) -> None:
    """Put the measures of all models next to what two papers print, also in the papers' layout.

    measures: rows of the models, from measure_model
    models_table: models table (CSV): model, file
    replication: table replication, of other networks
    printed: the printed tables, in one folder
    output_measures: every measure of every model, to write (CSV)
    output_printed: method × model as printed, to write (CSV)
    """
    models = read_rows(models_table, ("model", "file"))
    files = {row["model"]: row["file"] for _, row in models}
    parts = [read_table(path) for path in measures]
    table = measures_table(parts, printed_values(printed[0].parent), files)
    write_table(output_measures, "measures", table)
    others = read_table(replication) if replication else None
    write_table(output_printed, "printed_tables", printed_tables(table, others))
