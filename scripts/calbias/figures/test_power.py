"""Power of the tests of calibration: who sees which miscalibration, and at what size."""

import numpy as np

from calbias.figures import panels, selection, style

TABLES = ("test_power",)
TITLE = "Size and power of tests of calibration"


@style.styled
def draw(tables):
    """Return a heat map for each sample size: tests by scenarios, rejections at the 5 % level.

    Tests with the greatest mean power over all sizes stand on top; calibrated scenarios come first.
    """
    table = selection.rows(tables, "test_power")
    sizes = sorted(table["n_samples"].unique())
    is_null = table["scenario"].str.endswith("_calibrated")
    common = table[table["n_samples"] < sizes[-1]] if len(sizes) > 1 else table
    power = common[~is_null[common.index]].groupby("test")["rejection_rate"].mean()
    tests = list(power.sort_values(ascending=False, kind="stable").index)
    laws = table["scenario"].str.partition("_")[0]
    order = table.assign(law=laws, wrong=~is_null).drop_duplicates("scenario")
    order = order.sort_values("wrong", kind="stable")
    scenarios, ends = list(order["scenario"]), np.count_nonzero(~order["wrong"])
    made = style.figure(style.PAGE, 2.2 + 0.15 * len(tests))
    row = np.atleast_1d(made.subplots(1, len(sizes), sharey=True))
    for axes, n in zip(row, sizes, strict=True):
        rows = table[table["n_samples"] == n]
        rates = rows.pivot(index="test", columns="scenario", values="rejection_rate")
        rates = rates.reindex(index=tests, columns=scenarios)
        image = axes.imshow(
            100 * rates.to_numpy(), vmin=0, vmax=100, cmap="viridis", aspect="auto",
        )  # fmt: skip
        axes.set_facecolor("0.88")
        axes.axvline(ends - 0.5, color="white", linewidth=1.5)
        axes.grid(visible=False)
        axes.set_xlabel("scenario")
        axes.set_title(f"n = {panels.short(n)}")
        axes.set_xticks(range(len(scenarios)), scenarios, rotation=90, fontsize=6)
    row[0].set_yticks(range(len(tests)), tests, fontsize=6)
    row[0].set_ylabel("test")
    made.colorbar(image, ax=list(row), label="rejected at the 5 % level (%)")
    panels.note(
        made,
        "left of the white line the size of the tests, right of it their power",
        "tests sorted by power; grey: not run",
    )
    return made
