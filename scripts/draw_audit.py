"""Draw one model's reliability diagram, as PNG and as PDF, with its reading."""

from calbias.io.command_line import write_text
from pipeline.figures import style
from pipeline.figures.audited_model import draw, reading
from pipeline.script import option, script
from pipeline.tables.files import read_tables


@script(
    option("--diagram", "bins, as audit_model.py writes them"),
    option("--verdict", "the model's row, as it writes it"),
    option("--output-png", "picture for screens, to write"),
    option("--output-pdf", "picture for papers, to write"),
    option("--output-reading", "sentence on what the figure says, to write"),
)
def main(options):
    paths = {"audit_diagrams": options.diagram, "audit_verdicts": options.verdict}
    tables = read_tables(paths)
    style.save(style.drawn(draw, tables), options.output_png, options.output_pdf)
    write_text(options.output_reading, reading(tables) + "\n")


if __name__ == "__main__":
    main()
