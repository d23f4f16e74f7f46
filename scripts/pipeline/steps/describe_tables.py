from pathlib import Path

from pipeline.tables.files import write_table
from pipeline.tables.schema import dictionary_rows


def describe_tables(*, output: Path) -> None:
    """Write the data dictionary: table, column, unit and meaning.

    output: table to write
    """
    write_table(output, ("table", "column", "unit", "meaning"), dictionary_rows())
