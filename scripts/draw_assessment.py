"""Draw one model's reliability diagram, as PNG for screens and as PDF for papers."""

import argparse

from calbias.figures import style
from calbias.figures.assessed_model import draw
from calbias.io.command_line import command, written_whole
from calbias.io.tables import read_table


@command
def main(argv=None):
    """Parse the command line, read the model's parts of the tables and write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--diagram", required=True, help="bins, as assess_model.py writes them")
    parser.add_argument("--verdict", required=True, help="the model's row, as it writes it")
    parser.add_argument("--output-png", required=True, help="picture for screens, to be written")
    parser.add_argument("--output-pdf", required=True, help="picture for papers, to be written")
    options = parser.parse_args(argv)
    paths = {"assessment_diagrams": options.diagram, "assessment_verdicts": options.verdict}
    made = draw({name: read_table(path) for name, path in paths.items()})
    outputs = options.output_png, options.output_pdf
    png_file, pdf_file = (written_whole(path, checksum=True) for path in outputs)
    with png_file as png, pdf_file as pdf:
        style.save(made, png, pdf)


if __name__ == "__main__":
    main()
