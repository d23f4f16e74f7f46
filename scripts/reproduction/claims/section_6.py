"""R05: the data set's and the architecture's influence on the fits (section 6, Figure 3)."""

import numpy as np
from scipy.special import betainc

from calbias.truth.curves import Curve
from pipeline.claims.verdicts import NotJudged, Verdict, claim, worded
from reproduction.claims.similarity import groups_matter, similarity_measurements

SIGNIFICANT = 0.05
_SCORES = (np.arange(1000) + 0.5) / 1000


@claim("R05", "§6, Fig 3", "scenarios", "fig3_fits")
@worded(
    says="The data set influences the fits more than the architecture does",
    published="greater influence; no number",
    rule=(
        "Area between the fitted score distribution functions, and between the fitted "
        "calibration curves, of two models: mean over pairs within a data set divided by mean "
        "over pairs of different data sets. Reproduced if both ratios are below 1 with p < "
        f"{SIGNIFICANT:g} over all ways to group the ten models, approximate if one is. Judged on "
        "the fits that drive the simulation."
    ),
    errors="p: exact, over all ways to group the ten models",
)
def data_set_matters_more(evidence):
    groups = evidence.groups()
    table = evidence.table("scenarios")
    table = table[table["experiment"] == "realistic"].set_index("scenario")
    if absent := [model for model in groups if model not in table.index]:
        raise NotJudged(f"experiment realistic lacks the scenario of {', '.join(absent)}")
    functions = {
        "score distributions": lambda row: betainc(row["alpha"], row["beta"], _SCORES),
        "curves": lambda row: Curve.from_row(row).hit(np.log(_SCORES), np.log1p(-_SCORES)),
    }
    results = {}
    for name, of in functions.items():
        values = [of(table.loc[model]) for model in groups]
        results[name] = groups_matter(values, groups.values(), lambda a, b: np.abs(a - b).mean())
    yield from similarity_measurements("mean distance within data sets / between", results)
    matters = [r.ratio < 1 and r.p_value < SIGNIFICANT for r in results.values()]
    return Verdict.all_or_some(matters), evidence.source("realistic", list(groups))
