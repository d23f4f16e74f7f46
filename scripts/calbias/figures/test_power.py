"""Power of the tests of calibration: who sees which miscalibration, and at what size."""

import numpy as np

from calbias.figures import panels, selection, style

TABLES = ("test_power",)
TITLE = "Size and power of tests of calibration"


@style.styled
def draw(tables):
    """Return a heat map for each sample size: tests by scenarios, rejections at the 5 % level."""
    table = selection.rows(tables, "test_power")
    sizes = sorted(table["n_samples"].unique())
    tests = list(dict.fromkeys(table["test"]))
    scenarios = list(dict.fromkeys(table["scenario"]))
    made = style.figure(style.PAGE, 2.2 + 0.15 * len(tests))
    row = np.atleast_1d(made.subplots(1, len(sizes), sharey=True))
    for axes, n in zip(row, sizes, strict=True):
        rows = table[table["n_samples"] == n]
        rates = rows.pivot(index="test", columns="scenario", values="rejection_rate")
        image = axes.imshow(
            100 * rates.loc[tests, scenarios].to_numpy(), vmin=0, vmax=100, cmap="viridis",
            aspect="auto",
        )  # fmt: skip
        axes.grid(visible=False)
        axes.set_xlabel("scenario")
        axes.set_title(f"n = {panels.short(n)}")
        axes.set_xticks(range(len(scenarios)), scenarios, rotation=90, fontsize=6)
    row[0].set_yticks(range(len(tests)), tests, fontsize=6)
    row[0].set_ylabel("test")
    made.colorbar(image, ax=list(row), label="rejected at the 5 % level (%)")
    panels.note(made, "calibrated scenarios show the size of the test, the others its power")
    return made
