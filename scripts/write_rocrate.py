"""Pack a run as a Workflow Run RO-Crate: one zip of results, code and metadata, to be archived."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from calbias.errors import InputError
from calbias.io.checksums import file_digest
from calbias.io.command_line import written_whole
from pipeline import CHECKOUT
from pipeline.provenance import checked_record
from pipeline.rocrate import METADATA, crate_metadata
from pipeline.script import option, script

PROJECT = (
    *("Snakefile", "Makefile", "LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff"),
    *("codemeta.json", "article", "config", "envs", "resources", "scripts", "workflow"),
)
LEFT_OUT = CHECKOUT / "resources/logits"  # others' model outputs: described, not packed


def name_in_project(path):
    """Return a path relative to the project; as it is if it leads elsewhere."""
    whole = Path(path).resolve()
    return whole.relative_to(CHECKOUT).as_posix() if whole.is_relative_to(CHECKOUT) else str(path)


def project_files():
    """Yield the files of the project that belong to a crate."""
    for name in PROJECT:
        for path in sorted([CHECKOUT / name, *(CHECKOUT / name).rglob("*")]):
            hidden = "/." in name_in_project(path) or "__pycache__" in path.parts
            if path.is_file() and not hidden and LEFT_OUT not in path.parents:
                yield path


@script(
    option("--record", "the record of provenance (JSON)"),
    option("--pages", "further results to be packed", many=True, default=[]),
    option("--output", "crate to write (ZIP)"),
)
def main(options):
    record = checked_record(options.record)
    results = [*record["files"], options.record, *options.pages]
    if outside := [path for path in results if Path(path).is_absolute() or ".." in path]:
        raise InputError(f"{outside[0]}: outside the folder of the run; run snakemake in it")
    record["inputs"] = {name_in_project(path): sha for path, sha in record["inputs"].items()}
    files = {name_in_project(path): path for path in project_files()}
    files |= {path: Path(path) for path in results}
    ended = max(Path(path).stat().st_mtime for path in results)
    packed = {name: (file_digest(path), path.stat().st_size) for name, path in files.items()}
    about = json.loads((CHECKOUT / "codemeta.json").read_text(encoding="utf-8"))
    ended = datetime.fromtimestamp(round(ended), UTC).isoformat()
    metadata = crate_metadata(record, about, packed, results, ended)
    with written_whole(options.output) as temporary, zipfile.ZipFile(temporary, "w") as crate:
        texts = {METADATA: json.dumps(metadata, indent=1).encode()}
        for name in (METADATA, *files):
            entry = zipfile.ZipInfo(name)  # without the time: the same run, the same bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            crate.writestr(entry, texts.get(name) or files[name].read_bytes())


if __name__ == "__main__":
    main()
