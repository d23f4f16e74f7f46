"""What R says of the files in resources/follow_up, to eight digits."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from checkout import ROOT


class Followed(NamedTuple):
    """A file with its horizon and event, and R's numbers."""

    name: str
    horizon: float
    event: int
    risk: float  # survfit, prodlim
    first: tuple  # pseudo-observations by prodlim::jackknife
    spread: tuple  # their sd, min, max, Σ squares
    brier: float  # riskRegression::Score, pec
    null_brier: float
    in_strata: tuple  # of ten strata: mean, sd, Σ squares of the pseudo-observations
    ratio: tuple  # of ten strata: observed/expected with its interval
    line: tuple  # of ten strata: a, b of the logistic score equations; a with b = 1
    line_errors: tuple  # their standard errors
    strata_risks: tuple  # of the first three strata
    followed: tuple

    @property
    def table(self):
        return pd.read_csv(ROOT / "resources/follow_up" / f"{self.name}.csv")

    @property
    def columns(self):
        table = self.table
        return table.time.to_numpy(float), table.status.to_numpy(np.int64)


FILES = (
    Followed(
        "gbsg_5y", 1825, 1, 0.50835513,
        (-0.23107227, 1.0226458, -0.045964809),
        (0.60380827, -0.23107227, 2.4358905, 427.01984),
        0.22439313, 0.24993019,
        (0.51236615, 0.61874691, 442.33878),
        (0.92537002, 0.84783201, 1.0099992),
        (-0.18387451, 1.0065763, -0.18259927),
        (0.10568965, 0.170216, 0.10082783),
        (0.34925448, 0.40091362, 0.37772089),
        (0.40677327, 0.45963709, 0.34934694),
    ),
    Followed(
        "mgus2_pcm_10y", 120, 1, 0.069696106,
        (-0.00022045393, -0.0053550242, -0.00010947337),
        (0.26200826, -0.006628246, 1.2505281, 49.768337),
        0.064284302, 0.064838559,
        (0.068920182, 0.25917361, 48.695235),
        (1.1753548, 0.88706152, 1.5573429),
        (-0.25977568, 0.83345144, 0.17857246),
        (0.5883562, 0.20969743, 0.1598184),
        (0.0, 0.044865404, 0.077729772),
        (0.63019569, 0.44225652, 0.79372906),
    ),
    Followed(
        "mgus2_death_10y", 120, 2, 0.53598893,
        (1.0016157, 1.1079356, 1.0007288),
        (0.52211802, -0.056658177, 1.2550771, 379.33374),
        0.1946193, 0.2487048,
        (0.53515225, 0.52100858, 377.94263),
        (1.0008749, 0.93729448, 1.0687682),
        (-0.0010786519, 1.0369475, 0.0023494086),
        (0.092004143, 0.11402308, 0.090009066),
        (0.20582893, 0.22582927, 0.37913641),
        (0.67607257, 0.808906, 0.81623413),
    ),
)  # fmt: skip

TINY = (  # horizon, any event: pseudo-observations of rows 1 to 6; the event 1: of the last three
    (2.0, (1, 0.15384615, 1, 1.0705128, -0.012820513, 1.0705128), (-0.0064102564,) * 3),
    (5.0, (1, 0.42884615, 1, 1.0475962, 0.31634615, 1.0475962), (-0.068467643,) * 3),
    (5.5, (1, 0.42884615, 1, 1.0475962, 0.31634615, 1.0475962), (-0.068467643,) * 3),
    (8.0, (1, 0.69538462, 1, 1.0253846, 0.63538462, 1.0253846),
     (1.9434941, -0.63587098, -0.63587098)),
)  # fmt: skip
