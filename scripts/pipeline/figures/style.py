"""The one place of style: widths, fonts, colours, and how an estimator looks in every figure.

Colours are those of Okabe and Ito (2008) for estimators, Paul Tol's muted set for groups of models
and viridis for sample sizes, so that the three never look alike; the colour-blind can
distinguish each, and each comes with a marker or a line style for print in grey.
"""

import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from calbias import __version__
from pipeline.figures.selection import Tables
from pipeline.write_results import written_whole

COLUMN = 3.35  # inches: one column of a two-column page
PAGE = 6.9  # inches: both columns
PIXELS = 1000  # least width of a PNG, so that screens show narrow figures well too

RC: dict[Any, Any] = {
    "axes.axisbelow": True, "axes.grid": True, "axes.labelsize": 7.5, "axes.linewidth": 0.6,
    "axes.spines.right": False, "axes.spines.top": False,
    "axes.titlelocation": "left", "axes.titlepad": 4, "axes.titlesize": 8,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 7.5, "grid.color": "0.9", "grid.linewidth": 0.5,
    "legend.borderpad": 0.2, "legend.columnspacing": 1.4, "legend.fontsize": 7,
    "legend.frameon": False, "legend.handlelength": 2.6, "legend.labelspacing": 0.35,
    "lines.linewidth": 1.1, "lines.markersize": 3.4, "pdf.fonttype": 42, "savefig.dpi": 220,
    "xtick.labelsize": 7, "xtick.major.width": 0.6, "ytick.labelsize": 7, "ytick.major.width": 0.6,
}  # fmt: skip

BLUE, ORANGE = "#0072B2", "#D55E00"
FAMILIES = {
    "ece_bin": (BLUE, "o"),
    "ece_debias": (ORANGE, "s"),
    "ece_sweep": ("#009E73", "^"),
    "ece_label_binned": ("#56B4E9", "D"),
    "kde": ("#CC79A7", "v"),
    "kde_unrooted": ("#000000", "X"),
}
OTHER_COLOURS = ("#A50026", "#8C510A", "#5E3C99", "#6B6B00")  # of a new estimator: dark, wide lines
OTHER_MARKERS = ("P", "*", "h", "<", ">", "p", "d")
SCHEME_LINES = {"em": "-", "ew": (0, (4, 2)), "": (0, (6, 1.5, 1, 1.5))}

GROUP_COLOURS = ("#332288", "#CC6677", "#117733", "#88CCEE", "#AA4499", "#999933", "#882255")
LINE_STYLES = ("-", (0, (4, 2)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (8, 3)), (0, (3, 1) * 2))
SIZE_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">")

REFERENCE: dict[str, Any] = {
    "color": "0.15",
    "linewidth": 0.9,
    "linestyle": (0, (1, 1.5)),
    "zorder": 1.5,
}
PUBLISHED_POINT: dict[str, Any] = {
    "linestyle": "", "marker": "*", "markersize": 8, "color": ORANGE, "markeredgecolor": "white",
    "zorder": 5, "clip_on": False,
}  # fmt: skip
NOTE_COLOUR = "0.35"


def drawn(draw: Callable[..., Figure], tables: Tables, **options: Any) -> Figure:
    """Return the figure that ``draw(tables, **options)`` makes, in this style."""
    with matplotlib.rc_context(RC):
        return draw(tables, **options)


def figure(width: float, height: float) -> Figure:
    """Return an empty Figure of ``width`` × ``height`` inches whose parts make room for others."""
    room = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=0.03, hspace=0.03)
    empty = Figure(figsize=(width, height), layout=room)
    FigureCanvasAgg(empty)
    return empty


