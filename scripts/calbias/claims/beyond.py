"""C01: what this project claims itself, beyond the papers."""

import numpy as np
import pandas as pd

from calbias.claims.measurements import POINTS, Measurement, by_case
from calbias.claims.verdicts import NotJudged, claim, verdict_of

FEWEST_MODELS = 10
FEWEST_SUBSAMPLES_SIZE = 3200  # sizes that the rule needs: up to this one at least
EXPLAINED, PARTLY = 2 / 3, 1 / 2


@claim("C01", "calbias", "predicted_bias", "predicted_bias")
def construction_predicts_real_bias(evidence):
    """Bias by construction, with hits redrawn from a fitted curve, predicts the bias of an
    estimator on real data

    Published: no paper has looked
    Rule: On the real score files, estimators and sizes of table predicted_bias: explained is 1 −
    mean|observed − predicted| / mean|observed| bias, over all rows, for the curve fitted on all
    rows and for the curve fitted on the subsample alone. Reproduced if both explain at least
    {EXPLAINED:.0%}, approximate if both explain at least half.
    Errors: ± one standard error over the models
    """
    rows = evidence.table("predicted_bias")
    n_models, largest = rows["model"].nunique(), rows["n_samples"].max()
    if n_models < FEWEST_MODELS or largest < FEWEST_SUBSAMPLES_SIZE:
        raise NotJudged(
            f"table predicted_bias has {n_models} models and sizes up to {largest}; the rule wants "
            f"{FEWEST_MODELS} and {FEWEST_SUBSAMPLES_SIZE}"
        )
    observed = rows["observed_bias_percent"]
    distances = pd.DataFrame({
        "curve fitted on all rows": (rows["predicted_bias_percent"] - observed).abs(),
        "curve fitted on the subsample":
            (rows["predicted_from_subsample_percent"] - observed).abs(),
    })  # fmt: skip
    shares = 1 - distances.mean() / observed.abs().mean()

    def over_models(name, values, case=""):
        means = values.groupby(rows["model"]).mean()
        error = means.std(ddof=1) / np.sqrt(means.size)
        return Measurement(name, values.mean(), POINTS, case, error)

    for name, distance in distances.items():
        yield over_models("mean distance", distance, name)
    yield over_models("mean |observed bias|", observed.abs())
    yield from by_case("share explained", 100 * shares, "percent")
    by_model = distances.iloc[:, 0].groupby(rows["model"]).mean()
    yield (
        f"the distance is largest for {by_model.idxmax()} ({by_model.max():.2f} points): "
        "where a GLM misses the curve near 1, or many scores are exactly 1"
    )
    return verdict_of(shares.min() >= EXPLAINED, shares.min() >= PARTLY), "real_scores"
