"""The league: error of every measure as a share of its own truth, by sample size and score law."""

from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from calbias.figures import panels, selection, style

TABLES = {"league_errors": ["league_ranking"], "league_full_errors": ["league_full_ranking"]}
FIGURES = {"league_errors": {"size": ""}, "league_full_errors": {"size": ", full size"}}
TITLE = "Every calibration measure against its own truth{size}"
LAWS = {"saturated": "Saturated scores", "spread": "Spread scores"}
KINDS = {  # of targets, in the order of the panels' blocks
    "ℓ1 error": ("l1",),
    "ℓ2 error": ("l2",),
    "ℓ2 error squared": ("l2_squared", "isotonic_gain"),
    "cumulative deviations": ("max_deviation", "deviation_range"),
    "smoothed": ("smooth_ce", "smece", "kernel_ce"),
    "quantiles and maximum of the gap": ("gap_quantile", "mce"),
    "other": (),
}
LOW, HIGH = 0.04, 25


@style.styled
def draw(tables, size=""):
    """Return a panel for each score law: a row for each measure, a dot for each n.

    A dot is the measure's error with a bar of ±2 Monte Carlo standard errors. Measures are in
    blocks by what they estimate, sorted within by the error at the largest n, worse law.
    """
    (name,) = tables
    table = selection.rows(tables, name)
    sizes = sorted(table["n_samples"].unique())
    places, headings = _places(table)
    made = style.figure(style.PAGE, 1.1 + 0.13 * (len(places) + len(headings)))
    both = made.subplots(1, len(LAWS), sharex=True, sharey=True)
    for axes, (law, title) in zip(both, LAWS.items(), strict=True):
        mine = table[table["law"] == law]
        for entry, rows in mine.groupby("entry"):
            axes.hlines(places[entry], rows["error"].min(), rows["error"].max(),
                        color="0.75", linewidth=0.8, zorder=1)  # fmt: skip
        for n in sizes:
            rows = mine[mine["n_samples"] == n]
            look = style.sample_size_style(n)
            at, margin = rows["entry"].map(places), 2 * rows["error_se"].fillna(0.0)
            axes.errorbar(rows["error"], at, xerr=margin.clip(upper=0.9 * rows["error"]),
                          linestyle="", markersize=3.2, elinewidth=0.7, **look)  # fmt: skip
            out = rows[rows["error"] > HIGH]
            axes.plot([HIGH * 0.93] * len(out), out["entry"].map(places), linestyle="",
                      marker=">", markersize=3.2, color=look["color"])  # fmt: skip
        axes.axvspan(1, HIGH, color="0.94", zorder=0, linewidth=0)
        axes.axvline(1, **style.REFERENCE)
        axes.set(xscale="log", xlim=(LOW, HIGH))
        axes.xaxis.set_major_locator(FixedLocator([0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:g}"))
        axes.set_title(title)
        axes.set_xlabel("RMSE as a share of its own truth (%)")
        axes.grid(visible=False, axis="y")
    for heading, at in headings.items():
        both[0].text(-0.02, at, heading, transform=both[0].get_yaxis_transform(),
                     ha="right", va="center", fontsize=6, fontweight="bold")  # fmt: skip
    both[0].set_yticks(list(places.values()), [_label(x) for x in places], fontsize=6)
    both[0].set_ylabel("measure")
    both[0].set_ylim(max(places.values()) + 0.7, min(headings.values()) - 0.7)
    for axes in both:
        axes.tick_params(axis="y", length=0)
    handles = panels.sample_size_handles(sizes, linestyle="")
    handles.append(Line2D([], [], label="no better than reporting zero", **style.REFERENCE))
    panels.legend_below(made, handles, len(handles))
    panels.note(
        made,
        "dots: medians over slopes 0.5, 0.8, 1.25, shift and wave; shares of squares are halved",
        panels.data_sets(table["n_replicates"]) + ", bars ±2 Monte Carlo standard errors",
    )
    return made


def _places(table):
    """Return {entry: height} and {heading: height}, from the top downwards."""
    last = table.sort_values("n_samples").groupby(["law", "entry"]).tail(1)
    worst = last.groupby("entry")["error"].max().sort_values(kind="stable")
    targets = table.drop_duplicates("entry").set_index("entry")["target"]
    known = {target: kind for kind, names in KINDS.items() for target in names}
    places, headings, at = {}, {}, 0.0
    for kind in KINDS:
        mine = [entry for entry in worst.index if known.get(targets[entry], "other") == kind]
        if mine:
            headings[kind] = at
            places |= {entry: at + k for k, entry in enumerate(mine, start=1)}
            at += len(mine) + 1.4
    return places, headings


def _label(entry):
    """Return the estimator of an entry; the block's heading says what it estimates."""
    return entry.partition(" → ")[0]
