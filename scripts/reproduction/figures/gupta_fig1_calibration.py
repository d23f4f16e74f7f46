"""The four calibration graphs of Gupta et al. (2021), Figures 1 and 2, before and after.

Cumulative scores and hits; their difference, whose greatest size is the KS error; score and
probability of a hit (a spline fitted to the rows shown); that probability by score.
"""

from pipeline.figures import labels, panels, selection, style

TABLES = ("calibration_graphs", "measures")
TITLE = "Calibration graphs before and after the spline"
METHODS = ("uncalibrated", "spline", "spline_on_half")
COLUMNS = ("Cumulative sums", "Their difference", "By rank of the score", "By score")
PAPERS_MODEL = "densenet40_c10"
NULL_95 = 2.2414  # 95 % quantile of the greatest deviation of a Brownian motion on [0, 1]
_SCORE = {"color": style.ORANGE, "linestyle": (0, (4, 2)), "label": "score"}
_HIT = {"color": style.BLUE, "linestyle": "-", "label": "hits, or the probability of a hit"}


def draw(tables):
    """Return a row of panels for the model as it is, and one after the spline."""
    table, model, methods = _shown(tables)
    figure = style.figure(style.PAGE, 1.0 + 1.95 * len(methods))
    axes = figure.subplots(len(methods), 4, squeeze=False)
    ks = tables["measures"].set_index(["model", "method", "measure"])["value_percent"]
    for row, method in zip(axes, methods, strict=True):
        _graphs(row, table[table["method"] == method])
        error = ks.get((model, method, "ks_top1"), float("nan"))
        words = f"KS error {error:.2f} %" if error == error else "KS error not known"
        look = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1}
        row[1].text(0.97, 0.97, words, transform=row[1].transAxes, ha="right", va="top", bbox=look)
        row[1].margins(y=0.16)
        row[0].annotate(labels.method_label(method), (0, 0.5), (-33, 0), rotation=90, va="center",
                        xycoords="axes fraction", textcoords="offset points", weight="bold",
                        fontsize=8, ha="right")  # fmt: skip
    for panel, title in zip(axes[0], COLUMNS, strict=True):
        panel.set_title(title)
    handles = [axes[0, 1].collections[0], *axes[0, 0].get_lines()]
    panels.legend_below(figure, handles, 3)
    panels.note(figure, model, labels.source_label(table["source"]))
    return figure


def _shown(tables):
    """Return the points of the model that is shown, its name, and its methods."""
    table = selection.rows(tables, "calibration_graphs")
    model = selection.preferred(table, PAPERS_MODEL)
    table = table[table["model"] == model]
    return table, model, [name for name in METHODS if name in set(table["method"])][:2]


def _graphs(axes, points):
    percentile, score = 100 * points["fractile"], points["score"]
    summed, hits = points["cumulative_score"], points["cumulative_hit"]
    axes[0].plot(percentile, summed, **_SCORE)
    axes[0].plot(percentile, hits, **_HIT)
    axes[0].set_ylabel("cumulative")
    margin = 100 * NULL_95 * points["null_sd"]
    axes[1].fill_between(percentile, -margin, margin, color="0.85", linewidth=0,
                         label="95 % of calibrated models are inside")  # fmt: skip
    axes[1].plot(percentile, 100 * (hits - summed), **_HIT)
    axes[1].axhline(0, **style.REFERENCE)
    axes[1].set_ylabel("hits − scores (%)")
    for panel, x in ((axes[2], percentile), (axes[3], score)):
        panel.plot(x, score, **_SCORE)
        panel.plot(x, points["hit_probability"], **_HIT)
        panel.set(ylabel="score, probability", ylim=(None, 1.02))
    for panel, label in zip(axes, ["percentile of the scores"] * 3 + [labels.SCORE], strict=True):
        panel.set_xlabel(label)
