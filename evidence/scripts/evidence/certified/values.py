"""The files of the certified values: read, computed again, written."""

import csv
import hashlib
import json
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from evidence.certified.measures import WORKING, DataSet, Value, decimal_of, value_of
from evidence.certified.truths import Truth, truth

FOLDER = Path(__file__).parents[4] / "resources/certified"
DIGITS = 17


def contents(folder: Path = FOLDER) -> dict[str, Any]:
    """Return ``values.json``: format, data_sets and truths."""
    known: dict[str, Any] = json.loads((folder / "values.json").read_text(encoding="utf-8"))
    return known


def data_sets(folder: Path = FOLDER) -> list[DataSet]:
    """Return all certified data sets with their values."""
    return [_read(folder / head["file"], head) for head in contents(folder)["data_sets"]]


def _read(path: Path, head: dict[str, Any]) -> DataSet:
    columns, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    cells = [([Fraction(cell) for cell in row[:-1]], int(row[-1])) for row in rows]
    classes = cells if columns[-1] == "label" else []
    scores = [max(p) for p, _ in cells]
    hits = [int(p.index(max(p)) == y) if classes else y for p, y in cells]
    return DataSet(head["name"], scores, hits, classes, head["values"])


def _numbers(value: Value | Decimal) -> dict[str, Any]:
    """Return the fields exact, root, value and n_bins of a record."""
    if isinstance(value, Decimal):
        return {"exact": None, "root": None, "value": digits(value)}
    numbers = {"exact": str(value.exact), "root": value.root, "value": digits(rooted(value))}
    return numbers if value.n_bins is None else numbers | {"n_bins": value.n_bins}


def rooted(value: Value) -> Decimal:
    """Return the value to the working precision."""
    with localcontext(prec=WORKING):
        x = decimal_of(value.exact)
        return x if value.root == 1 else (abs(x).sqrt()).copy_sign(x)


def digits(value: Decimal) -> str:
    """Return a number with 17 significant digits; trailing zeros are dropped."""
    with localcontext(prec=DIGITS):
        rounded = +value
    return "0" if rounded == 0 else str(rounded.normalize())


def computed(folder: Path = FOLDER) -> str:
    """Return the text of ``values.json`` with every value computed again, one in a line."""
    kept, blocks = contents(folder), []
    for head, data in zip(kept["data_sets"], data_sets(folder), strict=True):
        lines = []
        for key, record in data.values.items():
            named = {name: record[name] for name in ("measure", "options", "calbias")}
            value = value_of(record["measure"], record["options"], data)
            lines.append(f"  {json.dumps(key)}: {json.dumps(named | _numbers(value))}")
        text = json.dumps({k: v for k, v in head.items() if k != "values"}, ensure_ascii=False)
        blocks.append(text[:-1] + ', "values": {\n' + ",\n".join(lines) + "\n }}")
    truths = []
    for record in kept["truths"]:
        named = {name: record[name] for name in (*Truth._fields, "norm")}
        value = truth(Truth(*(record[name] for name in Truth._fields)), record["norm"])
        truths.append(json.dumps(named | _numbers(value)))
    return (
        f'{{"format": {kept["format"]}, "data_sets": [\n'
        + ",\n".join(blocks)
        + '\n], "truths": [\n'
        + ",\n".join(truths)
        + "\n]}\n"
    )


def main(folder: Path = FOLDER) -> None:
    """Write ``values.json`` and ``SHA256SUMS`` of a folder."""
    (folder / "values.json").write_text(computed(folder), encoding="utf-8", newline="\n")
    files = sorted([*folder.glob("*.csv"), folder / "values.json"], key=lambda path: path.name)
    sums = "".join(f"{hashlib.sha256(x.read_bytes()).hexdigest()}  {x.name}\n" for x in files)
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
