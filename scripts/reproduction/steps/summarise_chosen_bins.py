from pathlib import Path

from pipeline.tables import read_table, write_table
from reproduction.summaries.bias import chosen_bins


def summarise_chosen_bins(
    *,
    bias: Path,
    output: Path,
) -> None:
    """Set the number of bins that the sweep chooses next to what each number gives (App D, Fig 14).

    bias: bias rows of the experiment
    output: table to write
    """
    write_table(output, "chosen_bins", chosen_bins(read_table(bias)))
