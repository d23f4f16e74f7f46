"""R05: whether the data set matters more than the architecture (§6, Figure 3)."""

import numpy as np
from scipy.special import betainc

from calbias.claims.judgement import Judgement, NotJudged, Rule, verdict_of
from calbias.claims.similarity import groups_matter
from calbias.truth.curves import Curve

SIGNIFICANT = 0.05
_SCORES = (np.arange(1000) + 0.5) / 1000


def data_set_matters_more(evidence):
    """R05: distances between fitted score distributions, and between calibration curves."""
    groups = evidence.groups()
    table = evidence.table("scenarios")
    table = table[table["experiment"] == "realistic"].set_index("scenario")
    absent = [model for model in groups if model not in table.index]
    if absent:
        raise NotJudged(f"experiment realistic lacks the scenario of {', '.join(absent)}")
    rows, labels = [table.loc[model] for model in groups], list(groups.values())
    results = {
        name: groups_matter([values(row) for row in rows], labels, distance)
        for name, values in (("score distributions", distribution), ("curves", curve))
    }
    matters = [r.ratio < 1 and r.p_value < SIGNIFICANT for r in results.values()]
    return Judgement(
        verdict_of(all(matters), any(matters)),
        "mean distance within a data set / between data sets: "
        + ", ".join(f"{n} {r.ratio:.2f} (p = {r.p_value:.4f})" for n, r in results.items()),
        "p: exact, over all ways to group the ten models",
        evidence.source("realistic", list(groups)),
    )


def distribution(row):
    """Return the distribution function of a scenario's scores on a grid of (0, 1)."""
    return betainc(row["alpha"], row["beta"], _SCORES)


def curve(row):
    """Return a scenario's calibration curve on a grid of (0, 1)."""
    b0, b1 = (0.0 if np.isnan(row[b]) else row[b] for b in ("b0", "b1"))
    return Curve(row["curve"], b0, b1).hit(np.log(_SCORES), np.log1p(-_SCORES))


def distance(a, b):
    """Return the area between two functions on (0, 1)."""
    return float(np.mean(np.abs(a - b)))


RULES = {
    "R05": Rule(
        "Area between the fitted score distribution functions, and between the fitted calibration "
        "curves, of two models: mean over pairs within a data set divided by mean over pairs of "
        f"different data sets. Reproduced if both ratios are below 1 with p < {SIGNIFICANT:g} over "
        "all ways to group the ten models, approximate if one is. Judged on the fits that drive "
        "the simulation.",
        data_set_matters_more,
    ),
}
