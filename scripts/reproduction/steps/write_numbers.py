import re
from pathlib import Path

from calbias.errors import InputError
from pipeline.results import write_text
from pipeline.tables.files import read_table
from reproduction.report.numbers import findings

BEGIN, END = "<!-- numbers: begin", "<!-- numbers: end -->"
MARKED = re.compile(rf"({BEGIN}([\w ]*)[^\n]*\n).*?({END})", re.DOTALL)


def write_numbers(
    *,
    tables: Path = Path("results/tables"),
    machine: str = "",
    documents: list[Path],
) -> None:
    """Write the numbers that README.md and docs/results.md quote, from the result tables.

    They stand between markers, of which the first names the topics: ``<!-- numbers: begin bias``.

    tables: folder of result tables
    machine: machine and date of the benchmark, in words
    documents: files to change
    """
    paths = sorted(tables.glob("*.csv"))
    contents = {path.stem: read_table(path) for path in paths}
    for document in documents:
        if not document.is_file():
            raise InputError(f"{document}: there is no such file")
        text = document.read_text(encoding="utf-8")
        found = MARKED.search(text)
        if not found or len(MARKED.findall(text)) != 1:
            raise InputError(f"{document}: put the lines {BEGIN} … --> and {END} into it once")
        quoted = findings(contents, machine, tuple(found[2].split()))
        lines = "".join(f"- **{title}**{text}\n" for title, text in quoted)
        write_text(document, text[: found.end(1)] + lines + text[found.start(3) :])
