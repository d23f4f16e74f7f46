"""The planner: how many labels reach each goal, by closed form and by simulation."""

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from calbias.auditing import planning
from calbias.auditing.cox import LEAST, logits_of
from calbias.errors import InputError

DETECT = (0.01, 0.02, 0.05)
_QUANTILES = 20_000
_REPLICATES = 1000  # the power's standard error is then at most 0.016
_STEPS, _CLOSE = 6, 0.015


def plan(scores=None, beta=None, detect=DETECT, power=0.8, slope_width=0.1, gap_width=0.01, seed=0):
    """Return how many labels a study needs, by closed form and by simulation.

    Parameters
    ----------
    scores : array_like, shape (n,), optional
        Scores like those of the study.
    beta : (float, float), optional
        In their place, the parameters of a Beta distribution of the scores.
    detect : sequence of float
        True ℓ1 errors to detect at the 5 % level, fractions, of a model whose accuracy c at a score
        s has logit c = b·logit s, b < 1.
    power : float
        The probability with which they are to be detected.
    slope_width, gap_width : float
        Half widths of the 95 % intervals of b, and of mean score less accuracy, a fraction.
    seed : int
        Of the simulations.

    Returns
    -------
    DataFrame
        A row for each goal: ``labels`` by closed form, ``simulated_power`` with that many and its
        standard error, ``labels_by_simulation``, and ``slope``, the b of the error to detect.

    Raises
    ------
    InputError
        Unless one of scores and beta is given, and for a power, width or error out of range.
    """
    if (scores is None) == (beta is None):
        raise InputError("give scores, or the two parameters of a Beta distribution")
    if not 0.05 < power < 1:
        raise InputError(f"power must be above 0.05 and below 1, not {power:g}")
    if not (slope_width > 0 and gap_width > 0) or any(not 0 < error < 1 for error in detect):
        raise InputError("widths must be above 0 and errors to detect between 0 and 100 points")
    slope = None
    if beta is not None:
        if not min(beta) > 0:
            raise InputError(f"the parameters of a Beta distribution are above 0, not {beta}")
        slope = planning.slope_labels_beta(*beta, slope_width)
        scores = betaincinv(*beta, (np.arange(_QUANTILES) + 0.5) / _QUANTILES)
        scores = np.clip(scores, LEAST, 1 - LEAST)
    scores = np.sort(np.asarray(scores, float))
    family = planning.overconfident(scores)
    curves = {error: planning.curve_with_error(family, scores, error) for error in detect}
    rows = goals(scores, curves, power, slope, slope_width, gap_width, seed, _REPLICATES)
    x = logits_of(scores)
    for row, rates in zip(rows, curves.values(), strict=False):
        if rates is not None:
            row["slope"] = float(logits_of(rates) @ x / (x @ x))
    columns = ["goal", "labels", "slope", "simulated_power", "simulated_power_se",
               "labels_by_simulation"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).set_index("goal")


def goals(
    scores, curves, power=0.8, slope=None, slope_width=0.1, gap_width=0.01, seed=0, replicates=400
):
    """Return a dict per goal; ``curves`` are {error to detect: rates (n,) or None}."""
    rows = []
    for error, rates in curves.items():
        row = {"goal": f"detect {points(error)}", "labels": np.inf}
        if rates is not None:  # else no curve of the family is that far off
            row["labels"] = np.ceil(planning.detection_labels(scores, rates, power))
            row["simulated_power"], row["simulated_power_se"] = planning.simulated_power(
                scores, rates, row["labels"], replicates, seed
            )
            row["labels_by_simulation"] = _corrected(scores, rates, row, power, replicates, seed)
        rows.append(row)
    slope = planning.slope_labels(scores, slope_width) if slope is None else slope
    gap = planning.mean_gap_labels(scores, gap_width)
    rows.append({"goal": f"slope to ± {slope_width:g}", "labels": np.ceil(slope - 1e-9)})
    rows.append({"goal": f"mean gap to ± {points(gap_width)}", "labels": np.ceil(gap)})
    return rows


def points(error):
    """Return a fraction as text, in percentage points."""
    return f"{100 * error:g} point{'' if error == 0.01 else 's'}"


def _corrected(scores, rates, row, power, replicates, seed):
    """Return how many labels have about the power wanted; χ² promises too much for few labels."""
    n, simulated = row["labels"], row["simulated_power"]
    for _ in range(_STEPS):
        if np.isnan(simulated) or abs(simulated - power) < _CLOSE:
            break
        reached = planning.needed_noncentrality(np.clip(simulated, 0.06, 0.99))
        n = max(np.ceil(n * planning.needed_noncentrality(power) / reached), 2)
        simulated = planning.simulated_power(scores, rates, n, replicates, seed)[0]
    return n if np.isfinite(simulated) else np.nan
