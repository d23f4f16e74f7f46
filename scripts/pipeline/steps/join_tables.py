from pathlib import Path

from pipeline.tables import joined_tables, write_table


def join_tables(
    *,
    parts: list[Path],
    table: str,
    output: Path,
) -> None:
    """Join the parts of a table, one below the other, in the order given.

    parts: the table's parts
    table: its name, such as bias
    output: table to write
    """
    joined = joined_tables(parts, table)
    write_table(output, table, joined)
