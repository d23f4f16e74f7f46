"""The pictures of an audit: reliability diagram, histogram of scores, cumulative differences."""

import io

import numpy as np

from calbias.auditing.reliability import diagram_of

_POINTS = 1000
_NO_PICTURE = '<p>No picture without matplotlib: <code>pip install "calbias[plot]"</code>.</p>'
_BLUE, _ORANGE, _GREY = "#0a5c7d", "#b3541e", "#9aa3ad"


def figure(sample, n_bins=15):
    """Return a matplotlib Figure with the three panels of a Sample."""
    from matplotlib.figure import Figure

    panel = Figure(figsize=(9.5, 4.6), layout="constrained")
    grid = panel.add_gridspec(2, 2, height_ratios=(3, 1))
    reliability = panel.add_subplot(grid[0, 0])
    _draw_reliability(reliability, diagram_of(sample, n_bins))
    _draw_histogram(panel.add_subplot(grid[1, 0], sharex=reliability), sample)
    _draw_cumulative(panel.add_subplot(grid[:, 1]), sample)
    return panel


def figures_svg(sample, diagram):
    """Return the SVG of a ReliabilityDiagram with the scores, and of the cumulative plot, texts."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return _NO_PICTURE, _NO_PICTURE

    left = Figure(figsize=(5.2, 5.2), layout="constrained")
    grid = left.add_gridspec(2, 1, height_ratios=(3, 1))
    top = left.add_subplot(grid[0])
    _draw_reliability(top, diagram)
    _draw_histogram(left.add_subplot(grid[1], sharex=top), sample)
    right = Figure(figsize=(5.2, 4.0), layout="constrained")
    _draw_cumulative(right.add_subplot(), sample)
    return _svg(left, "reliability"), _svg(right, "cumulative")


def _draw_reliability(axes, diagram):
    x, rate, low, high = diagram[3:]
    axes.plot([0, 1], [0, 1], color=_GREY, linewidth=1, label="calibrated")
    axes.vlines(x, low, high, color=_GREY, linewidth=7, alpha=0.45, label="95 % if calibrated")
    outside = (rate < low) | (rate > high)
    axes.plot(x, rate, "o-", color=_BLUE, markersize=4, linewidth=1, label="this model")
    axes.plot(x[outside], rate[outside], "D", color=_ORANGE, label="outside the band")
    axes.set(xlim=(0, 1), ylim=(0, 1), ylabel="hit rate", xlabel="mean score of the bin")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2, frameon=False,
                fontsize="small")  # fmt: skip


def _draw_histogram(axes, sample):
    axes.hist(sample.scores, bins=np.linspace(0, 1, 31), color=_BLUE)
    axes.axvline(sample.scores.mean(), color=_ORANGE, linewidth=1.2, label="mean score")
    axes.axvline(sample.hits.mean(), color="black", linewidth=1.2, linestyle="--", label="accuracy")
    axes.set(xlabel="score", ylabel="rows")
    axes.legend(loc="upper left", frameon=False, fontsize="small")


def _draw_cumulative(axes, sample):
    n = sample.n
    ends = np.flatnonzero(np.append(sample.scores[1:] != sample.scores[:-1], True)) + 1
    difference = sample.data.cum_gap[0][ends] / n
    spread = np.sqrt(np.cumsum(sample.scores * (1 - sample.scores)))[ends - 1] / n
    kept = np.unique(np.linspace(0, ends.size - 1, min(ends.size, _POINTS)).astype(int))
    peak = int(np.argmax(np.abs(difference)))
    kept = np.unique(np.append(kept, peak))
    x = np.append(0, ends[kept] / n)
    for sign in (-1, 1):
        axes.plot(x, np.append(0, sign * 196 * spread[kept]), color=_GREY, linewidth=1,
                  label="95 % at one place, if calibrated" if sign > 0 else None)  # fmt: skip
    axes.axhline(0, color=_GREY, linewidth=0.8)
    axes.plot(x, np.append(0, 100 * difference[kept]), color=_BLUE, linewidth=1.4,
              label="this model")  # fmt: skip
    axes.plot(ends[peak] / n, 100 * difference[peak], "D", color=_ORANGE,
              label=f"KS {100 * abs(difference[peak]):.2f} points")  # fmt: skip
    axes.set(xlim=(0, 1), xlabel="share of rows, from the lowest score up",
             ylabel="cumulative score − hits, points")  # fmt: skip
    axes.legend(frameon=False, fontsize="small")


def _svg(panel, name):
    """Return the <svg> element of a Figure; ids are the same in every run and differ by name."""
    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        panel.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :].replace('id="', f'id="{name}-')
    text = text.replace("url(#", f"url(#{name}-").replace('xlink:href="#', f'xlink:href="#{name}-')
    return text.replace("<svg", f'<svg role="img" aria-labelledby="{name}-caption"', 1)
