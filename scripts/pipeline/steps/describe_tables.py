from pathlib import Path

from pipeline import guests
from pipeline.table_schema import dictionary_rows
from pipeline.tables import write_table


def describe_tables(*, folder: Path | None = None, output: Path) -> None:
    """Write the data dictionary: table, column, unit and meaning.

    folder: the guest workflow whose tables to describe, instead of its own
    output: table to write
    """
    workflow = guests.join(folder) if folder else guests.MAIN
    write_table(output, ("table", "column", "unit", "meaning"), dictionary_rows(workflow))
