"""Print the values of one peer, the first argument, of the data sets in the second, as JSON.

It runs in the peer's environment, where calbias is not installed. Each peer has a function of its
name in ``envs/peers``, which imports it and returns {quantity: function of scores and hits}.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any  # of the peer's NumPy
Value = Callable[[Array, Array], Any]
Values = dict[str, Value]
"""{quantity: function of scores and hits}."""


def _calzone_tool() -> Values:
    from calzone import metrics
    from calzone.utils import reliability_diagram

    def bins(scores: Array, hits: Array, equal_mass: bool = False) -> tuple[Array, Array, Array]:
        share, mean_score, _, counts = reliability_diagram(
            hits, two_columns(scores), num_bins=15, class_to_plot=1, is_equal_freq=equal_mass
        )
        return share, mean_score, counts

    return {
        "ece_width": lambda s, y: metrics.calculate_ece_mce(*bins(s, y))[0],
        "ece_mass": lambda s, y: metrics.calculate_ece_mce(*bins(s, y, True))[0],
        "hosmer_lemeshow_p": lambda s, y: metrics.hosmer_lemeshow_test(*bins(s, y, True))[1],
        "spiegelhalter_p": lambda s, y: metrics.spiegelhalter_z_test(y.copy(), two_columns(s))[1],
    }


def _mapie() -> Values:
    from mapie.metrics import calibration

    def ece(strategy: str) -> Value:
        return lambda scores, hits: calibration.top_label_ece(
            hits, scores, y_score_arg=np.ones(len(scores), int), num_bins=15,
            split_strategy=strategy,
        )  # fmt: skip

    return {
        "ece_width": ece("uniform"),
        "ece_mass": ece("quantile"),
        "spiegelhalter_p": lambda s, y: calibration.spiegelhalter_p_value(y, s),
        "mad_p": lambda s, y: calibration.kolmogorov_smirnov_p_value(y, s),
        "range_p": lambda s, y: calibration.kuiper_p_value(y, s),
    }


def _mcgrad() -> Values:
    from mcgrad import metrics

    return {
        "ece_width": lambda s, y: metrics.expected_calibration_error(y, s, num_bins=15),
        "ece_mass": lambda s, y: metrics.adaptive_calibration_error(y, s, num_bins=15),
        "range": lambda s, y: metrics.ecce(y, s),
        "range_p": lambda s, y: metrics.ecce_pvalue(y, s),
    }


def _model_diagnostics() -> Values:
    from model_diagnostics.scoring import SquaredError, decompose

    def mcb(scores: Array, hits: Array) -> Any:
        return decompose(hits, scores, scoring_function=SquaredError())["miscalibration"][0]

    return {"corp_mcb": mcb}


def _netcal() -> Values:
    from netcal.metrics import ECE, MCE, MMCE

    return {
        "ece_width": lambda s, y: ECE(bins=15).measure(s, y),
        "ece_mass": lambda s, y: ECE(bins=15, equal_intervals=False).measure(s, y),
        "mce_width": lambda s, y: MCE(bins=15).measure(s, y),
        "mmce": lambda s, y: MMCE().measure(s, y),
    }


def _probcal() -> Values:
    from probcal import metrics

    return {
        "ece_width": lambda s, y: metrics.ece(y, s, n_bins=15, strategy="width"),
        "ece_mass": lambda s, y: metrics.ece(y, s, n_bins=15),
        "ece_mass_l2": lambda s, y: metrics.ece(y, s, n_bins=15, norm="l2"),
        "debiased_mass_l2": lambda s, y: metrics.ece_debiased(y, s, n_bins=15),
        "sweep_mass_l2": lambda s, y: metrics.ece_sweep(y, s, norm="l2"),
        "smece": lambda s, y: metrics.smooth_ece(y, s),
        "spiegelhalter_p": lambda s, y: metrics.spiegelhalter_z(y, s).p_value,
    }


def _probmetrics() -> Values:
    import torch
    from probmetrics.distributions import CategoricalDirac, CategoricalProbs
    from probmetrics.metrics import Metrics

    def metric(name: str) -> Value:
        def value(scores: Array, hits: Array) -> Any:
            labels = CategoricalDirac(torch.from_numpy(hits), 2)
            probabilities = CategoricalProbs(torch.from_numpy(two_columns(scores)))
            return Metrics.from_names([name]).compute_all(labels, probabilities)[name]

        return value

    return {
        "ece_top_label": metric("ece-15"),
        "smece_top_label": metric("smece"),
        "range": metric("kuiper"),
    }


def _relplot() -> Values:
    import relplot.metrics

    return {
        "ece_width": lambda s, y: relplot.metrics.binnedECE(s, y, nbins=15),
        "smece": lambda s, y: relplot.metrics.smECE(s, y),
    }


def _scikit_learn() -> Values:
    from sklearn.calibration import calibration_curve

    def ece(strategy: str) -> Value:  # as its users assemble it
        def value(scores: Array, hits: Array) -> Any:
            share, mean_score = calibration_curve(hits, scores, n_bins=15, strategy=strategy)
            edges = np.linspace(0, 1, 16)
            if strategy == "quantile":
                edges = np.percentile(scores, 100 * edges)
            counts = np.bincount(np.searchsorted(edges[1:-1], scores), minlength=15)
            return np.average(np.abs(share - mean_score), weights=counts[counts > 0])

        return value

    return {"ece_width": ece("uniform"), "ece_mass": ece("quantile")}


def _torchmetrics() -> Values:
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    def error(norm: str) -> Value:
        return lambda scores, hits: binary_calibration_error(
            torch.from_numpy(scores), torch.from_numpy(hits), n_bins=15, norm=norm
        )

    return {"ece_width": error("l1"), "ece_width_l2": error("l2"), "mce_width": error("max")}


def _uncertainty_calibration() -> Values:
    import calibration

    def l2(debias: bool) -> Value:
        return lambda scores, hits: calibration.utils._get_ce(
            scores, hits, p=2, debias=debias, num_bins=15,
            binning_scheme=calibration.utils.get_equal_bins, mode="marginal",
        )  # fmt: skip

    return {
        "ece_width": calibration.get_ece,
        "ece_mass": calibration.get_ece_em,
        "ece_mass_l2": l2(debias=False),
        "debiased_mass_l2": l2(debias=True),
    }


def two_columns(scores: Array) -> Array:
    """Return the probabilities (n, 2) of classes 0 and 1."""
    return np.column_stack([1 - scores, scores])


def value_or_refusal(compute: Value, scores: Array, hits: Array) -> float | str:
    """Return a number, or the text of the peer's error."""
    try:
        return float(compute(scores, hits))
    except Exception as error:  # the refusal is a result
        return f"{type(error).__name__}: {error}".splitlines()[0]


if __name__ == "__main__":
    computed = globals()["_" + sys.argv[1].replace("-", "_")]()
    with np.load(sys.argv[2]) as arrays:
        names = sorted(name.removesuffix("_scores") for name in arrays if name.endswith("_scores"))
        pairs = {name: [arrays[f"{name}_{part}"] for part in ("scores", "hits")] for name in names}
    printed = {
        name: {quantity: value_or_refusal(f, *pair) for quantity, f in computed.items()}
        for name, pair in pairs.items()
    }
    print(json.dumps(printed))
