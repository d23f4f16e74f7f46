"""C02: the intervals of an audit hold the true error as often as they say."""

import numpy as np

from calbias.claims.measurements import Measurement
from calbias.claims.verdicts import Judgement, NotJudged, claim, verdict_of

METHOD = "test_inversion"
MEAN, CELL = 0.93, 0.90
FEWEST = 50


@claim(
    "C02",
    "calbias",
    says="The interval of an audit, test inversion by construction at nominal 95 %, covers the "
    "true error at least 93 % of the time on average and 90 % in every cell",
    published="no package has such an interval",
    figures="interval_coverage",
    tables="interval_coverage",
    rule=f"Method {METHOD} in table interval_coverage, each scenario and n with at least {FEWEST} "
    f"data sets. Reproduced if the mean coverage is at least {MEAN:.0%} and no cell's exact 95 % "
    f"range lies below {CELL:.0%}; approximate if one of the two holds.",
    uncertainty="± one standard error; cells: exact 95 % range",
)
def intervals_cover(evidence):
    """C02: mean and least coverage of test inversion, beside those of the other methods."""
    table = evidence.table("interval_coverage")
    rows = table[table["method"] == METHOD].reset_index(drop=True)
    if rows.empty or rows["n_data_sets"].min() < FEWEST:
        raise NotJudged(f"table interval_coverage has fewer than {FEWEST} data sets a cell")
    mean = rows["coverage"].mean()
    error = np.sqrt(np.sum(rows["coverage"] * (1 - rows["coverage"]) / rows["n_data_sets"]))
    worst = rows.loc[rows["coverage"].idxmin()]
    cell = f"{worst['scenario']}, n = {worst['n_samples']}"
    measurements = [
        Measurement("mean coverage", 100 * mean, "percent", METHOD, 100 * error / len(rows)),
        *(
            Measurement("mean coverage", 100 * values.mean(), "percent", name)
            for name, values in table.groupby("method", sort=False)["coverage"]
            if name != METHOD
        ),
        Measurement(
            "least coverage of a cell", 100 * worst["coverage"], "percent", cell,
            low=100 * worst["low"], high=100 * worst["high"],
        ),
    ]  # fmt: skip
    holds = mean >= MEAN, bool((rows["high"] >= CELL).all())
    return Judgement(verdict_of(all(holds), any(holds)), measurements, "simulation")
