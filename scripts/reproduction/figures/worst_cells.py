"""An estimator's worst cells: the scenario above, the estimates of all estimators below."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from calbias.truth.curves import Curve, score
from pipeline.figures import labels, panels, style
from reproduction.figures.fig2a_curves import beta_density, logit_grid


def draw(cells: Sequence[pd.DataFrame], protagonists: Sequence[str]) -> Figure:
    """Return the figure of some cells: rows of table ``bias``, joined to those of ``scenarios``.

    Each DataFrame has the rows of all estimators in one cell.
    """
    names = style.estimator_order({name for cell in cells for name in cell["estimator"]})
    names.sort(key=lambda name: name not in protagonists)
    figure = style.figure(style.PAGE, 2.4 + 0.19 * len(names))
    grid = figure.subplots(
        2, len(cells), squeeze=False, height_ratios=[1, 0.25 + 0.115 * len(names)]
    )
    logs = logit_grid()
    for (upper, lower), cell in zip(grid.T, cells, strict=True):
        row = cell.iloc[0]
        c, hit = score(*logs), Curve.from_row(row).hit(*logs)
        density = beta_density(row["alpha"], row["beta"], *logs)
        upper.fill_between(c, 0, density / (density + 2.0), color="0.85", linewidth=0)
        upper.plot(c, hit, color="0.2")
        upper.plot([0, 1], [0, 1], **style.REFERENCE)
        upper.set(xlim=(0, 1), ylim=(0, 1), xlabel=labels.SCORE)
        upper.set_title(f"{row['scenario']}\n{row['experiment']}, n = {row['n_samples']}")
        lower.axvline(row["tce_percent"], **style.REFERENCE)
        for position, name in enumerate(reversed(names)):
            for estimates in cell[cell["estimator"] == name].head(1).to_dict("records"):
                look = style.estimator_style(name, protagonists) | {"linestyle": ""}
                lower.errorbar(
                    estimates["mean_estimate_percent"],
                    position,
                    xerr=estimates["sd_percent"],
                    **look,
                )
        lower.set_yticks(range(len(names)), [])
        lower.set_xlabel("estimate (%)")
    grid[0, 0].set_ylabel(labels.HIT_RATE)
    grid[1, 0].set_yticklabels([labels.estimator_label(name) for name in reversed(names)])
    panels.note(
        figure,
        "above: calibration curve, with the density of the scores in grey",
        "below: mean estimate ± one standard deviation; dotted: the true error",
    )
    return figure
