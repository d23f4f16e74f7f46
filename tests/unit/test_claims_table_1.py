"""R26: rule on the selection of recalibration methods."""

import pandas as pd
import pytest
from claims_data import NAMES, judged, measured, verdicts_of


def selections(bin_agrees, sweep_agrees, source="real_logits", models=NAMES):
    rows = [
        (model, source, measure, k < count, 0.6, k < published)
        for measure, count, published in (
            ("ece_bin_ew", bin_agrees, 3),
            ("ece_sweep_em", sweep_agrees, 7),
        )
        for k, model in enumerate(models)
    ]
    columns = "model source measure agrees agreement_frequency published_agrees"
    return pd.DataFrame(rows, columns=columns.split())


test_r26_counts_agreements = verdicts_of(
    "R26",
    lambda *of: {"recalibration_selection": selections(*of)},
    [
        (3, 7, "reproduced"),
        (4, 6, "approximate"),
        (3, 6, "approximate"),  # one of the two counts is not enough
        (4, 7, "approximate"),
        (5, 5, "not_reproduced"),
        (7, 3, "not_reproduced"),
        (7, 3, "surrogate_logits", "needs_real_logits"),
        (1, 1, "real_logits", NAMES[:1], "needs_real_logits"),  # too few to count
    ],
)


def test_r26_counts_have_the_spread_of_independent_models():
    """Ten models that agree in 60 % of the resamples: 6 with a variance of 10 × 0.6 × 0.4."""
    judgement = judged("R26", recalibration_selection=selections(3, 7))
    for name in ("ece_bin_ew", "ece_sweep_em"):
        agree = measured(judgement, "models that agree, mean over bootstrap resamples", name)
        assert (agree.value, agree.error) == pytest.approx((6.0, 2.4**0.5))


def test_r26_sorts_other_choices_by_the_estimator_that_agrees_more_often():
    agreements = {"default": (10, 2), "equal_mass": (8, 9), "norm_1": (7, 7)}
    rows = [
        (choice, measure, 10, count)
        for choice, counts in agreements.items()
        for measure, count in zip(("ece_bin_ew", "ece_sweep_em"), counts, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["choice", "measure", "n_models", "n_agree"])
    tables = {"recalibration_selection": selections(7, 3), "recalibration_sensitivity": table}
    _, *notes = judged("R26", **tables).notes
    ends = ["equal_mass (8 and 9)", "norm_1 (7 and 7)", "default (10 and 2)"]  # more, as, less
    assert [note.partition(" under ")[2] for note in notes] == ends
