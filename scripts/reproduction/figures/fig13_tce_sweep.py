"""Figure 13: mean estimate against TCE by sample size and score distribution (appendix C)."""

from typing import Any

from matplotlib.figure import Figure

from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables
from pipeline.paper import AMBIGUOUS_PERCENT, AMBIGUOUS_TCE_PERCENT, OFF_PERCENT

TITLE = "Mean estimate by true calibration error"
TABLES = ("bias", "scenarios")
EXPERIMENTS = ("tce_sweep",)
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

    figure = style.figure(style.COLUMN, 0.9 + 3.0 * len(estimators))
    heights = [1.5, 1] * len(estimators)
    stack = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    greatest = bias["tce_percent"].max()
    for upper, lower, estimator in zip(stack[::2], stack[1::2], estimators, strict=True):
        if upper is not stack[0]:
            upper.sharey(stack[0])
            lower.sharey(stack[1])
        upper.plot([0, greatest], [0, greatest], **style.REFERENCE)
        lower.axhline(0, **style.REFERENCE)
        of_estimator = bias[bias["estimator"] == estimator]
        for key, line in of_estimator.groupby(["n_samples", "scores"], sort=False):
            for axes, column in ((upper, "mean_estimate_percent"), (lower, "bias_percent")):
                columns = line["tce_percent"], line[column], line["bias_se_percent"]
                panels.line_with_band(axes, *columns, **look(*key))
        for point in PUBLISHED_POINTS.get(estimator, ()):
            upper.plot(*point, **style.PUBLISHED_POINT)
        upper.set(title=labels.estimator_label(estimator), ylabel=labels.MEAN_ESTIMATE)
        upper.set(xlim=(0, greatest), ylim=(0, None))
        lower.set_ylabel(labels.BIAS)
    stack[-1].set_xlabel(labels.TCE)
    handles = [
        panels.handle(f"n = {panels.short(n)}, {name}", **look(n, name))
        for n in sorted(set(bias["n_samples"]))
        for name in scores
    ]
    handles.append(panels.handle("no bias", **style.REFERENCE))
    if set(estimators) & set(PUBLISHED_POINTS):
        handles.append(panels.handle("paper's text", **style.PUBLISHED_POINT))
    panels.legend_below(figure, handles, 2)
    replicates = panels.data_sets(bias["n_replicates"])
    panels.note(figure, "T(c) = c to a power", replicates, panels.band(bias["bias_se_percent"]))
    return figure
