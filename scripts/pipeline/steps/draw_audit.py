"""A model's reliability diagram with its verdict (tables ``audit_diagrams``, ``…_verdicts``).

Accuracy against mean score in bins of neighbouring scores, narrow where scores crowd, with the
calibration curve of ``averaged_posterior`` and its band.
"""

import textwrap
from pathlib import Path

from matplotlib.figure import Figure

from pipeline.figures import labels, style
from pipeline.figures.selection import Tables
from pipeline.tables import read_tables


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


def draw(tables: Tables) -> Figure:
    """Return the figure of the one model that the tables are of."""
    bins, verdict = tables["audit_diagrams"], tables["audit_verdicts"].iloc[0]
    figure = style.figure(style.COLUMN, 3.9)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    upper.plot([0, 1], [0, 1], **style.REFERENCE)
    upper.fill_between(
        bins["mean_score"], bins["curve_low"], bins["curve_high"],
        color=style.BLUE, alpha=0.2, linewidth=0,
    )  # fmt: skip
    upper.plot(
        bins["mean_score"], bins["curve_mean"], color=style.BLUE, label="calibration curve, 95 %"
    )
    upper.vlines(
        bins["mean_score"], bins["hit_low"], bins["hit_high"], color=style.ORANGE, linewidth=1
    )
    upper.scatter(
        bins["mean_score"], bins["mean_hit"], 4 + 30 * bins["n_in_bin"] / bins["n_in_bin"].max(),
        color=style.ORANGE, label="bins, 95 %; area: rows", zorder=3, clip_on=False,
    )  # fmt: skip
    upper.set(xlim=(0, 1), ylim=(0, 1), ylabel="accuracy in bin")
    upper.legend(loc="upper left")
    width = (bins["highest_score"] - bins["lowest_score"]).clip(lower=0.01)
    share = bins["n_in_bin"] / bins["n_in_bin"].sum() / width
    lower.bar(bins["lowest_score"], share, width, align="edge", color=style.BLUE, alpha=0.5)
    lower.set(xlabel=labels.SCORE, ylabel="density", ylim=(0, None))
    head = f"{verdict['model']} · n = {labels.counted(verdict['n_samples'], '').strip()}"
    head += f" · fold {verdict['fold']} · {labels.source_label([verdict['source']])}"
    words = textwrap.fill(verdict["model_verdict"], 68)
    figure.suptitle(f"{head}\n{words}", fontsize=6.5, x=0.01, ha="left", color=style.NOTE_COLOUR)
    return figure
