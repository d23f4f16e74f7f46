"""R26, G01 to G07 and S01 to S07: rules on the selection and the measures of recalibration."""

import itertools

import pandas as pd
import pytest
from claims_data import NAMES, judged, measured, verdicts_of

from pipeline.claims.verdicts import NotJudged
from reproduction.figures.errors_by_rank import COLUMNS
from reproduction.recalibration import ON_HALF

RECORDED = "claims_measured.yaml"

C100 = [name for name in NAMES if name.endswith("c100")]
# ECE, percent, by method: as Guo et al. print them, roughly
PRINTED = {
    "uncalibrated": 10.0, "histogram_binning": 2.0, "isotonic_regression": 3.0, "bbq": 2.5,
    "temperature_scaling": 1.0, "vector_scaling": 1.1, "matrix_scaling": 1.5, "ms_odir": 1.2,
    "dir_odir": 1.3, "spline": 0.5, ON_HALF: 0.6,
}  # fmt: skip
WEIGHTS = {"weights_least": 29.0, "weights_greatest": 58.0, "weights_variation": 9.0}


MEASURED = ["value", "value_percent", "low_percent", "high_percent"]


def numbers(x):
    return x / 100, x, x - 0.4, x + 0.4


def measures(value, models=NAMES, source="real_logits", methods=PRINTED):
    """Return table ``measures``: ``value(model, method, measure)`` of every cell, percent."""
    names = ("ece", "ece25", "ece100", *COLUMNS, "accuracy", "overconfidence", "accuracy_all_ranks")
    rows = []
    for model, method, name in itertools.product(models, methods, names):
        if (method, model.endswith("imgnet")) != ("matrix_scaling", True):  # refused
            rows.append((model, method, name, *numbers(value(model, method, name))))
    for model, (name, x) in itertools.product(models, WEIGHTS.items()):
        rows.append((model, "vector_scaling", name, *numbers(x)))
    table = pd.DataFrame(rows, columns=["model", "method", "measure", *MEASURED])
    return table.assign(source=source, published_percent=None, published_source="", needs="")


def printed(models=NAMES):
    """Return the measures as they are printed; the published values are those."""
    table = PRINTED_TABLE[PRINTED_TABLE["model"].isin(models)]
    return table.assign(published_percent=table["value_percent"])


def as_printed(model, method, name):
    if name.startswith("accuracy"):
        return 90.0 - (method in ("histogram_binning", "isotonic_regression", "bbq"))
    if method == "matrix_scaling" and model in C100:
        return 20.0
    return PRINTED[method] * (2 if name == "ece100" and method != "uncalibrated" else 1)


PRINTED_TABLE = measures(as_printed)


def changed(models, method, name, x):
    """Return the printed measures with another value for these models."""
    table = printed()
    there = table["model"].isin(models) & (table["method"] == method) & (table["measure"] == name)
    table.loc[there, MEASURED] = numbers(x)
    return table


ON_NETWORKS = ["G01", "G03", "G06", "S01", *(f"S{k:02}" for k in range(3, 8))]


@pytest.mark.parametrize("claim", ON_NETWORKS)
def test_what_the_papers_print_is_reproduced_by_ten_real_files_alone(claim):
    verdict = judged(claim, measures=printed()).verdict
    assert verdict == ("approximate" if claim == "S06" else "reproduced")
    nine = judged(claim, measures=printed(NAMES[1:]))
    assert nine.verdict == verdict
    assert nine.models == "9 of 10"


TWO = ["resnet110_c10", "densenet40_c10"]


@pytest.mark.parametrize("claim", ["G03", "G06", "S01", "S04", "S05"])
def test_two_genuine_models_settle_what_the_rule_says_of_each(claim):
    judgement = judged(claim, measures=printed(TWO))
    assert (judgement.verdict, judgement.models) == ("reproduced", "2 of 10")


def test_a_replication_on_other_networks_is_said_beside_the_verdict():
    others = measures(as_printed, models=["a_c10", "b_c100", "d_c10"])
    worse = (others["model"] == "d_c10") & (others["method"] == "temperature_scaling")
    others.loc[worse & others["measure"].isin(["ece", "ece25"]), "value_percent"] = 9.0
    table = printed(TWO)
    for claim, words in (
        ("G03", "within 0.3 points 2 of 3 times, not for d_c10"),
        ("G06", "as claimed 3 of 3 times"),
        ("S03", "below 1 % 3 of 3 times"),
        ("S04", "top label: no change 3 of 3 times"),
        ("S05", "as claimed 17 of 18 times, not for d_c10"),
    ):
        alone = judged(claim, measures=table)
        judgement = judged(claim, measures=table, replication=others)
        note = next(n for n in judgement.notes if words in n)
        assert note.startswith("replication on other networks (3 models)")
        assert (judgement.verdict, judgement.models) == (alone.verdict, alone.models)


