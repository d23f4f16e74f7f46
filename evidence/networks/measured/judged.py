"""The seven statements on the second judging set, judged by the rule that README.md has.

The rule landed before the networks were trained. Limits are of 95 % intervals over networks.
"""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd
from scipy import stats

from measured.comparisons import JUDGED

ENOUGH_OF_A_KIND = 5
NO_SHIFT = 0.05  # points: half of what the printed laws give
SATURATED = f"{JUDGED}, saturated"
Lookup = Callable[..., pd.Series]  # (what, set, law, estimator) -> a row of the summary


class Statement(NamedTuple):
    """A statement, whether it holds, is refuted or stays open, and what was measured."""

    text: str
    verdict: str
    measured: str


def upper(row: pd.Series) -> float:
    """Return the upper limit of a mean over networks."""
    return float(row.value + stats.t.ppf(0.975, row.n_networks - 1) * row.se)


def above(row: pd.Series) -> bool:
    """Return whether a mean is above 0 beyond chance."""
    return bool(row.value > 0 and row.p < 0.05)


def below(row: pd.Series) -> bool:
    """Return whether a mean is below 0 beyond chance."""
    return bool(row.value < 0 and row.p < 0.05)


def shown(row: pd.Series) -> str:
    """Return mean ± standard error, limit and number of networks."""
    text = f"{row.value:+.3f} ± {row.se:.3f} (upper limit {upper(row):+.3f}"
    return f"{text}, {row.n_above_0:.0f} of {row.n_networks:.0f} above 0)".replace("-", "−")


def _ruled(holds: bool, refuted: bool) -> str:
    return "holds" if holds else "refuted" if refuted else "open"


def statements(row_of: Lookup) -> list[Statement]:
    """Return the seven Statements, in the rule's order."""

    def of(what: str, group: str, law: str = "population") -> pd.Series:
        return row_of(what, group, law, "debias_em - sweep_em")

    order, order_saturated = of("difference", JUDGED), of("difference", SATURATED)
    shift, shift_saturated = of("excess", JUDGED, "beta_glm"), of("excess", SATURATED, "beta_glm")
    kinds = [of("excess", f"{SATURATED}, {kind}", "beta_glm") for kind in ("signals", "uncertain")]
    enough = all(row.n_networks >= ENOUGH_OF_A_KIND for row in kinds)
    both = enough and all(above(row) for row in kinds)
    one = enough and any(
        above(a) and upper(b) < NO_SHIFT for a, b in (kinds, list(reversed(kinds)))
    )
    low = of("excess", SATURATED, "beta_glm_true_low")
    most = low.value < shift_saturated.value / 2
    nearer = of("nearer than the fit", SATURATED, "scores_spline")
    return [
        Statement(
            "On A debias is less biased than the sweep",
            _ruled(below(order), above(order)),
            f"d = {shown(order)}",
        ),
        Statement(
            "On S the sweep is less biased, as in the paper",
            _ruled(above(order_saturated), upper(order_saturated) < NO_SHIFT),
            f"d = {shown(order_saturated)}",
        ),
        Statement(
            "On S the fit moves the comparison to the sweep",
            _ruled(above(shift_saturated), upper(shift_saturated) < NO_SHIFT),
            f"x = {shown(shift_saturated)}",
        ),
        Statement(
            "On A the fit does so",
            _ruled(above(shift), upper(shift) < NO_SHIFT),
            f"x = {shown(shift)}",
        ),
        Statement(
            "Saturation makes the shift, not the kind of task",
            _ruled(both, one),
            "; ".join(
                f"{kind}: {shown(row)}"
                for kind, row in zip(("signals", "uncertain labels"), kinds, strict=True)
            ),
        ),
        Statement(
            "The lowest fifteenth makes the shift",
            _ruled(most, not most),
            f"with the true gap there x = {shown(low)}",
        ),
        Statement(
            "Own scores with a spline stay nearer to the network than the fit",
            _ruled(above(nearer), below(nearer)),
            f"absolute x of the fit less that of the spline: {shown(nearer)}",
        ),
    ]
