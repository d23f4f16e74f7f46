"""What the published Table 3 itself says: its winners, and contradictions among its AICs."""

import numpy as np

from calbias.truth.curves import LINKS_AND_TRANSFORMS
from calbias.truth.published_fits import printed_fits

NESTED_SLACK = 2.0  # a superset has one more parameter: AIC + 2 at most, if both are optima


def published_winners(evidence):
    """Return {model: GLM with the lowest published AIC}."""
    tables = ("roelofs2022_table2_beta_fits", "roelofs2022_table3_glm_fits")
    fits = printed_fits(*(evidence.published[name] for name in tables))
    return {model: fit.scenario().curve.name for model, fit in fits.items()}


def aic_contradictions(evidence):
    """Return, as text, where the published AICs cannot all be optima of one data set.

    A model with one term more can have an AIC larger by 2 at most; the four intercept-only models
    are one model.
    """
    table = evidence.published["roelofs2022_table3_glm_fits"]
    aic = table.pivot(index="model", columns="glm", values="aic")
    nested = [
        aic[f"{g}_{t}_b0_b1"] - aic[f"{g}_{t}_{terms}"]
        for g, t in LINKS_AND_TRANSFORMS
        for terms in ("b0", "b1")
    ]
    excess = np.concatenate(nested)
    broken = excess > NESTED_SLACK
    constants = aic[[f"{g}_{t}_b0" for g, t in LINKS_AND_TRANSFORMS]]
    spread = constants.max(axis=1) - constants.min(axis=1)
    words = []
    if broken.any():
        words.append(
            f"{broken.sum()} of {excess.size} times a nested model has the lower AIC by more than "
            f"{NESTED_SLACK:g} (up to {excess.max():.1f})"
        )
    if spread.max() > 0.01:
        words.append(
            f"the four intercept-only rows, one model, differ by {spread.min():.0f} to "
            f"{spread.max():.0f}"
        )
    if not words:
        return ""
    return (
        "the published AICs cannot be optima on one data set: "
        + "; ".join(words)
        + " (they are means over resamples drawn separately per model)"
    )