def save(figure: Figure, png: Path, pdf: Path) -> None:
    """Write a figure whole as PNG and PDF, without dates: the same figure gives the same bytes.

    The canvases are called directly: ``Figure.savefig`` draws the figure twice for each file.
    """
    maker = f"calbias {__version__}"
    dpi = max(RC["savefig.dpi"], PIXELS / figure.get_figwidth())
    pdf_metadata = {"Creator": maker, "CreationDate": None}
    whole_png, whole_pdf = (written_whole(path, checksum=True) for path in (png, pdf))
    with matplotlib.rc_context(RC), whole_png as png_file, whole_pdf as pdf_file:
        figure.dpi = dpi
        FigureCanvasAgg(figure).print_png(png_file, metadata={"Software": maker})
        figure.set_layout_engine("none")  # the PDF's parts stand where the PNG's do
        FigureCanvasPdf(figure).print_pdf(pdf_file, metadata=pdf_metadata)


def split_estimator(estimator: str) -> tuple[str, str]:
    """Return (family, scheme) of an estimator's name; scheme is ``em``, ``ew`` or empty."""
    family, _, scheme = estimator.rpartition("_")
    return (family, scheme) if scheme in ("em", "ew") and family else (estimator, "")


def estimator_style(estimator: str, protagonists: Sequence[str] = ()) -> dict[str, Any]:
    """Return keywords for ``Axes.plot``: colour and marker by family, line and fill by scheme.

    A family that ``FAMILIES`` lacks gets those that its name decides, alike in every figure.
    ``protagonists`` are solid and in front, and beside them the others are pale.
    """
    family, scheme = split_estimator(estimator)
    line: dict[str, Any] = {}
    if estimator in protagonists:
        position = list(protagonists).index(estimator)
        return {
            "color": OTHER_COLOURS[position % len(OTHER_COLOURS)],
            "marker": OTHER_MARKERS[position % len(OTHER_MARKERS)],
            "linestyle": "-",
            "linewidth": 2.0,
            "zorder": 4,
        }
    if family in FAMILIES:
        colour, marker = FAMILIES[family]
    else:
        line = {"linewidth": 2.0, "zorder": 3}
        number = zlib.crc32(family.encode())
        colour = OTHER_COLOURS[number % len(OTHER_COLOURS)]
        marker = OTHER_MARKERS[number // 7 % len(OTHER_MARKERS)]
    if protagonists:
        colour, line = pale(colour), {"linewidth": 0.8, "zorder": 2, "markersize": 2.4}
    return {
        "color": colour,
        "marker": marker,
        "linestyle": SCHEME_LINES[scheme],
        "markerfacecolor": "white" if scheme == "ew" else colour,
        "markeredgewidth": 0.8,
        **line,
    }


def pale(colour: str) -> str:
    """Return a colour as it is drawn behind protagonists."""
    r, g, b = (1 - 0.45 * (1 - part) for part in to_rgb(colour))
    return to_hex((r, g, b))


def estimator_order(estimators: Iterable[str]) -> list[str]:
    """Return the distinct estimators: known families first, in their order, em before ew."""
    families = list(FAMILIES)

    def key(estimator: str) -> tuple[int, str, int]:
        family, scheme = split_estimator(estimator)
        rank = families.index(family) if family in families else len(families)
        return rank, family, ("em", "ew", "").index(scheme)

    return sorted(set(estimators), key=key)


def sample_size_style(n_samples: int) -> dict[str, Any]:
    """Return keywords for ``Axes.plot``; darker is larger, and n = 200 looks alike everywhere."""
    position = (math.log10(n_samples) - 2) / (math.log10(20_000) - 2)
    colour = matplotlib.colormaps["viridis"](0.85 * (1 - min(max(position, 0.0), 1.0)))
    doublings = round(math.log2(n_samples / 100))
    return {"color": colour, "marker": SIZE_MARKERS[doublings % len(SIZE_MARKERS)]}


def group_colour(index: int) -> str:
    """Return the colour of the group of models with this place in the order of groups."""
    return GROUP_COLOURS[index % len(GROUP_COLOURS)]


def line_style(index: int) -> Any:
    """Return the line style of the architecture with this place in its order."""
    return LINE_STYLES[index % len(LINE_STYLES)]
