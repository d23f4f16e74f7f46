"""Build the reproduction article: fill the templates from result tables, and set them as a PDF."""

import os
import shutil
from pathlib import Path

from calbias.errors import InputError
from calbias.io.command_line import write_text, written_whole
from pipeline import CHECKOUT
from pipeline.provenance import read_record
from pipeline.script import TABLES, option, script
from pipeline.tables.files import read_tables
from reproduction.report.article import Results, render


def typeset(source, output, root):
    """Write the PDF of a Typst file, whose project is in the folder ``root``."""
    try:
        import typst
    except ImportError:
        raise InputError(
            "Typst is not installed: make article, or pip install -r envs/requirements-article.lock"
        ) from None
    try:  # the fonts that Typst brings: the same pages everywhere
        typst.compile(source, output=output, root=root, ignore_system_fonts=True)
    except typst.TypstError as error:
        raise InputError(f"{source}: {error.message}") from error


@script(
    TABLES,
    option("--record", "the record of provenance (JSON)"),
    option("--source", "folder of the templates", default=CHECKOUT / "article"),
    option("--figures", "folder of the figures (PDF)", default="results/figures"),
    option("--output", "PDF to write; its folder gets source and metadata.yaml"),
)
def main(options):
    results = Results(read_tables(options.table), read_record(options.record))
    folder = Path(options.output).parent
    root = os.path.commonpath([folder.resolve(), Path(options.figures).resolve()])
    figures = "/" + os.path.relpath(options.figures, root)
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(Path(options.source).iterdir()):
        if path.suffix == ".j2":
            write_text(folder / path.stem, render(path, results, figures))
        else:
            shutil.copy(path, folder)
    with written_whole(options.output) as temporary:
        typeset(folder / "article.typ", temporary, root)


if __name__ == "__main__":
    main()
