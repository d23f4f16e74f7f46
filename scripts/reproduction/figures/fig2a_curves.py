"""Figure 2a: what decides the true calibration error, the score density and the curve (§3)."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.special import betaln

from calbias.truth import curves
from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables

TITLE = "What decides the true calibration error: score density and calibration curve"
TABLES = ("scenarios", "true_calibration_error")
EXPERIMENTS = ("bins_by_n",)


def draw(tables: Tables) -> Figure:
    """Return the score densities of ``bins_by_n`` above the calibration curve that they share."""
    scenarios = selection.rows(tables, "scenarios", experiment="bins_by_n")
    tces = tables["true_calibration_error"].dropna(subset="tce_percent")
    figure = style.figure(style.COLUMN, 3.3)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.5])
    log_score, log1m_score = logit_grid()
    score = curves.score(log_score, log1m_score)
    for index, row in enumerate(scenarios.itertuples()):
        line: dict[str, Any] = {
            "color": style.group_colour(index),
            "linestyle": style.line_style(index),
        }
        density = beta_density(row.alpha, row.beta, log_score, log1m_score)
        is_of_curve = (tces["scenario"] == row.scenario) & (tces["curve"] == row.curve)
        label = labels.distribution_label(row.alpha, row.beta)
        for tce in tces[is_of_curve & (tces["norm"] == 2)]["tce_percent"].head(1):
            label += f", TCE {tce:.2f} %"
        upper.plot(score, density, label=label, **line)
    for index, row in enumerate(scenarios.drop_duplicates(["curve", "b0", "b1"]).itertuples()):
        hit = curves.Curve.from_row(row._asdict()).hit(log_score, log1m_score)
        look = {"color": "0.2", "linestyle": style.line_style(index)}
        lower.plot(score, hit, label=labels.curve_label(row.curve, row.b1), **look)
        lower.fill_between(score, score, hit, color="0.2", alpha=0.1, linewidth=0)
    lower.plot([0, 1], [0, 1], label="perfect calibration, $T(c) = c$", **style.REFERENCE)
    upper.set(yscale="log", ylim=(1e-3, 1e2), ylabel="density of scores")
    lower.set(xlim=(0, 1), ylim=(0, 1), xlabel=labels.SCORE, ylabel=labels.HIT_RATE)
    upper.legend(loc="upper left")
    lower.legend(loc="upper left")
    panels.note(figure, "formulae, no simulation")
    return figure


def logit_grid(points: int = 801, reach: float = 20.0) -> tuple[np.ndarray, np.ndarray]:
    """Return (log c, log(1 - c)) on a grid even in logit c from -reach to reach."""
    logit = np.linspace(-reach, reach, points)
    return -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)


def beta_density(
    alpha: float, beta: float, log_score: np.ndarray, log1m_score: np.ndarray
) -> np.ndarray:
    """Return the density of Beta(alpha, beta) per unit of score, from log c and log(1 - c)."""
    return np.exp((alpha - 1) * log_score + (beta - 1) * log1m_score - betaln(alpha, beta))
