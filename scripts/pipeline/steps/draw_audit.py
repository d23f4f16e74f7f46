from pathlib import Path

from pipeline.figures import style
from pipeline.figures.audited_model import draw
from pipeline.tables.files import read_tables


def draw_audit(
    *,
    diagram: Path,
    verdict: Path,
    output_png: Path,
    output_pdf: Path,
) -> None:
    """Draw one model's reliability diagram, as PNG and as PDF.

    diagram: bins, as audit_model writes them
    verdict: the model's row, as it writes it
    output_png: picture for screens, to write
    output_pdf: picture for papers, to write
    """
    paths = {"audit_diagrams": diagram, "audit_verdicts": verdict}
    tables = read_tables(paths)
    style.save(style.drawn(draw, tables), output_png, output_pdf)
