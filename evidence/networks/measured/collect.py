"""Join the tables of single networks into the kept ones: ``python -m measured.collect FOLDER``.

FOLDER has the folders ``bias``, ``scaled``, ``genuine``, ``audits`` and ``recalibration`` with the
outputs of the programs of these names, and ``second_program.csv``.
"""

import sys
from pathlib import Path

import pandas as pd

KEPT = Path(__file__).parents[1] / "tables"
SECOND = ("name", "n_samples", "truth_percent", "debias", "debias_se", "sweep", "sweep_se")


def joined(folder: Path, pattern: str = "*.csv") -> pd.DataFrame:
    """Return all rows of a folder's tables."""
    return pd.concat([pd.read_csv(path) for path in sorted(folder.glob(pattern))])


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
    KEPT.mkdir(exist_ok=True)
    bias = joined(folder / "bias")
    bias.to_parquet(KEPT / "bias.parquet", index=False, compression="zstd")
    joined(folder / "scaled").to_parquet(KEPT / "scaled.parquet", index=False, compression="zstd")
    for name in ("genuine", "audits"):
        joined(folder / name).to_csv(KEPT / f"{name}.csv", index=False, lineterminator="\n")
    for kind in ("truth", "selection"):
        rows = joined(folder / "recalibration", f"*_{kind}.csv")
        rows.to_csv(KEPT / f"recalibration_{kind}.csv", index=False, lineterminator="\n")
    second = second_program(folder / "second_program.csv", bias)
    second.to_csv(KEPT / "second_program.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
