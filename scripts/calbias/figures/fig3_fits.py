"""Figure 3: fitted score densities and calibration curves, and ECE_bin, real and simulated (§6).

Colour is the group of models (data set), line style and marker the architecture, which is the
model's name up to its last underscore. What the paper printed is pale and wide beneath the fit.
The second row shows (a) and (b) where the scores are, near 1.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator
from scipy.special import betainc

from calbias.figures import densities, labels, panels, selection, style
from calbias.io.tables import is_true
from calbias.truth import curves

TITLE = "Fits to the ten models, and ECE_bin of real and simulated data"
TABLES = ("beta_fits", "glm_fits", "ece_bin_real_and_simulated", "models")
CLOSEST = 1e-8  # smallest 1 - c shown
PUBLISHED = {"linewidth": 2.8, "alpha": 0.2, "linestyle": "-"}


def looks(models):
    """Return {model: keywords of ``Axes.plot``}: colour by group, line by architecture."""
    groups = selection.in_order(models["group"])
    architectures = selection.in_order(models["model"].map(_architecture))
    made = {}
    for row in models.itertuples():
        place = architectures.index(_architecture(row.model))
        made[row.model] = {
            "color": style.group_colour(groups.index(row.group) if row.group in groups else -1),
            "linestyle": style.line_style(place),
            "marker": style.SIZE_MARKERS[place % len(style.SIZE_MARKERS)],
        }
    if len({(look["color"], look["linestyle"]) for look in made.values()}) < len(made):
        for place, look in enumerate(made.values()):
            look["color"] = style.group_colour(place)
            look["linestyle"] = style.line_style(place // len(style.GROUP_COLOURS))
            look["marker"] = style.SIZE_MARKERS[place % len(style.SIZE_MARKERS)]
    return made


@style.styled
def draw(tables):
    """Return the three panels of the paper, and below the first two how they look near 1."""
    models = selection.rows(tables, "models")
    look = looks(models)
    made = style.figure(style.PAGE, 4.7)
    grid = made.subplots(2, 3)
    fits = selection.rows(tables, "beta_fits")
    for row in fits[fits["model"].isin(look)].itertuples():
        line = _line(look[row.model])
        _scores(grid[:, 0], row.published_alpha, row.published_beta, line | PUBLISHED)
        _scores(grid[:, 0], row.alpha, row.beta, line)
    glm_fits = selection.rows(tables, "glm_fits")
    _curves(grid[:, 1], glm_fits[glm_fits["model"].isin(look)], look)
    pairs = selection.rows(tables, "ece_bin_real_and_simulated")
    _real_and_simulated(grid[0, 2], pairs[pairs["model"].isin(look)], look)
    _axes(grid)
    handles = [Line2D([], [], label=model, **line) for model, line in look.items()]
    handles.append(Line2D([], [], color="0.3", label="published", **PUBLISHED))
    if (pairs["source"] == "surrogate_logits").any():
        hollow = {"color": "0.3", "marker": "o", "markerfacecolor": "white", "linestyle": ""}
        handles.append(Line2D([], [], label="surrogate, not the real model", **hollow))
    grid[1, 2].set_axis_off()
    grid[1, 2].legend(handles=handles, loc="center", ncols=1 + len(handles) // 14, handlelength=4.5)
    panels.note(
        made,
        f"fits: {labels.source_label(fits['source'])}",
        f"ECE bin: {labels.source_label(pairs['source'])}, simulated from "
        + labels.source_label(pairs["simulated_source"].dropna()),
        "bars: ±2 Monte Carlo standard errors",
    )
    return made


def _architecture(model):
    return model.rpartition("_")[0] or model


def _line(look):
    return {key: look[key] for key in ("color", "linestyle")}


def _scores(pair, alpha, beta, line):
    """Draw the density against c, and below the share of scores closer to 1 than 1 - c."""
    log_score, log1m_score = densities.grid()
    score = curves.score(log_score, log1m_score)
    pair[0].plot(score, densities.beta_density(alpha, beta, log_score, log1m_score), **line)
    pair[1].plot(np.exp(log1m_score), betainc(beta, alpha, np.exp(log1m_score)), **line)


def _curves(pair, fits, look):
    """Draw T against c, and below 1 - T against 1 - c; the paper's pick has its lowest AIC."""
    log_score, log1m_score = densities.grid()
    score = curves.score(log_score, log1m_score)

    def plot(row, b0, b1, line):
        curve = curves.Curve.from_row({"glm": row.glm, "b0": b0, "b1": b1})
        pair[0].plot(score, curve.hit(log_score, log1m_score), **line)
        pair[1].plot(np.exp(log1m_score), np.exp(curve.log_not_hit(log_score, log1m_score)), **line)

    published = fits.dropna(subset="published_aic").sort_values("published_aic")
    for row in published.drop_duplicates("model").itertuples():
        plot(row, row.published_b0, row.published_b1, _line(look[row.model]) | PUBLISHED)
    for row in fits[is_true(fits["selected"])].itertuples():
        plot(row, row.b0, row.b1, _line(look[row.model]))


def _axes(grid):
    """Give the four panels of fits their axes and the line of perfect calibration."""
    (density, curve, _), (share, miss, _) = grid
    curve.plot([0, 1], [0, 1], **style.REFERENCE)
    miss.plot([CLOSEST, 1], [CLOSEST, 1], **style.REFERENCE)
    density.set(yscale="log", xlim=(0, 1), ylim=(1e-3, 1e2))
    density.set(xlabel=labels.SCORE, ylabel="density of scores", title="(a) Score distribution")
    curve.set(xlim=(0, 1), ylim=(0, 1), xlabel=labels.SCORE, ylabel=labels.HIT_RATE)
    curve.set_title("(b) Calibration curve")
    share.set(ylim=(0, 1), ylabel="share of scores nearer to 1", title="(a) near 1")
    miss.set(yscale="log", ylim=(1e-4, 1), ylabel="probability of a miss", title="(b) near 1")
    for axes in (share, miss):
        axes.set(xscale="log", xlim=(1, CLOSEST), xlabel="1 − c (log scale, reversed)")
        axes.xaxis.set_minor_locator(NullLocator())


def _real_and_simulated(axes, pairs, look):
    greatest = 0.0
    for row in pairs.itertuples():
        point = {key: look[row.model][key] for key in ("color", "marker")}
        published = (row.published_ece_bin_percent, row.published_simulated_percent)
        axes.plot(*published, alpha=0.35, markersize=6, linestyle="", **point)
        error = 2 * row.simulated_se_percent
        measured = (row.ece_bin_percent, row.mean_simulated_ece_bin_percent)
        if row.source == "surrogate_logits":
            point["markerfacecolor"] = "white"
        axes.errorbar(*measured, yerr=error if np.isfinite(error) else None, **point)
        greatest = np.nanmax([greatest, *published, *measured])
    greatest *= 1.08
    axes.plot([0, greatest], [0, greatest], **style.REFERENCE)
    axes.set(xlim=(0, greatest), ylim=(0, greatest), title="(c) ECE bin")
    surrogates = (pairs["source"] == "surrogate_logits").any()
    named = "original or surrogate" if surrogates else "original"
    axes.set(xlabel=f"{named} data (%)", ylabel="mean of simulated data (%)")
