"""C02: the intervals of an audit hold the true error as often as they say."""

import numpy as np

from calbias.claims.measurements import Measurement
from calbias.claims.verdicts import NotJudged, all_or_some, claim

METHOD = "test_inversion"
MEAN, CELL = 0.93, 0.90
FEWEST = 50


@claim("C02", "calbias", "interval_coverage", "interval_coverage")
def intervals_cover(evidence):
    """The interval of an audit, test inversion by construction at nominal 95 %, covers the true
    error at least 93 % of the time on average and 90 % in every cell

    Published: no package has such an interval
    Rule: Method {METHOD} in table interval_coverage, each scenario and n with at least {FEWEST}
    data sets. Reproduced if the mean coverage is at least {MEAN:.0%} and no cell's exact 95 % range
    lies below {CELL:.0%}; approximate if one of the two holds.
    Errors: ± one standard error; cells: exact 95 % range
    """
    table = evidence.table("interval_coverage")
    rows = table[table["method"] == METHOD].reset_index(drop=True)
    if rows.empty or rows["n_data_sets"].min() < FEWEST:
        raise NotJudged(f"table interval_coverage has fewer than {FEWEST} data sets a cell")
    mean, worst = rows["coverage"].mean(), rows.loc[rows["coverage"].idxmin()]
    error = np.sqrt(np.sum(rows["coverage"] * (1 - rows["coverage"]) / rows["n_data_sets"]))
    yield Measurement("mean coverage", 100 * mean, "percent", METHOD, 100 * error / len(rows))
    for method, coverage in table.groupby("method", sort=False)["coverage"]:
        if method != METHOD:
            yield Measurement("mean coverage", 100 * coverage.mean(), "percent", method)
    ends = {"low": 100 * worst["low"], "high": 100 * worst["high"]}
    cell = f"{worst['scenario']}, n = {worst['n_samples']}"
    yield Measurement("least coverage of a cell", 100 * worst["coverage"], "percent", cell, **ends)
    holds = mean >= MEAN, bool((rows["high"] >= CELL).all())
    return all_or_some(holds), "simulation"
