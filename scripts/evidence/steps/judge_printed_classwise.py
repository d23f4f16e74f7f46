from pathlib import Path

import pandas as pd

from evidence.studies.printed_classwise import printed_rows
from pipeline.tables import write_table


def judge_printed_classwise(
    *,
    printed: Path,
    floors: Path,
    differences: Path,
    output: Path,
) -> None:
    """Put noise floors next to Kull et al. (2019), Table 3, and say which methods are told apart.

    printed: the printed table (CSV)
    floors: table noise_floors
    differences: table method_differences
    output: table to write
    """
    tables = (pd.read_csv(path) for path in (printed, floors, differences))
    write_table(output, "kull2019_table3", printed_rows(*tables))
