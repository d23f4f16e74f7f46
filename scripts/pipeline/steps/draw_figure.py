import importlib
from pathlib import Path

from calbias.errors import InputError, validate_defines
from pipeline import catalogue
from pipeline.figures import style
from pipeline.figures.numbers import numbers
from pipeline.tables import read_tables, write_table


def draw_figure(
    *,
    tables: dict[str, Path],
    figure: str,
    model: str = "",
    output_png: Path,
    output_pdf: Path,
    output_csv: Path,
) -> None:
    """Draw one figure from result tables, as PNG for screens and PDF for papers.

    The numbers behind it are written next to it.

    tables: result tables, as NAME=PATH
    figure: name of the figure, such as fig4_realistic
    model: the model to show, where the figure is of one; otherwise it chooses one
    output_png: picture for screens, to write
    output_pdf: picture for papers, to write
    output_csv: the numbers behind the picture, to write
    """
    entries = catalogue.figures()
    if figure not in entries:
        names = ", ".join(entries)
        raise InputError(f"--figure {figure}: not known; choose one of {names}")
    entry = entries[figure]
    missing = [stem for stem in entry.tables if stem not in tables]
    if missing:
        raise InputError(f"--tables: {missing[0]} is missing; add {missing[0]}=PATH.csv")
    contents = read_tables({stem: tables[stem] for stem in entry.tables})
    module = importlib.import_module(entry.module)
    validate_defines(str(module.__file__), vars(module), ["draw"], "draw(tables)")
    chosen = {"model": model} if model else {}
    drawn = style.drawn(module.draw, contents, **(entry.options | chosen))
    style.save(drawn, output_png, output_pdf)
    rows = numbers(entry, contents, **chosen)
    write_table(output_csv, list(rows), rows)
