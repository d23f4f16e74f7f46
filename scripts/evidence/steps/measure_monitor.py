from pathlib import Path
from typing import Annotated

from evidence.studies.monitor import (
    FAULTS,
    calibrated_rows,
    draw,
    fault_row,
    genuine_row,
    repeated_verdict_row,
)
from pipeline.steps import AtLeast, Seed
from pipeline.tables.files import write_table


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
    rows.append(repeated_verdict_row(replicates, seed))
    rows += [fault_row(name, replicates, seed) for name in FAULTS]
    for path in streams:
        row, monitor = genuine_row(path)
        rows.append(row)
        if pictures:
            draw(monitor, pictures / f"monitor_{path.stem}.png")
    write_table(output, "monitor", rows)
