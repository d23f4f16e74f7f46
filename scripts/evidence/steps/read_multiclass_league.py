from pathlib import Path

from evidence.studies.multiclass_reading import reading_rows
from pipeline.tables import read_table, write_table


def read_multiclass_league(
    *,
    league: Path,
    output: Path,
) -> None:
    """Say in words what the league of estimators for all classes shows.

    league: table multiclass_league
    output: table to write
    """
    write_table(output, "multiclass_reading", reading_rows(read_table(league)))
