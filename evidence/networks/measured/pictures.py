"""Two pictures: Guo et al.'s Figures 2 and 3 on known truth, and the order of two estimators.

``python -m measured.pictures`` writes ``guo.png`` and ``order.png``.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from measured.collect import KEPT
from measured.comparisons import DEBIAS, SWEEP, load
from measured.shipped import FOLDER
from pipeline.figures.panels import log_axis
from pipeline.figures.style import BLUE, ORANGE, PAGE, RC

DEPTHS = {
    "perceptrons": ("mlp1x100_s10", "mlp2x100_s10", "mlp4x100_s10"),
    "residual networks": ("res1x16_s10", "res2x16_s10", "res3x16_s10", "res5x16_s10"),
}
WIDTHS = {
    "perceptrons": ("mlp2x25_s10", "mlp2x100_s10", "mlp2x400_s10"),
    "residual networks": ("res2x8_s10", "res2x16_s10", "res2x32_s10"),
}
DECAYS = {
    "perceptrons": ("mlp2x400_s10", "mlp2x400_s10_decay_3e-3", "mlp2x400_s10_decay_2e-2"),
    "residual networks": ("res3x16_s10", "res3x16_s10_decay_1e-3", "res3x16_s10_decay_1e-2"),
}
HISTORIES = ("mlp4x100_s10", "mlp2x200_s50", "res5x16_s10")
COLOURS = {"perceptrons": BLUE, "residual networks": ORANGE}
LAWS = {"population": ("the network itself", BLUE, "o"), "beta_glm": ("its fit", ORANGE, "s")}


def _lines(
    axes: Axes, table: pd.DataFrame, groups: Mapping[str, Sequence[str]], column: str
) -> None:
    """Plot mean score less accuracy against a column, a line for each kind of network."""
    for label, names in groups.items():
        rows = table.loc[[name for name in names if name in table.index]]
        axes.plot(rows[column], rows.gap_percent, "o-", color=COLOURS[label], label=label)
        again = [f"{name}_seed1" for name in names if f"{name}_seed1" in table.index]
        rows = table.loc[again]
        axes.plot(rows[column], rows.gap_percent, "x", color=COLOURS[label])
    axes.axhline(0, color="0.15", linewidth=0.9)
    axes.set_xlabel(column.replace("_", " "))


def draw_guo(table: pd.DataFrame, history: pd.DataFrame, path: Path) -> None:
    """Draw over-confidence against depth, width and weight decay, and losses during training."""
    figure = Figure(figsize=(PAGE, 4.3), layout="constrained")
    upper = figure.subplots(2, 3)
    panels: tuple[tuple[Mapping[str, Sequence[str]], str], ...] = (
        (DEPTHS, "depth"),
        (WIDTHS, "width"),
        (DECAYS, "weight_decay"),
    )
    for axes, (groups, column) in zip(upper[0], panels, strict=True):
        _lines(axes, table, groups, column)
    log_axis(upper[0, 1], (8, 16, 32, 100, 400))
    log_axis(upper[0, 2], (1e-4, 1e-3, 1e-2))
    upper[0, 0].set_ylabel("mean score − accuracy (%)")
    upper[0, 1].legend(loc="lower right")
    upper[0, 0].set_title("a crossed mark: a second seed")
    for axes, name in zip(upper[1], HISTORIES, strict=True):
        rows = history[history.name == name]
        axes.plot(rows.epoch, rows.error_percent, color=BLUE)
        axes.set_title(name)
        axes.set_xlabel("epoch")
        axes.set_ylabel("error (%)", color=BLUE)
        right = axes.twinx()
        right.plot(rows.epoch, rows.nll, color=ORANGE)
        right.set_ylabel("negative log-likelihood", color=ORANGE)
        right.grid(visible=False)
    _save(figure, path)


def draw_order(rows: pd.DataFrame, path: Path) -> None:
    """Draw |bias| of debias less that of the sweep, on each network and on its fit."""
    rows = rows[(rows.role != "control") & (rows.l2_percent > 4)]
    rows = rows.assign(size=rows.bias_percent.abs())
    wide = rows.pivot_table("size", ["name", "l2_percent"], ["law", "estimator"]).reset_index()
    figure = Figure(figsize=(PAGE, 3.0), layout="constrained")
    axes = figure.subplots()
    axes.axhline(0, color="0.15", linewidth=0.9)
    differences = {law: wide[law][DEBIAS] - wide[law][SWEEP] for law in LAWS}
    axes.vlines(wide.l2_percent, *differences.values(), color="0.75", linewidth=0.8)
    for law, (label, colour, marker) in LAWS.items():
        mean, error = differences[law].mean(), differences[law].sem()
        text = f"{label}: {mean:+.2f} ± {error:.2f} on average".replace("-", "−")
        axes.plot(wide.l2_percent, differences[law], marker, color=colour, label=text)
    axes.set_xlabel("true ℓ2 calibration error of the network (%)")
    axes.set_ylabel("|bias| of debias − |bias| of sweep\n(percentage points)")
    axes.set_title("above 0 the equal-mass sweep is less biased, below 0 equal-mass debias")
    axes.legend()
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    FigureCanvasAgg(figure)
    figure.savefig(path, metadata={"Software": None})


def main() -> int:
    """Draw both pictures; return the exit code."""
    table = pd.read_csv(FOLDER / "networks.csv").set_index("name", drop=False)
    folder = KEPT.parent
    with matplotlib.rc_context(RC):
        draw_guo(table, pd.read_csv(FOLDER / "history.csv"), folder / "guo.png")
        draw_order(load(KEPT / "bias.parquet"), folder / "order.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
