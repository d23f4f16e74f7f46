"""Figure 13: mean estimate against TCE by sample size and score distribution (appendix C)."""

from typing import Any

from matplotlib.figure import Figure

from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables
from pipeline.paper import AMBIGUOUS_PERCENT, AMBIGUOUS_TCE_PERCENT, OFF_PERCENT

TITLE = "Mean estimate by true calibration error"
TABLES = ("bias", "scenarios")
EXPERIMENTS = ("tce_sweep",)
GREATEST_PERCENT = 20.0  # TCE: beyond it the curves are straight
AMBIGUOUS = [(tce, AMBIGUOUS_PERCENT) for tce in sorted(AMBIGUOUS_TCE_PERCENT)]
PUBLISHED_POINTS = {"ece_bin_ew": ((0.0, OFF_PERCENT), *AMBIGUOUS)}  # (TCE, estimate) in percent


def draw(tables: Tables) -> Figure:
    """Return two panels per estimator: mean estimate against TCE, and its bias magnified below."""
    bias = selection.rows(tables, "bias", experiment="tce_sweep")
    bias = selection.with_scenario(tables, bias).sort_values("tce_percent")
    parameters = bias[["alpha", "beta"]].to_numpy()
    bias = bias.assign(scores=[labels.distribution_label(*pair) for pair in parameters])
    scores = selection.in_order(bias.sort_values(["alpha", "beta"])["scores"])
    estimators = style.estimator_order(bias["estimator"])

    def look(n: int, name: str) -> dict[str, Any]:
        colour = style.sample_size_style(n)["color"]
        return {"color": colour, "linestyle": style.line_style(scores.index(name))}

    width = style.PAGE if len(estimators) > 1 else style.COLUMN
    figure = style.figure(width, 4.2)
    grid = figure.subplots(
        2, len(estimators), sharex=True, sharey="row", squeeze=False, height_ratios=[1.5, 1]
    )
    greatest = bias["tce_percent"].max()
    if (bias["tce_percent"] <= GREATEST_PERCENT).any():
        greatest = min(greatest, GREATEST_PERCENT)
    shown = bias[bias["tce_percent"] <= greatest]
    for upper, lower, estimator in zip(*grid, estimators, strict=True):
        upper.plot([0, greatest], [0, greatest], **style.REFERENCE)
        lower.axhline(0, **style.REFERENCE)
        rows = bias[bias["estimator"] == estimator]
        for key, line in rows.groupby(["n_samples", "scores"], sort=False):
            for axes, column in ((upper, "mean_estimate_percent"), (lower, "bias_percent")):
                columns = line["tce_percent"], line[column], line["bias_se_percent"]
                panels.line_with_band(axes, *columns, **look(*key))
        for point in PUBLISHED_POINTS.get(estimator, ()):
            upper.plot(*point, **style.PUBLISHED_POINT)
        upper.set(title=labels.estimator_label(estimator), xlim=(0, greatest))
        upper.set_ylim(0, 1.04 * shown["mean_estimate_percent"].max())
        lower.set_xlabel(labels.TCE)
    grid[0, 0].set_ylabel(labels.MEAN_ESTIMATE)
    grid[1, 0].set_ylabel(labels.BIAS)
    handles = [
        panels.handle(f"n = {panels.short(n)}, {name}", **look(n, name))
        for n in sorted(set(bias["n_samples"]))
        for name in scores
    ]
    handles.append(panels.handle("no bias", **style.REFERENCE))
    if set(estimators) & set(PUBLISHED_POINTS):
        handles.append(panels.handle("paper's text", **style.PUBLISHED_POINT))
    panels.legend_below(figure, handles, 3 if len(estimators) > 1 else 2)
    replicates = panels.data_sets(bias["n_replicates"])
    most = f"table bias goes on to a TCE of {bias['tce_percent'].max():.0f} %"
    cut = [most] if greatest < bias["tce_percent"].max() else []
    panels.note(
        figure, "T(c) = c to a power", *cut, replicates, panels.band(bias["bias_se_percent"])
    )
    return figure