def test_two_models_that_disagree_leave_a_count_open():
    table = changed(TWO[:1], "temperature_scaling", "ece", 9.0)
    judgement = judged("G03", measures=table[table["model"].isin(TWO)])
    assert (judgement.verdict, judgement.models) == ("needs_real_logits", "2 of 10")
    assert judgement.reason == "2 of 10 models have genuine outputs, and they disagree"


def on_some(method, name):
    """A function of (models, value): the measures as printed, but for so many models."""
    return lambda models, x: {"measures": changed(NAMES[:models], method, name, x)}


test_g01_overconfident = verdicts_of(
    "G01", on_some("uncalibrated", "overconfidence"),
    reproduced=[(10, 0.41)], approximate=[(1, 0.4)], not_reproduced=[(5, -1.0)],
)  # fmt: skip
test_g03_ece_of_vector_scaling = verdicts_of(
    "G03", on_some("vector_scaling", "ece"),
    reproduced=[(1, 1.5), (10, 1.29)], approximate=[(2, 1.5), (2, 0.6)],
)  # fmt: skip


def entries(models, variation, ece=1.1):
    table = changed(NAMES[:models], "vector_scaling", "weights_variation", variation)
    is_ece = (table["method"] == "vector_scaling") & (table["measure"] == "ece")
    table.loc[is_ece, MEASURED] = numbers(ece)
    return {"measures": table}


test_g03_entries_of_the_vector = verdicts_of(
    "G03", entries,
    reproduced=[(1, 20.0), (10, 10.0)], approximate=[(2, 10.1)], not_reproduced=[(2, 10.1, 1.5)],
)  # fmt: skip
test_g06_accuracy_after_temperature = verdicts_of(
    "G06", on_some("temperature_scaling", "accuracy"),
    reproduced=[(10, 90.0)], not_reproduced=[(1, 90.1)],
)  # fmt: skip
test_s01_printed_digits = verdicts_of(
    "S01", on_some("uncalibrated", "ks_top1"),
    reproduced=[(10, 10.0)], not_reproduced=[(1, 10.002)],
)  # fmt: skip
test_s03_two_best = verdicts_of(
    "S03", on_some("spline", "ks_within_top2"),
    reproduced=[(1, 1.0)], approximate=[(2, 1.0)], not_reproduced=[(5, 1.2)],
)  # fmt: skip
test_s04_all_ranks = verdicts_of(  # an error of an accuracy is 0.4/1.96 = 0.204
    "S04", on_some("spline", "accuracy_all_ranks"),
    reproduced=[(10, 90.2), (10, 89.8)], approximate=[(1, 90.21), (1, 89.79)],
)  # fmt: skip
test_s04_top_label = verdicts_of(
    "S04", on_some("spline", "accuracy"), approximate=[(1, 90.01)],
)  # fmt: skip
test_s04_both = verdicts_of(
    "S04", on_some("uncalibrated", "accuracy"), not_reproduced=[(1, 90.3)],
)  # fmt: skip
test_s05_temperature = verdicts_of(
    "S05", on_some("temperature_scaling", "ece25"),
    reproduced=[(10, 1.05)], approximate=[(10, 10.5)],  # four pairs of six
)  # fmt: skip
test_s05_spline = verdicts_of("S05", on_some("spline", "ece25"), not_reproduced=[(10, 11.0)])
test_s07_third_rank = verdicts_of(
    "S07", on_some("spline", "ks_top3"),
    reproduced=[(1, 1.0)], approximate=[(2, 1.0)], not_reproduced=[(5, 1.2)],
)  # fmt: skip


def ece100(share, factor=1.06):
    """Of so many of the models' cells the ECE with 100 bins is that factor of that with 15."""

    def value(model, method, name):
        changes = name == "ece100" and NAMES.index(model) < share
        return 10.0 * (factor if changes else 1.0)

    return {"measures": measures(value)}


test_s06_bins_matter = verdicts_of(
    "S06", ece100, reproduced=[10, (10, 0.9)], approximate=[1, 9],
    not_reproduced=[0, (10, 1.049), (10, 0.96)],
)  # fmt: skip


