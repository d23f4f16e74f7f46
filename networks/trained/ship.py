"""Write what ships: sketches, top labels, folds, two tables and checksums.

Networks that the build folder lacks stay in the files as they are.
"""

import argparse
import csv
import hashlib
import json
import shutil
import sys
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trained.configuration import Configuration, read_configuration
from trained.tasks import load_task

DESCRIBED = ("network", "depth", "width", "batch_norm", "loss", "weight_decay", "learning_rate")
TRAINED = ("n_train", "epochs", "seed", "task_seed")


def main(argv: list[str] | None = None) -> int:
    """Ship the complete networks of a build folder; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("configurations", nargs="+", type=Path, help="files, one for each network")
    parser.add_argument("--build", type=Path, required=True, help="folder of trained.make")
    parser.add_argument("--output", type=Path, required=True, help="networks/resources")
    parser.add_argument("--only-populations", action="store_true", help="no folds, no history")
    options = parser.parse_args(argv)
    rows, history = [], []
    joined: dict[str, list[pa.Table]] = {"sketch": [], "top_labels": []}
    options.output.mkdir(parents=True, exist_ok=True)
    for path in sorted(options.configurations):
        configuration, source = read_configuration(path), options.build / path.stem
        if not (source / "summary.json").exists():
            print(f"{path.stem}: not in the build folder, left as it is", file=sys.stderr)
            continue
        for kind, tables in joined.items():
            tables.append(named(path.stem, pq.read_table(source / f"{kind}.parquet")))
        if configuration.folds and not options.only_populations:
            (options.output / "folds").mkdir(exist_ok=True)
            shutil.copyfile(source / "folds.npz", options.output / "folds" / f"{path.stem}.npz")
        rows.append(table_row(configuration, json.loads((source / "summary.json").read_text())))
        history += [
            {
                "name": path.stem,
                "epoch": entry["epoch"],
                "error_percent": round(100 * entry["error"], 2),
                "nll": round(entry["nll"], 4),
            }
            for entry in json.loads((source / "history.json").read_text())
        ]
    write_joined(options.output / "sketches.parquet", joined["sketch"])
    write_rows(options.output / "networks.csv", rows)
    if not options.only_populations:
        write_joined(options.output / "top_labels.parquet", joined["top_labels"])
        write_rows(options.output / "history.csv", history)
    write_checksums(options.output)
    return 0


def named(name: str, table: pa.Table) -> pa.Table:
    """Return a network's table with its name in the first column."""
    return table.add_column(0, "name", pa.array([name] * len(table)).dictionary_encode())


def write_joined(path: Path, tables: list[pa.Table]) -> None:
    """Write the tables of several networks into one, which keeps those of other networks."""
    shipped = [pq.read_table(path)] if path.exists() else []
    by_name = {
        name: table.filter(pc.equal(table["name"], name))
        for table in (*shipped, *tables)
        for name in table["name"].unique().to_pylist()
    }
    joined = pa.concat_tables([by_name[name] for name in sorted(by_name)])
    pq.write_table(joined.unify_dictionaries(), path, compression="zstd")


def table_row(configuration: Configuration, summary: dict[str, Any]) -> dict[str, Any]:
    """Return the row of networks.csv: configuration, description and truth."""
    row = {
        "name": configuration.name,
        "role": configuration.role,
        "task": configuration.task,
        "n_classes": load_task(configuration.task).n_classes,
    }
    row |= {key: getattr(configuration, key) for key in (*DESCRIBED, *TRAINED)}
    row |= {
        "n_rows": summary["n_rows"],
        "error_percent": _percent(summary["error"]),
        "nll": round(summary["nll"], 5),
        "mean_score_percent": _percent(summary["mean_score"]),
        "gap_percent": _percent(summary["mean_score"] + summary["error"] - 1),
        "share_above_99": round(summary["share_above_99"], 4),
    }
    for truth in ("", "_by_chances"):
        for key in ("l1", "l1_se", "l2", "l2_se"):
            value = summary.get(key + truth)
            row[f"{key}{truth}_percent"] = "" if value is None else _percent(value)
    return row


def _percent(value: float) -> float:
    return round(100 * value, 4)


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows of networks to a table, which keeps those of other networks."""
    if path.exists():
        names = {row["name"] for row in rows}
        with path.open() as file:
            rows = [*rows, *(row for row in csv.DictReader(file) if row["name"] not in names)]
    rows = sorted(rows, key=itemgetter("name"))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS of all files but itself and the README."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n"
        for path in files
        if path.name not in ("SHA256SUMS", "README.md")
    ]
    (folder / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    sys.exit(main())
