"""The league: error of every measure as a share of its own truth, by n and distribution."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evidence.names import DISTRIBUTIONS, measure_name, target_name, targets_in_order
from pipeline.figures import panels, selection, style

TABLES = {"league_errors": ["league_ranking"], "league_full_errors": ["league_full_ranking"]}
FIGURES = {"league_errors": {"size": ""}, "league_full_errors": {"size": ", full size"}}
TITLE = "Every calibration measure against its own truth{size}"
SHOWN = ("saturated", "spread", "tied")  # distributions of scores
MARKERS = ("o", "s", "D", "P", "X", "^")  # none of them points anywhere
LOW, HIGH = 0.04, 25
ROOM = 0.3  # left of it a number fits on the axis
NAME_SIZE = 6.2
Places = dict[str, float]
Looks = dict[int, dict[str, Any]]
LIMIT: dict[str, Any] = {"linewidth": 1.0, "linestyle": (0, (3, 1.5))}


def draw(tables: dict[str, pd.DataFrame], size: str = "") -> Figure:
    """Return a panel for each distribution of scores: a row for each measure, a dot for each n.

    A dot is the measure's error with a bar of ±2 Monte Carlo standard errors, filled where it is
    tied for the least of all. Measures of one target stand together, sorted by the error at the
    largest n, worse distribution; a dashed line is the information limit.
    """
    (name,) = tables
    table = selection.rows(tables, name)
    looks = {
        n: {"color": style.sample_size_style(n)["color"], "marker": MARKERS[k % len(MARKERS)]}
        for k, n in enumerate(sorted(table["n_samples"].unique()))
    }
    positions, headings = _places(table)
    figure = style.figure(1.25 * style.PAGE, 1.3 + 0.135 * (len(positions) + len(headings)))
    both = figure.subplots(1, len(SHOWN), sharex=True, sharey=True)
    for axes, distribution in zip(both, SHOWN, strict=True):
        rows = table[table["distribution"] == distribution]
        _errors(axes, rows, positions, looks)
        _limits(axes, rows, positions, looks)
        axes.axvspan(1, HIGH, color="0.94", zorder=0, linewidth=0)
        axes.axvline(1, **style.REFERENCE)
        axes.set(xscale="log", xlim=(LOW, HIGH), title=DISTRIBUTIONS[distribution].capitalize())
        shares = [0.05, 0.2, 1, 5, 20]
        panels.ticks(axes.xaxis, shares, lambda share: f"{100 * share:g}")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
    left = both[0]
    both[len(both) // 2].set_xlabel("RMSE as a share of its own truth (%)")
    for heading, at in headings.items():
        left.text(-0.02, at, heading, transform=left.get_yaxis_transform(),
                  ha="right", va="center", fontsize=NAME_SIZE, fontweight="bold")  # fmt: skip
    names = [measure_name(entry.partition(" → ")[0]) for entry in positions]
    left.set_yticks(list(positions.values()), names, fontsize=NAME_SIZE)
    left.set_ylim(max(positions.values()) + 0.7, min(headings.values()) - 0.7)
    handles = [panels.handle(f"n = {panels.short(n)}", **look) for n, look in looks.items()]
    for handle in handles:
        handle.set_linestyle("")
    hollow = {"color": "0.3", "marker": "o", "markerfacecolor": "white", "linestyle": ""}
    handles.append(panels.handle("not tied for the least", **hollow))
    if table["information_limit"].notna().any():
        handles.append(panels.handle("information limit", color="0.3", **LIMIT))
    handles.append(panels.handle("no better than reporting zero", **style.REFERENCE))
    panels.legend_below(figure, handles, 3)
    panels.note(
        figure,
        "dots: medians over slopes 0.5, 0.8, 1.25, shift and wave, or three faults of tied scores; "
        "shares of squares are halved",
        "filled: tied for the least error of all, at that n",
        panels.data_sets(table["n_replicates"]) + ", bars ±2 Monte Carlo standard errors",
    )
    return figure


def _errors(axes: Axes, table: pd.DataFrame, positions: Places, looks: Looks) -> None:
    for entry, error in table.groupby("entry")["error"]:
        look: dict[str, Any] = {"color": "0.75", "linewidth": 0.8, "zorder": 1}
        axes.hlines(positions[entry], error.min(), min(error.max(), HIGH), **look)
    for n, rows in table.groupby("n_samples"):
        rows = rows[rows["error"].between(LOW, HIGH)]
        for tied, some in rows.groupby(rows["rank"] == 1):
            face = looks[n]["color"] if tied else "white"
            look = {**looks[n], "linestyle": "", "markersize": 3.2, "markeredgewidth": 0.7}
            error, margin = some["error"], 2 * some["error_se"].fillna(0.0)
            at, margin = some["entry"].map(positions), margin.clip(upper=0.9 * error)
            axes.errorbar(error, at, xerr=margin, elinewidth=0.7, markerfacecolor=face, **look)
    beyond = table[(table["error"] > HIGH) | (table["error"] < LOW)]
    for (entry, is_high), rows in beyond.groupby(["entry", beyond["error"] > HIGH]):
        rows = rows.sort_values("n_samples")
        words = ", ".join(
            f"n = {panels.short(n)}: " * (len(rows) > 1)  # of one the colour says which
            + (f"{100 * error:,.0f}" if error >= 1 else f"{100 * error:.3g}")
            for n, error in zip(rows["n_samples"], rows["error"], strict=True)
        )
        where, side, arrow = LOW, "left", f"◀ {words} %"
        if is_high:  # left of the entry's other dots near the edge
            inside = table.loc[(table["entry"] == entry) & table["error"].between(HIGH / 8, HIGH)]
            where, side, arrow = min([HIGH, *0.75 * inside["error"]]), "right", f"{words} % ▶"
            entry_rows = table[(table["entry"] == entry) & (table["error"] <= HIGH)]
            margin = (2 * entry_rows["error_se"].fillna(0.0)).clip(upper=0.9 * entry_rows["error"])
            least = (entry_rows["error"] - margin).min()
            where = 0.8 * least if least > ROOM else where  # left of all bars where words fit
        colour = "0.94" if where > 1 else "white"
        axes.text(where, positions[entry], arrow, ha=side, va="center", fontsize=6, zorder=4,
                  color=looks[rows["n_samples"].max()]["color"],
                  bbox={"facecolor": colour, "linewidth": 0, "pad": 0.4})  # fmt: skip


def _limits(axes: Axes, table: pd.DataFrame, positions: Places, looks: Looks) -> None:
    """Draw a dashed line over the rows of a target for each n."""
    limits = table.dropna(subset="information_limit")
    for (_, n), rows in limits.groupby(["target", "n_samples"]):
        entries = table.loc[table["target"] == rows["target"].iloc[0], "entry"]
        at = entries.map(positions)
        axes.vlines(rows["information_limit"].iloc[0], at.min() - 0.6, at.max() + 0.6,
                    color=looks[n]["color"], zorder=1.2, **LIMIT)  # fmt: skip


def _places(table: pd.DataFrame) -> tuple[Places, Places]:
    """Return {entry: height} and {heading: height}, from the top downwards."""
    last = table.sort_values("n_samples").groupby(["distribution", "entry"]).tail(1)
    worst = last.groupby("entry")["error"].max().sort_values(kind="stable")
    targets = table.drop_duplicates("entry").set_index("entry")["target"]
    positions: Places = {}
    headings: Places = {}
    at = 0.0
    for target in targets_in_order(targets):
        entries = [entry for entry in worst.index if targets[entry] == target]
        headings[target_name(target)] = at
        positions |= {entry: at + k for k, entry in enumerate(entries, start=1)}
        at += len(entries) + 1.4
    return positions, headings
