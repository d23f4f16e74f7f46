"""Write the numbers that README.md and docs/results.md quote, from the result tables.

They stand between markers; the first one names the topics: ``<!-- numbers: begin claims bias (…``.
"""

import re
from pathlib import Path

from calbias.errors import InputError
from calbias.io.command_line import write_text
from pipeline.script import option, script
from pipeline.tables.files import read_table
from reproduction.report.numbers import findings

BEGIN, END = "<!-- numbers: begin", "<!-- numbers: end -->"
MARKED = re.compile(rf"({BEGIN}([\w ]*)[^\n]*\n).*?({END})", re.DOTALL)


@script(
    option("--tables", "folder of result tables", default="results/tables"),
    option("--machine", "machine and date of the benchmark, in words", default=""),
    option("--documents", "files to change", many=True, default=["README.md", "docs/results.md"]),
)
def main(options):
    paths = sorted(Path(options.tables).glob("*.csv"))
    tables = {path.stem: read_table(path) for path in paths}
    for document in map(Path, options.documents):
        if not document.is_file():
            raise InputError(f"{document}: there is no such file")
        text = document.read_text(encoding="utf-8")
        if len(MARKED.findall(text)) != 1:
            raise InputError(f"{document}: put the lines {BEGIN} … --> and {END} into it once")
        found = MARKED.search(text)
        quoted = findings(tables, options.machine, found[2].split())
        lines = "".join(f"- **{title}**{text}\n" for title, text in quoted)
        write_text(document, text[: found.end(1)] + lines + text[found.start(3) :])


if __name__ == "__main__":
    main()
