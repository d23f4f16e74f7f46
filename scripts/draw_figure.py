"""Draw one figure from result tables, as PNG for screens and as PDF for papers."""

import argparse
import importlib

from calbias.errors import InputError
from calbias.figures import style
from calbias.io.command_line import command, named_paths, written_whole
from calbias.io.tables import read_table
from calbias.pipeline import figure_catalogue as catalogue


@command
def main(argv=None):
    """Parse the command line, read the tables and write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--figure", required=True, help="name of the figure, such as fig4_realistic"
    )
    parser.add_argument("--table", action="append", default=[], metavar="STEM=PATH",
                        help="a table that the figure reads, such as bias=results/tables/bias.csv;"
                        " give it once per table")  # fmt: skip
    parser.add_argument("--output-png", required=True, help="picture for screens, to be written")
    parser.add_argument("--output-pdf", required=True, help="picture for papers, to be written")
    arguments = parser.parse_args(argv)

    entries = catalogue.figures()
    if arguments.figure not in entries:
        known = ", ".join(entries)
        raise InputError(f"--figure {arguments.figure}: not known; choose one of {known}")
    entry = entries[arguments.figure]
    tables = read_tables(arguments.table, entry.tables)
    module = importlib.import_module(f"calbias.figures.{entry.module}")
    made = module.draw(tables, **entry.options)
    outputs = arguments.output_png, arguments.output_pdf
    png_file, pdf_file = (written_whole(path, checksum=True) for path in outputs)
    with png_file as png, pdf_file as pdf:
        style.save(made, png, pdf)


def read_tables(assignments, stems):
    """Return {stem: DataFrame} of the ``STEM=PATH`` assignments, of which ``stems`` are needed."""
    paths = named_paths(assignments, "--table")
    missing = [stem for stem in stems if not paths.get(stem)]
    if missing:
        raise InputError(f"--table: {missing[0]} is missing; add --table {missing[0]}=PATH.csv")
    return {stem: read_table(paths[stem]) for stem in stems}


if __name__ == "__main__":
    main()
