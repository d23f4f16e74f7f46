"""Draw one model's reliability diagram, as PNG for screens and as PDF for papers."""

from calbias.figures import style
from calbias.figures.audited_model import draw
from calbias.io.command_line import option, script, written_whole
from calbias.io.tables import read_table


@script(
    option("--diagram", "bins, as audit_model.py writes them"),
    option("--verdict", "the model's row, as it writes it"),
    option("--output-png", "picture for screens, to write"),
    option("--output-pdf", "picture for papers, to write"),
)
def main(options):
    paths = {"audit_diagrams": options.diagram, "audit_verdicts": options.verdict}
    made = draw({name: read_table(path) for name, path in paths.items()})
    outputs = options.output_png, options.output_pdf
    png_file, pdf_file = (written_whole(path, checksum=True) for path in outputs)
    with png_file as png, pdf_file as pdf:
        style.save(made, png, pdf)


if __name__ == "__main__":
    main()
