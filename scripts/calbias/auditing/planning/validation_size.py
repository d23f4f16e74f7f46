"""How many rows the external validation of a risk model needs: O/E and the c statistic.

By the criteria of Riley et al., *Minimum sample size for external validation of a clinical
prediction model with a binary outcome* (Statistics in Medicine 40:4230, 2021), for a model that is
calibrated, with prevalence φ; the slope is in ``cox``:

- O/E (Debray et al., BMJ 356:i6460, 2017): se² = (1 − φ)/(n φ) of log O/E, whose interval from
  exp(−1.96 se) to exp(1.96 se) is 2 sinh(1.96 se) wide. se is rounded up to a multiple of 0.0001,
  as pmvalsampsize does: without that 906 rows for its 905 (φ = 0.018, width 1).
- c statistic (Newcombe, Statistics in Medicine 25:559, 2006, method 4, equal groups in its q):
  se² = c (1 − c) (1 + (n/2 − 1) q)/(n² φ (1 − φ)), q = (1 − c)/(2 − c) + c/(1 + c).
"""

import math
from typing import Any

import numpy as np

from calbias.engine.scores_and_hits import is_number
from calbias.errors import InputError

_Z = 1.96
_SE_STEP = 1e-4


def oe_labels(prevalence: float, half_width: float) -> float:
    """Return n at which the 95 % interval of O/E is 2·half_width wide."""
    steps = math.ceil(math.asinh(half_width) / _Z / _SE_STEP - 1e-9)
    return (1 - prevalence) / prevalence / (steps * _SE_STEP) ** 2


def c_labels(prevalence: float, c: float, half_width: float) -> float:
    """Return n at which the 95 % interval of the c statistic is c ± half_width."""
    q = (1 - c) / (2 - c) + c / (1 + c)
    square = (half_width / _Z) ** 2 * prevalence * (1 - prevalence)
    linear, constant = c * (1 - c) * q / 2, c * (1 - c) * (1 - q)
    return (linear + math.sqrt(linear**2 + 4 * square * constant)) / (2 * square)


def calibrated_c(scores: np.ndarray) -> float:
    """Return the c statistic of a calibrated model with ascending scores (n,); ties count half."""
    others = 1.0 - scores
    below = np.cumsum(others) - others / 2
    return float(scores @ below / (scores.sum() * others.sum()))


def validate_event(
    oe_width: float | None,
    c_width: float | None,
    prevalence: float | None,
    c_statistic: float | None,
) -> None:
    """Raise InputError unless the numbers of a risk model's goals are in range."""
    ranges = {
        "oe_width": (oe_width, np.inf),
        "c_width": (c_width, 0.5),
        "prevalence": (prevalence, 1.0),
        "c_statistic": (c_statistic, 1.0),
    }
    for name, (number, end) in ranges.items():
        if number is not None and not (is_number(number) and 0 < number < end):
            limits = "above 0" if end == np.inf else f"above 0 and below {end:g}"
            raise InputError(f"{name} must be {limits}, not {number!r:.60}")
    if c_statistic is not None and c_width is None:
        raise InputError("c_statistic goes with c_width: give the half width of its interval")


def event_goals(
    scores: np.ndarray,
    prevalence: float,
    c_statistic: float | None,
    oe_width: float | None,
    c_width: float | None,
) -> list[dict[str, Any]]:
    """Return the rows of observed/expected and of the c statistic, at ascending scores (n,)."""
    rows: list[dict[str, Any]] = []
    if oe_width is not None:
        labels = np.ceil(oe_labels(prevalence, oe_width) - 1e-9)
        rows.append({"goal": f"observed/expected to ± {oe_width:g}", "labels": labels})
    if c_width is not None:
        c = calibrated_c(scores) if c_statistic is None else c_statistic
        labels = np.ceil(c_labels(prevalence, c, c_width) - 1e-9)
        rows.append({"goal": f"c statistic {c:.3g} to ± {c_width:g}", "labels": labels})
    return rows
