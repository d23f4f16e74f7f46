"""How far the printed decimals leave a scenario's TCE open (table ``tce_rounding``)."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from calbias.truth.true_error import true_calibration_error
from pipeline.scenarios import (
    HALF_LAST_DIGIT,
    HALF_LAST_DIGIT_BETA,
    PrintedFits,
    printed_coefficients,
    printed_fits,
)
from pipeline.table_schema import columns_of
from pipeline.tables import read_table, write_table

# The two score distributions with T(c) = c^2, as printed: in §4 and in the authors' script.
PRINTED_BETAS = (("2.8", "0.05"), ("1.1", "0.1"))
EXPONENT = 2.0


def compute_tce_rounding(
    *,
    beta_fits: Path,
    glm_fits: Path,
    norm: float,
    output: Path,
) -> None:
    """Compute how far the paper's printed decimals leave each scenario's TCE open (Tables 2 and 3).

    beta_fits: published Table 2
    glm_fits: published Table 3
    norm: p of the ℓp error
    output: table to write
    """
    fits = printed_fits(read_table(beta_fits), read_table(glm_fits))
    write_table(output, "tce_rounding", tce_rounding(fits, norm))


def tce_rounding(fits: dict[str, PrintedFits], norm: float = 2.0) -> pd.DataFrame:
    """Return the table ``tce_rounding`` of {model: PrintedFits} and of the two c^2 of Fig 2b.

    low and high are the extremes of TCE_p over all parameters that round to the printed ones.
    ``parameters`` is ``lowest_aic`` (as in the experiments), ``second_lowest_aic`` or ``text``.
    """
    cases = [
        (parameters, fit.scenario(number), (HALF_LAST_DIGIT_BETA,) * 2)
        for number, parameters in enumerate(("lowest_aic", "second_lowest_aic"))
        for fit in fits.values()
    ]
    for printed in PRINTED_BETAS:
        name = f"beta_{'_'.join(printed)}_power_{EXPONENT:g}"
        alpha, beta = map(float, printed)
        scenario = Scenario(name, alpha, beta, Curve("power", 0.0, EXPONENT))
        half_alpha, half_beta = (0.5 * 10.0 ** -len(text.partition(".")[2]) for text in printed)
        cases.append(("text", scenario, (half_alpha, half_beta)))
    rows = []
    for parameters, scenario, half in cases:
        ends = true_calibration_error(scenario, norm=norm), *tce_range(scenario, norm, half)
        percents = (100 * tce for tce in ends)
        rows.append((scenario.name, scenario.curve.name, *percents, parameters))
    return pd.DataFrame(rows, columns=list(columns_of("tce_rounding")))


def tce_range(
    scenario: Scenario,
    norm: float = 2.0,
    half_beta: tuple[float, float] = (HALF_LAST_DIGIT_BETA,) * 2,
) -> tuple[float, float]:
    """Return (lowest, highest) TCE, fractions, over the box of parameters within rounding.

    They are looked for at all corners, at the centre, and by a bounded descent: an extreme may lie
    inside the box.
    """
    names = printed_coefficients(scenario.curve)
    centre = np.array([scenario.alpha, scenario.beta, *(getattr(scenario.curve, b) for b in names)])
    half = np.array([*half_beta] + [HALF_LAST_DIGIT] * len(names))

    def tce(point: Sequence[float] | np.ndarray) -> float:
        alpha, beta, *coefficients = centre + half * np.asarray(point)
        curve = scenario.curve._replace(**dict(zip(names, coefficients, strict=True)))
        return true_calibration_error(Scenario(scenario.name, alpha, beta, curve), norm=norm)

    corners = [(0.0,) * centre.size, *itertools.product((-1.0, 1.0), repeat=centre.size)]
    values = np.array([tce(corner) for corner in corners])

    def extreme(sign: float) -> float:
        optimum = minimize(
            lambda point: sign * tce(point),
            # off the corner: an inner extreme near it has a descent direction
            0.9 * np.array(corners[int(np.argmin(sign * values))]),
            method="L-BFGS-B",
            bounds=[(-1.0, 1.0)] * centre.size,
            options={"maxiter": 15, "eps": 1e-4},
        )
        return float(sign * min(optimum.fun, (sign * values).min()))

    return extreme(1.0), extreme(-1.0)
