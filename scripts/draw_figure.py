"""Draw one figure from result tables, as PNG for screens and PDF for papers, with its reading."""

import importlib

from calbias.errors import InputError, validate_defines
from calbias.io.command_line import write_text
from pipeline import catalogue
from pipeline.figures import style
from pipeline.script import TABLES, option, script
from pipeline.tables.files import read_tables


@script(
    TABLES,
    option("--figure", "name of the figure, such as fig4_realistic"),
    option("--output-png", "picture for screens, to write"),
    option("--output-pdf", "picture for papers, to write"),
    option("--output-reading", "sentence on what the figure says, to write"),
)
def main(options):
    entries = catalogue.figures()
    if options.figure not in entries:
        known = ", ".join(entries)
        raise InputError(f"--figure {options.figure}: not known; choose one of {known}")
    entry = entries[options.figure]
    missing = [stem for stem in entry.tables if stem not in options.table]
    if missing:
        raise InputError(f"--table: {missing[0]} is missing; add --table {missing[0]}=PATH.csv")
    tables = read_tables({stem: options.table[stem] for stem in entry.tables})
    module = importlib.import_module(entry.module)
    for name in ("draw", "reading"):
        validate_defines(module.__file__, vars(module), [name], f"{name}(tables)")
    figure = style.drawn(module.draw, tables, **entry.options)
    style.save(figure, options.output_png, options.output_pdf)
    write_text(options.output_reading, module.reading(tables, **entry.options) + "\n")


if __name__ == "__main__":
    main()
