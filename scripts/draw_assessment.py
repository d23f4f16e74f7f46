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
    with written_whole(options.output_png) as png, written_whole(options.output_pdf) as pdf:
        style.save(made, png, pdf)


if __name__ == "__main__":
    main()
