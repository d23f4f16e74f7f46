"""Figure 1: a perfectly calibrated model, one sample's reliability diagram and ECE_bin's spread."""

import numpy as np

from calbias.figures import labels, panels, selection, style

TITLE = "A perfectly calibrated model: one data set in bins, and its ECE_bin over many"
TABLES = ("reliability_diagram", "estimate_histogram")


@style.styled
def draw(tables):
    """Return the reliability diagram of one sample next to the histogram of the estimates."""
    made = style.figure(style.COLUMN, 2.1)
    left, right = made.subplots(1, 2)
    bins = selection.rows(tables, "reliability_diagram", experiment="intro")
    _reliability(left, bins)
    histogram = selection.rows(tables, "estimate_histogram", experiment="intro")
    _histogram(right, histogram)
    panels.note(
        made,
        f"n = {labels.span(histogram['n_samples'])}",
        f"right: {labels.span(histogram['n_replicates'])} data sets",
        "grey bars: ±2 standard errors if calibrated",
    )
    return made


def _reliability(axes, bins):
    """Draw the hits of each bin, and where 95 % of them would be if the model is calibrated."""
    bins = bins[bins["n_in_bin"] > 0]
    colour = style.FAMILIES["ece_bin"][0]
    width = bins["high"] - bins["low"]
    axes.bar(
        bins["low"], bins["mean_hit"], width, align="edge", color=colour, alpha=0.35,
        edgecolor=colour, linewidth=0.5,
    )  # fmt: skip
    score = bins["mean_score"]
    error = 2 * np.sqrt(score * (1 - score) / bins["n_in_bin"])
    low, high = (score - error).clip(0, 1), (score + error).clip(0, 1)
    axes.vlines(score, low, high, color="0.5", linewidth=0.7)
    axes.plot(score, bins["mean_hit"], "o", color=colour, markersize=2.4, clip_on=False)
    axes.plot([0, 1], [0, 1], **style.REFERENCE)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=labels.SCORE, ylabel="share of hits in bin")
    axes.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes.set_title("One data set")


def _histogram(axes, histogram):
    for estimator in style.estimator_order(histogram["estimator"]):
        one = histogram[histogram["estimator"] == estimator].sort_values("low_percent")
        colour = style.estimator_style(estimator)["color"]
        share = 100 * one["count"] / one["count"].sum()
        edges = [*one["low_percent"], one["high_percent"].iloc[-1]]
        axes.stairs(share, edges, fill=True, color=colour, alpha=0.35)
        axes.stairs(share, edges, color=colour, linewidth=0.8)
        mean = one["mean_estimate_percent"].iloc[0]
        axes.axvline(mean, color=colour, linewidth=0.9)
        axes.annotate(
            f"mean {mean:.2f} %", (mean, 1.0), xycoords=("data", "axes fraction"),
            xytext=(3, -2), textcoords="offset points", va="top", color=colour, fontsize=6.5,
        )  # fmt: skip
    axes.axvline(0.0, **style.REFERENCE)
    axes.annotate("TCE", (0.0, 0.6), xycoords=("data", "axes fraction"), rotation=90,
                  xytext=(2, 0), textcoords="offset points", fontsize=6.5)  # fmt: skip
    axes.set(xlabel="estimate (%)", ylabel="share of data sets (%)", ylim=(0, None))
    names = style.estimator_order(histogram["estimator"])
    axes.set_title(labels.estimator_label(names[0]) if len(names) == 1 else "estimates")
