"""The planner: how many labels reach each goal, by closed form and by simulation."""

import numpy as np
import pandas as pd
from scipy.stats import beta as beta_law

from calbias.auditing import planning
from calbias.auditing.cox import LEAST
from calbias.errors import InputError

_QUANTILES = 20_000
_REPLICATES = 1000  # the power's standard error is then at most 0.016
_STEPS, _CLOSE = 6, 0.015


def plan(
    scores=None,
    beta=None,
    detect=(0.01, 0.02, 0.05),
    power=0.8,
    slope_width=0.1,
    gap_width=0.01,
    seed=0,
):
    """Return a table of goals with the labels that they need.

    Parameters
    ----------
    scores : array_like (n,), optional
        Scores such as the study's will be; no hits are needed.
    beta : (float, float), optional
        Parameters of a Beta distribution of the scores, instead.
    detect : sequence of float
        True ℓ1 errors, fractions, of an overconfident model (logit c = b·logit s, b < 1) that the
        Cox score test at 5 % is to find with probability ``power``.
    slope_width, gap_width : float
        Half widths of the 95 % intervals of the slope b and of mean score less accuracy.

    Returns
    -------
    DataFrame
        Indexed by ``goal``: labels by the closed form, slope (of the curve to detect),
        simulated_power there and its standard error, labels_by_simulation: how many reach the
        power in simulations.

    Examples
    --------
    >>> int(plan(beta=(0.5, 0.5), detect=()).loc["slope to ± 0.1", "labels"])
    1644
    """
    if (scores is None) == (beta is None):
        raise InputError("give scores, or the two parameters of a Beta distribution")
    if not 0.05 < power < 1:
        raise InputError(f"power must be above 0.05 and below 1, not {power:g}")
    if not (slope_width > 0 and gap_width > 0) or any(not 0 < error < 1 for error in detect):
        raise InputError("widths must be above 0 and errors to detect between 0 and 100 points")
    if beta is not None:
        if not min(beta) > 0:
            raise InputError(f"the parameters of a Beta distribution are above 0, not {beta}")
        slope = planning.slope_labels_beta(*beta, slope_width)
        scores = beta_law.ppf((np.arange(_QUANTILES) + 0.5) / _QUANTILES, *beta)
        scores = np.clip(scores, LEAST, 1 - LEAST)
    else:
        scores = np.sort(np.asarray(scores, float))
        slope = planning.slope_labels(scores, slope_width)
    rows = [_detection(scores, error, power, seed) for error in detect]
    rows.append({"goal": f"slope to ± {slope_width:g}", "labels": np.ceil(slope - 1e-9)})
    gap = planning.mean_gap_labels(scores, gap_width)
    rows.append({"goal": f"mean gap to ± {100 * gap_width:g} points", "labels": np.ceil(gap)})
    columns = ["goal", "labels", "slope", "simulated_power", "simulated_power_se",
               "labels_by_simulation"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).set_index("goal")


def _detection(scores, error, power, seed):
    goal = f"detect {100 * error:g} points"
    rates = planning.rates_with_error(
        lambda lam: planning.tilted(scores, 1 / (1 + lam)), scores, error
    )
    if rates is None:  # such scores cannot be that far off by a tilt
        return {"goal": goal, "labels": np.inf}
    x = planning.logits_of(scores)
    slope = float(planning.logits_of(rates) @ x / (x @ x))
    n = np.ceil(planning.detection_labels(scores, rates, power))
    simulated, error_of_it = planning.simulated_power(scores, rates, n, _REPLICATES, seed)
    return {
        "goal": goal,
        "labels": n,
        "slope": slope,
        "simulated_power": simulated,
        "simulated_power_se": error_of_it,
        "labels_by_simulation": _corrected(scores, rates, n, simulated, power, seed),
    }


def _corrected(scores, rates, n, simulated, power, seed):
    """Return the number of labels at which the simulated power is the one wanted, about.

    The closed form takes the variance of calibrated hits and a χ² law: with few labels, or far from
    calibration, it promises too much.
    """
    for _ in range(_STEPS):
        if np.isnan(simulated) or abs(simulated - power) < _CLOSE:
            break
        reached = planning.needed_noncentrality(np.clip(simulated, 0.06, 0.99))
        n = max(np.ceil(n * planning.needed_noncentrality(power) / reached), 2)
        simulated = planning.simulated_power(scores, rates, n, _REPLICATES, seed)[0]
    return n if np.isfinite(simulated) else np.nan
