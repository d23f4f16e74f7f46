from pathlib import Path

from pipeline import beside
from pipeline.table_schema import dictionary_rows
from pipeline.tables import write_table


def describe_tables(*, folder: Path | None = None, output: Path) -> None:
    """Write the data dictionary: table, column, unit and meaning.

    folder: the workflow beside this one whose tables to describe, instead of its own
    output: table to write
    """
    workflow = beside.join(folder) if folder else beside.MAIN
    write_table(output, ("table", "column", "unit", "meaning"), dictionary_rows(workflow))
