"""Join the tables of single networks into the kept ones: ``python -m measured.collect FOLDER``.

FOLDER has some of the folders ``bias``, ``scaled``, ``recalibration`` and those of BY_NETWORK with
what the programs wrote, and ``second_program.csv``. Rows of other networks stay in the kept tables.
"""

import sys
from pathlib import Path

import pandas as pd
from trained.ship import write_checksums

from measured.shipped import FOLDER

BY_NETWORK = ("genuine", "audits", "cause", "lowest", "held_out", "posterior")
KEPT = Path(__file__).parents[1] / "tables"
SECOND = ("name", "n_samples", "truth_percent", "debias", "debias_se", "sweep", "sweep_se")


def joined(folder: Path, kept: pd.DataFrame, pattern: str = "*.csv") -> pd.DataFrame:
    """Return the kept rows of other networks, and all rows of a folder's tables."""
    tables = [pd.read_csv(path) for path in sorted(folder.glob(pattern))]
    names = {name for table in tables for name in table.name}
    return pd.concat([kept[~kept.name.isin(names)], *tables])


def second_program(path: Path, bias: pd.DataFrame) -> pd.DataFrame:
    """Return the second program's biases and the first one's, with z of the difference."""
    rows = pd.read_csv(path, names=SECOND)
    first = bias[bias.law == "population"].set_index(["name", "n_samples", "estimator"])
    result = []
    for row in rows.itertuples():
        for short, estimator in (("debias", "ece_debias_em"), ("sweep", "ece_sweep_em")):
            other = first.loc[(row.name, row.n_samples, estimator)]
            value, error = getattr(row, short), getattr(row, f"{short}_se")
            spread = (error**2 + other.bias_se_percent**2) ** 0.5
            result.append(
                {
                    "name": row.name,
                    "n_samples": row.n_samples,
                    "estimator": estimator,
                    "truth_percent": row.truth_percent,
                    "first_truth_percent": other.truth_percent,
                    "bias_percent": value,
                    "first_bias_percent": other.bias_percent,
                    "z": round((value - other.bias_percent) / spread, 3),
                }
            )
    return pd.DataFrame(result)


def main(folder: Path) -> None:
    """Write the kept tables."""
    for name in ("bias", "scaled"):
        path = KEPT / f"{name}.parquet"
        rows = joined(folder / name, pd.read_parquet(path))
        rows.to_parquet(path, index=False, compression="zstd")
    for path, source, pattern in (
        *((KEPT / f"{name}.csv", name, "*.csv") for name in BY_NETWORK),
        (KEPT / "recalibration_selection.csv", "recalibration", "*_selection.csv"),
        (FOLDER / "recalibrated.csv", "recalibration", "*_truth.csv"),
    ):
        kept = pd.read_csv(path) if path.exists() else pd.DataFrame({"name": []})
        rows = joined(folder / source, kept, pattern)
        rows.to_csv(path, index=False, lineterminator="\n")
    if (folder / "second_program.csv").exists():
        bias = pd.read_parquet(KEPT / "bias.parquet")
        second = second_program(folder / "second_program.csv", bias)
        kept = pd.read_csv(KEPT / "second_program.csv")
        rows = pd.concat([kept[~kept.name.isin(second.name)], second])
        rows.to_csv(KEPT / "second_program.csv", index=False, lineterminator="\n")
    write_checksums(FOLDER)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
