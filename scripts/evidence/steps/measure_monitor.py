from pathlib import Path
from typing import Annotated

from evidence.studies.monitor import (
    calibrated_rows,
    draw,
    fault_rows,
    genuine_row,
    repeated_verdict_rows,
)
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table


def measure_monitor(
    *,
    streams: list[Path],
    replicates: Annotated[int, AtLeast(2)],
    n_rows: Annotated[int, AtLeast(100)],
    pictures: Path | None = None,
    seed: Seed,
    output: Path,
) -> None:
    """Measure the monitor's false alarms and delays, and watch genuine streams.

    streams: files of genuine streams (Parquet)
    replicates: simulated streams of each kind
    n_rows: rows of a calibrated stream
    pictures: folder for a picture of each genuine stream
    seed: seed of all random streams
    output: table to write
    """
    rows = calibrated_rows(replicates, n_rows, seed)
    rows += repeated_verdict_rows(replicates, seed)
    rows += fault_rows(replicates, seed)
    for path in streams:
        row, monitor = genuine_row(path)
        rows.append(row)
        if pictures:
            draw(monitor, pictures / f"monitor_{path.stem}.png")
    write_table(output, "monitor", rows)
