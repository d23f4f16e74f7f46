from pathlib import Path

from pipeline.table_schema import dictionary_rows
from pipeline.tables import write_table


def describe_tables(*, output: Path) -> None:
    """Write the data dictionary: table, column, unit and meaning.

    output: table to write
    """
    write_table(output, ("table", "column", "unit", "meaning"), dictionary_rows())
