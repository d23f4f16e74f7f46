"""R27 to R31: rules on statements that have no figure of their own."""

import itertools

import pandas as pd
import pytest
from claims_data import GROUP, experiment, heatmaps, judged, measured, verdicts_of

from pipeline.paper import BINNED


def spread_by(technique, bins):
    """Heat maps whose standard deviation depends on the scheme and on the number of bins."""
    return heatmaps(
        lambda *_: 1.0, BINNED,
        sd=lambda _, name, b, n: (technique if name.endswith("ew") else 1.0)
        * (bins if b == 64 else 1.0) * n**-0.5,
    )  # fmt: skip


test_r27_standard_deviations = verdicts_of(
    "R27", spread_by,
    reproduced=[(1.2, 1.2)],
    approximate=[(1.9, 1.0), (1.0, 1.9)],
    not_reproduced=[(2.1, 1.0), (1.0, 2.1)],
)  # fmt: skip


def scenarios(shapes):
    """Scenarios of the ten models: Beta(2, b), b by data set or model."""
    rows = [
        ("realistic", name, group, "published_fits", 2.0, shapes.get(name, shapes[group]))
        for name, group in GROUP.items()
    ]
    columns = ["experiment", "scenario", "group", "source", "alpha", "beta"]
    return {"scenarios": pd.DataFrame(rows, columns=columns)}


test_r28_skewness = verdicts_of(
    "R28", scenarios,
    reproduced=[{"CIFAR-10": 0.05, "CIFAR-100": 0.2, "ImageNet": 0.6}],
    approximate=[{"CIFAR-10": 0.05, "CIFAR-100": 0.2, "ImageNet": 0.6, "densenet40_c10": 0.3}],
    not_reproduced=[{"CIFAR-10": 0.6, "CIFAR-100": 0.2, "ImageNet": 0.05}],
)  # fmt: skip


def advantages(of_imagenet, of_sweep=None):
    """Equal mass is 1 point less biased than equal width on CIFAR."""

    def bias(model, name, b, n):
        if name.endswith("em"):
            return 1.0
        by_sweep = of_imagenet if of_sweep is None else of_sweep
        return 1.0 + ((by_sweep if "sweep" in name else of_imagenet) if "imgnet" in model else 1.0)

    return experiment("realistic", bias, BINNED)


test_r29_equal_mass_helps_least_on_imagenet = verdicts_of(
    "R29", advantages,
    reproduced=[0.5, 0.1],
    approximate=[(0.5, 0.0)],
    not_reproduced=[0.0, 1.5],
)  # fmt: skip


def selections(*differences, others=()):
    """Table recalibration: the TCE of the sweep's choice is 1 + a difference, of ECE_bin's 1."""
    models = [*zip(GROUP, differences, strict=False), *((f"other_{x}", x) for x in others)]
    rows = [
        (model, "real_logits", measure, 1.0 + by * (measure == "ece_sweep_em"), "glm_empirical", x)
        for (model, by), measure, x in itertools.product(
            models, ("ece_bin_ew", "ece_sweep_em"), (True, False)
        )
    ]
    columns = ["model", "source", "measure", "reference_tce_percent", "reference", "selected"]
    return {"recalibration": pd.DataFrame(rows, columns=columns)}


test_r30_selections = verdicts_of(
    "R30", selections,
    reproduced=[(-0.1, 0.0)],
    approximate=[(-0.3, 0.1)],
    not_reproduced=[(0.0, 0.0), (-0.1, 0.2)],
)  # fmt: skip


def test_r30_counts_other_networks_too():
    """Better on two of the paper's, and worse on one other network, but not on average."""
    for other, verdict in ((-0.1, "reproduced"), (0.1, "approximate"), (0.5, "not_reproduced")):
        ruling = judged("R30", **selections(-0.1, -0.1, others=(other,)))
        assert (ruling.verdict, ruling.models) == (verdict, "2 of 10 and 1 other")


def diagrams(fall, *others, n=400):
    """Two bins of n rows of a model and of others: the upper accuracy is lower by a ``fall``."""
    falls = {"resnet110_c10": fall} | {f"other_{k}": of for k, of in enumerate(others)}
    rows = [(model, "real_logits", "uncalibrated", low, n, hit) for model, of in falls.items()
            for low, hit in ((0.0, 0.5), (0.5, 0.5 - of))]  # fmt: skip
    columns = ["model", "source", "method", "low", "n_in_bin", "mean_hit"]
    return {"reliability_bins": pd.DataFrame(rows, columns=columns)}


test_r31_monotone_curves = verdicts_of(
    "R31", diagrams,
    reproduced=[-0.3, 0.0, 0.13, (0.0, 0.13)],
    approximate=[(0.15, 0.0, 0.0), (0.0, 0.15, 0.0)],  # the paper's or another network
    not_reproduced=[0.15, (0.15, 0.0)],
)  # fmt: skip


def test_r31_measures_a_fall_in_its_standard_errors():
    judgement = judged("R31", **diagrams(0.1, 0.0, 0.0))
    found = measured(judgement, "largest decrease", "resnet110_c10").value
    assert found == pytest.approx(0.1 / (0.5 / 400 * 0.995) ** 0.5, rel=0.01)
    assert judgement.models == "1 of 10 and 2 other"