def binned_accuracy(change, methods=3):
    binning = ("histogram_binning", "isotonic_regression", "bbq")[:methods]

    def value(model, method, measure):
        return 90.0 + change * (method in binning)

    return {"measures": measures(value)}


test_g06_wants_binning_to_hurt_the_accuracy = verdicts_of(
    "G06", binned_accuracy,
    reproduced=[-0.1, (-0.1, 2)], approximate=[0.1, (0.1, 2)], not_reproduced=[0.0, (-0.1, 1)],
)  # fmt: skip


def test_s01_is_decided_by_printed_digits():
    table = measures(as_printed, methods=["uncalibrated"], source="real_scores")
    near = table.assign(published_percent=table["value_percent"] + 0.001)
    far = table.assign(published_percent=table["value_percent"] + 0.002)
    assert judged("S01", measures=near).verdict == "reproduced"
    assert judged("S01", measures=far[far["model"].isin(NAMES[:2])]).verdict == "not_reproduced"
    some = judged("S01", measures=near[near["model"].isin(NAMES[:4])])
    assert (some.verdict, some.source, some.models) == ("reproduced", "real_scores", "4 of 10")
    assert measured(some, "within one unit of the last digit").value == 4
    assert measured(some, "equal to the printed digits").value == 0
    table = table.assign(published_percent=10.0, value_percent=10.0004)
    same = measured(judged("S01", measures=table), "equal to the printed digits")
    assert same.value == 10


def test_what_is_lacking_is_named():
    with pytest.raises(NotJudged, match="ece of vector_scaling on genuine outputs"):
        judged("G03", measures=measures(as_printed, methods=["uncalibrated", "bbq"]))


def test_few_models_are_not_judged():
    for claim in ("G01", "S06"):
        with pytest.raises(NotJudged, match="the rule wants 4"):
            judged(claim, measures=measures(as_printed, models=NAMES[:3]))


def test_g07_times_of_other_programs_are_shown_and_not_judged():
    sizes = [1000, 2000, 4000]
    rows = [(m, n, 10, x * n) for m, x in (("temperature_scaling", 1.0), ("bbq", 3.0))
            for n in sizes]  # fmt: skip
    table = pd.DataFrame(rows, columns=["method", "n_samples", "n_classes", "seconds"])
    ruling = judged("G07", fit_times=table.assign(processor="a machine"))
    assert (ruling.verdict, ruling.notes) == ("not_judged", ["measured on a machine"])
    assert measured(ruling, "exponent of the number of samples", "bbq").value == pytest.approx(1)
    assert measured(ruling, "time over temperature scaling's", "bbq").value == pytest.approx(3)


def selections(bin_agrees, sweep_agrees, source="real_logits", models=NAMES):
    counts = (("ece_bin_ew", bin_agrees, 3), ("ece_sweep_em", sweep_agrees, 7))
    rows = [
        (model, source, measure, k < count, 0.6, k < published)
        for measure, count, published in counts
        for k, model in enumerate(models)
    ]
    columns = "model source measure agrees agreement_frequency published_agrees"
    return pd.DataFrame(rows, columns=columns.split())


test_r26_counts_agreements = verdicts_of(
    "R26",
    lambda *of: {"recalibration_selection": selections(*of)},
    reproduced=[(3, 7)],
    approximate=[(4, 6), (3, 6), (4, 7)],  # one of the two counts is not enough
    not_reproduced=[(5, 5), (7, 3)],
    # one model is too few to count
    needs_real_logits=[(7, 3, "real_logits", ["a"]), (1, 1, "real_logits", NAMES[:1])],
)


def test_r26_sorts_other_choices_by_the_estimator_that_agrees_more_often():
    agreements = {"default": (10, 2), "equal_mass": (8, 9), "norm_1": (7, 7)}
    rows = [
        (choice, measure, 10 - (choice != "default"), count)
        for choice, counts in agreements.items()
        for measure, count in zip(("ece_bin_ew", "ece_sweep_em"), counts, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["choice", "measure", "n_models", "n_agree"])
    tables = {"recalibration_selection": selections(7, 3), "recalibration_sensitivity": table}
    first, *notes = judged("R26", **tables).notes
    assert first.startswith("of 10 models")
    ends = ["equal_mass (8 and 9)", "norm_1 (7 and 7)", "default (10 and 2)"]  # more, as, less
    assert [note.partition(" under ")[2] for note in notes[:-1]] == ends
