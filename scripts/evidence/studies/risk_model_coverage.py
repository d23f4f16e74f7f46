"""Coverage of the intervals of ``calbias.auditing.risk_model``, over laws of risks and curves.

A cell is a law of the risks, a calibration curve and n. The truth of each number is the number of
the law and the curve, over 200 001 quantiles. Cells have at least 20 events in expectation.
"""

from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import betaincinv, expit

from calbias.auditing.cox import logits_of
from calbias.auditing.risk_model import risk_summary
from calbias.conventions import CONFIDENCE_LEVEL
from calbias.engine.logistic_line import fit_line
from calbias.engine.seeding import stream
from evidence.scenarios.sets import RARE, UNIFORM, line

LAWS = {"rare": RARE, "moderate": (2.0, 5.0), "uniform": UNIFORM}
CURVES = {
    "calibrated": lambda s: s,
    "slope 0.75, shift -0.6": line(-0.6, 0.75),
    "slope 1.3": line(0.0, 1.3),
    "wave": lambda s: s + 0.4 * s * (1 - s) * np.sin(4 * np.pi * s),
}
_QUANTILES = 200_001
_FEWEST_EVENTS = 20


def truths(law, curve):
    """Return {name: value} of a law (a, b) of risks and a curve."""
    s = betaincinv(*law, (np.arange(_QUANTILES) + 0.5) / _QUANTILES)
    c = curve(s)
    x, gaps, rate = logits_of(s), np.abs(c - s), c.mean()
    intercept, slope = fit_line(x, c, 0.0)
    below = (np.cumsum(1 - c) - (1 - c) / 2) / (1 - c).sum()  # share of non-events below a risk
    return {
        "prevalence": rate,
        "mean risk": s.mean(),
        "observed/expected": rate / s.mean(),
        "intercept, slope fixed at 1": brentq(lambda a: expit(a + x).mean() - rate, -20, 20),
        "slope": slope,
        "intercept with the slope": intercept,
        "ICI": gaps.mean(),
        "E50": np.quantile(gaps, 0.5),
        "E90": np.quantile(gaps, 0.9),
        "Brier score": np.mean(s * s - 2 * s * c + c),
        "uncertainty (UNC)": rate * (1 - rate),
        "c statistic": np.sum(c * below) / c.sum(),
    }


def coverage_table(replicates, sizes=(200, 1000, 5000)):
    """Return a row per cell and number: coverage, misses on either side, mean length."""
    rows = []
    for (law_name, law), (curve_name, curve) in product(LAWS.items(), CURVES.items()):
        truth = truths(law, curve)
        for n in sizes:
            if n * truth["prevalence"] >= _FEWEST_EVENTS:
                cell = {"law": law_name, "curve": curve_name, "n_samples": n}
                rows += _cell(cell, law, curve, truth, replicates)
    return pd.DataFrame(rows)


def _cell(cell, law, curve, truth, replicates):
    ends = {name: np.empty((replicates, 2)) for name in truth}
    for k in range(replicates):
        generator = stream(0, f"{cell['law']} {cell['curve']}", str(cell["n_samples"]), str(k))
        s = generator.beta(*law, cell["n_samples"])
        y = generator.random(s.size) < curve(s)
        for row in risk_summary(s, y, CONFIDENCE_LEVEL):
            if row.name in ends:
                ends[row.name][k] = row.low, row.high
    for name, pairs in ends.items():
        low, high = pairs.T
        yield {
            **cell,
            "number": name,
            "truth": truth[name],
            "coverage": np.mean((low <= truth[name]) & (truth[name] <= high)),
            "too_high": np.mean(low > truth[name]),
            "too_low": np.mean(high < truth[name]),
            "mean_length": np.mean(high - low),
        }
