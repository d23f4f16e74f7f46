"""C01: what this project claims itself, beyond the papers."""

import numpy as np

from calbias.claims.measurements import Measurement
from calbias.claims.verdicts import Judgement, NotJudged, claim, verdict_of

FEWEST_MODELS = 10
FEWEST_SUBSAMPLES_SIZE = 3200  # sizes that the rule needs: up to this one at least
EXPLAINED, PARTLY = 2 / 3, 1 / 2
POINTS = "percentage points"


@claim(
    "C01",
    "calbias",
    says="Bias by construction, with hits redrawn from a fitted curve, predicts the bias of an "
    "estimator on real data",
    published="no paper has looked",
    figures="predicted_bias",
    tables="predicted_bias",
    rule="On the real score files, estimators and sizes of table predicted_bias: explained is "
    "1 − mean|observed − predicted| / mean|observed| bias, over all rows, for the curve fitted on "
    "all rows and for the curve fitted on the subsample alone. Reproduced if both explain at least "
    f"{EXPLAINED:.0%}, approximate if both explain at least half.",
    uncertainty="± one standard error over the models",
)
def construction_predicts_real_bias(evidence):
    """C01: the mean distance of predicted from observed bias against the mean bias."""
    rows = evidence.table("predicted_bias")
    n_models = rows["model"].nunique()
    if n_models < FEWEST_MODELS or rows["n_samples"].max() < FEWEST_SUBSAMPLES_SIZE:
        raise NotJudged(
            f"table predicted_bias has {n_models} models and sizes up to "
            f"{rows['n_samples'].max()}; the rule wants {FEWEST_MODELS} and "
            f"{FEWEST_SUBSAMPLES_SIZE}"
        )
    observed = rows["observed_bias_percent"]
    measurements = [_over_models("mean |observed bias|", rows, observed.abs())]
    shares = []
    for name, column in (
        ("curve fitted on all rows", "predicted_bias_percent"),
        ("curve fitted on the subsample", "predicted_from_subsample_percent"),
    ):
        distance = (rows[column] - observed).abs()
        shares.append(1 - distance.mean() / observed.abs().mean())
        measurements.append(_over_models("mean distance", rows, distance, name))
        measurements.append(Measurement("share explained", 100 * shares[-1], "percent", name))
    distance = (rows["predicted_bias_percent"] - observed).abs()
    by_model = distance.groupby(rows["model"]).mean()
    worst = by_model.idxmax()
    notes = (
        f"the distance is largest for {worst} ({by_model[worst]:.2f} points): "
        "where a GLM misses the curve near 1, or many scores are exactly 1",
    )
    verdict = verdict_of(min(shares) >= EXPLAINED, min(shares) >= PARTLY)
    measurements.sort(key=lambda m: m.name)
    return Judgement(verdict, measurements, "real_scores", notes)


def _over_models(name, rows, values, case=""):
    """Return the Measurement of a mean, with the standard error over models."""
    means = values.groupby(rows["model"]).mean()
    error = means.std(ddof=1) / np.sqrt(means.size)
    return Measurement(name, values.mean(), POINTS, case, error)
