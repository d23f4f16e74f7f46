"""Write the certified data sets: CSV files, their values, the truths and the checksums.

Exact rational arithmetic (``scripts/reproduction/certify``), no code of calbias's estimators.
"""

import csv
import hashlib
import io
import json
from pathlib import Path

from evidence.certify.data import data_sets
from evidence.certify.truths import truths
from evidence.certify.values import values
from pipeline.script import option, script

FORMAT = 1


def _csv(data):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([data.columns, *data.rows])
    return text.getvalue()


def _json(certified):
    """Return JSON with a line for each value."""
    blocks = []
    for data in certified["data_sets"]:
        head = json.dumps({k: v for k, v in data.items() if k != "values"}, ensure_ascii=False)
        rows = (f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in data["values"].items())
        blocks.append(head[:-1] + ', "values": {\n' + ",\n".join(rows) + "\n }}")
    records = ",\n".join(json.dumps(record) for record in certified["truths"])
    return (
        f'{{"format": {certified["format"]}, "data_sets": [\n'
        + ",\n".join(blocks)
        + f'\n], "truths": [\n{records}\n]}}\n'
    )


def _written(path, text):
    path.write_text(text, encoding="utf-8", newline="\n")
    return hashlib.sha256(text.encode()).hexdigest()


@script(option("--output", "folder to write", default="scripts/calbias/certified"))
def main(options):
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    sums, contents = {}, []
    for data in data_sets():
        name = f"{data.name}.csv"
        sums[name] = _written(folder / name, _csv(data))
        about = {"name": data.name, "file": name, "about": data.about, "columns": data.columns}
        contents.append({**about, "n_rows": len(data.rows), "values": values(data)})
    certified = {"format": FORMAT, "data_sets": contents, "truths": truths()}
    sums["values.json"] = _written(folder / "values.json", _json(certified))
    lines = (f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    _written(folder / "SHA256SUMS", "".join(lines))


if __name__ == "__main__":
    main()
