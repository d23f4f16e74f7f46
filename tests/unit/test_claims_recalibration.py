"""R26, G01 to G07 and S01 to S07: rules on the selection and the measures of recalibration."""

import itertools

import pandas as pd
import pytest
from claims_data import CLAIMS, NAMES, judged, measured, verdicts_of

from pipeline.claims.verdicts import NotJudged
from reproduction.figures.errors_by_rank import COLUMNS
from reproduction.recalibration import ON_HALF, PAPERS_METHODS

C100 = [name for name in NAMES if name.endswith("c100")]
# ECE, percent, by method: as Guo et al. print them, roughly
PRINTED = {
    "uncalibrated": 10.0, "histogram_binning": 2.0, "isotonic_regression": 3.0, "bbq": 2.5,
    "temperature_scaling": 1.0, "vector_scaling": 1.1, "matrix_scaling": 1.5, "ms_odir": 1.2,
    "dir_odir": 1.3, "spline": 0.5, ON_HALF: 0.6,
}  # fmt: skip


MEASURED = ["value", "value_percent", "low_percent", "high_percent"]


def numbers(x):
    return x / 100, x, x - 0.4, x + 0.4


def measures(value, models=NAMES, source="real_logits", methods=PRINTED):
    """Return table ``measures``: ``value(model, method, measure)`` of every cell, percent."""
    names = ("ece", "ece25", "ece100", *COLUMNS, "accuracy", "overconfidence")
    rows = []
    for model, method, name in itertools.product(models, methods, names):
        if (method, model.endswith("imgnet")) != ("matrix_scaling", True):  # refused
            rows.append((model, method, name, *numbers(value(model, method, name))))
    table = pd.DataFrame(rows, columns=["model", "method", "measure", *MEASURED])
    return table.assign(source=source, published_percent=None, published_source="", needs="")


def printed(models=NAMES):
    """Return the measures as they are printed; the published values are those."""
    table = PRINTED_TABLE[PRINTED_TABLE["model"].isin(models)]
    return table.assign(published_percent=table["value_percent"])


def as_printed(model, method, name):
    if name == "accuracy":
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


@pytest.mark.parametrize("claim", [name for name in CLAIMS if name[0] in "GS" and name != "G07"])
def test_what_the_papers_print_is_reproduced_by_ten_real_files_alone(claim):
    verdict = judged(claim, measures=printed()).verdict
    assert verdict == ("approximate" if claim == "S06" else "reproduced")
    nine = judged(claim, measures=printed(NAMES[1:]))
    assert nine.verdict == verdict
    assert nine.models == ("7 of 8" if claim == "G04" else "9 of 10")


TWO = ["resnet110_c10", "densenet40_c10"]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        *(
            (claim, "reproduced")
            for claim in ("G02", "G03", "G05", "G06", "S01", "S02", "S04", "S05")
        ),
        ("G04", "needs_real_logits"),  # about hundreds of classes
    ],
)
def test_two_genuine_models_settle_what_the_rule_says_of_each(claim, verdict):
    judgement = judged(claim, measures=printed(TWO))
    models = "2 of 8" if claim == "G04" else "2 of 10"
    assert (judgement.verdict, judgement.models) == (verdict, models)
    is_open = f"{models} models have genuine outputs, and none" in judgement.reason
    assert is_open == (verdict != "reproduced")


def test_a_replication_on_other_networks_is_said_beside_the_verdict():
    others = measures(as_printed, models=["a_c10", "b_c100", "d_c10"])
    worse = (others["model"] == "d_c10") & (others["method"] == "temperature_scaling")
    others.loc[worse & others["measure"].isin(["ece", "ece25"]), "value_percent"] = 9.0
    table = printed(TWO)
    for claim, words in (
        ("G02", "the lowest of all methods 2 of 3 times, not for d_c10"),
        ("G03", "as claimed 2 of 3 times, not for d_c10"),
        ("G04", "as claimed 2 of 3 times, not for b_c100"),  # 20 % after is said of CIFAR-100
        ("G05", "lower than bbq 3 of 3 times"),
        ("G06", "as claimed 3 of 3 times"),
        ("S02", "below 1 % 3 of 3 times"),
        ("S03", "below 1 % 3 of 3 times"),
        ("S04", "as claimed 3 of 3 times"),
        ("S05", "as claimed 17 of 18 times, not for d_c10"),
    ):
        alone = judged(claim, measures=table)
        judgement = judged(claim, measures=table, replication=others)
        note = next(n for n in judgement.notes if words in n)
        assert note.startswith("replication on other networks (3 models)")
        assert (judgement.verdict, judgement.models) == (alone.verdict, alone.models)


def test_two_models_that_disagree_leave_a_count_open():
    table = changed(TWO[:1], "temperature_scaling", "ece", 9.0)
    judgement = judged("G02", measures=table[table["model"].isin(TWO)])
    assert (judgement.verdict, judgement.models) == ("needs_real_logits", "2 of 10")
    assert judgement.reason == "2 of 10 models have genuine outputs, and they disagree"


@pytest.mark.parametrize(
    ("claim", "models", "method", "name", "x", "verdict"),
    [
        ("G01", 1, "uncalibrated", "overconfidence", 0.4, "approximate"),
        ("G01", 5, "uncalibrated", "overconfidence", -1.0, "not_reproduced"),
        ("G02", 3, "temperature_scaling", "ece", 3.0, "reproduced"),
        ("G02", 4, "temperature_scaling", "ece", 3.0, "approximate"),
        ("G02", 5, "temperature_scaling", "ece", 1.9, "not_reproduced"),
        ("G03", 1, "vector_scaling", "ece", 1.5, "reproduced"),
        ("G03", 2, "vector_scaling", "ece", 1.5, "approximate"),
        ("G03", 5, "vector_scaling", "ece", 1.5, "not_reproduced"),
        ("G04", 3, "matrix_scaling", "ece", 11.0, "approximate"),
        ("G05", 6, "histogram_binning", "ece", 2.5, "approximate"),
        ("G05", 5, "histogram_binning", "ece", 3.1, "not_reproduced"),
        ("G06", 1, "temperature_scaling", "accuracy", 90.1, "not_reproduced"),
        ("G06", 3, "bbq", "accuracy", 90.0, "reproduced"),  # lower in 27 of 30 pairs
        ("S02", 1, "spline", "ks_top1", 1.2, "reproduced"),  # nine are below 1 %, and the lowest
        ("S02", 3, "spline", "ks_top1", 1.2, "approximate"),  # seven are, as many as printed
        ("S02", 4, "spline", "ks_top1", 1.2, "not_reproduced"),
        ("S02", 4, "temperature_scaling", "ks_top1", 0.4, "approximate"),  # but below 1 %
        ("S03", 2, "spline", "ks_within_top2", 1.0, "approximate"),
        ("S03", 5, "spline", "ks_within_top2", 1.2, "not_reproduced"),
        ("S04", 1, "spline", "accuracy", 90.01, "not_reproduced"),
        ("S05", 10, "temperature_scaling", "ece25", 10.5, "approximate"),  # four pairs of six
        ("S05", 10, "spline", "ece25", 11.0, "not_reproduced"),
    ],
)
def test_rules_turn_where_they_say(claim, models, method, name, x, verdict):
    table = changed(NAMES[:models], method, name, x)
    assert judged(claim, measures=table).verdict == verdict


@pytest.mark.parametrize(
    ("change", "verdict"),
    [(-0.1, "reproduced"), (0.1, "approximate"), (0.0, "not_reproduced")],
)
def test_g06_wants_binning_to_hurt_the_accuracy(change, verdict):
    def value(model, method, measure):
        binned = method in ("histogram_binning", "isotonic_regression", "bbq")
        return 90.0 + change * binned

    judgement = judged("G06", measures=measures(value))
    assert judgement.verdict == verdict
    counts = [
        measured(judgement, f"{how} after a binning method").value for how in ("lower", "other")
    ]
    assert counts == [30 * (change < 0), 30 * (change != 0)]


def test_g07_is_about_the_methods_of_guo_et_al():
    slow = fit_times().replace("bbq", "spline")
    assert judged("G07", fit_times=slow.assign(seconds=lambda t: t["seconds"].where(
        t["method"] != "spline", 1e-6))).verdict == "reproduced"  # fmt: skip


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


def test_s02_shows_the_spline_of_half_of_the_rows_without_logits():
    table = measures(as_printed, methods=["uncalibrated", ON_HALF], source="real_scores")
    judgement = judged("S02", measures=table)
    assert judgement.verdict == "needs_real_logits"
    assert [m.value for m in judgement.measurements] == [0.6] * 10


def test_few_models_are_not_judged():
    for claim in ("G01", "S06"):
        with pytest.raises(NotJudged, match="the rule wants 4"):
            judged(claim, measures=measures(as_printed, models=NAMES[:3]))


def fit_times(exponent=1.0, slowest=1.0):
    rows = [
        (method, n, 10, (1 + k) * (slowest if k else 1) * n**exponent, 0, 0, "a machine")
        for k, method in enumerate(("temperature_scaling", *PAPERS_METHODS[1:4]))
        for n in (1000, 2000, 4000)
    ]
    columns = "method n_samples n_classes seconds seconds_low seconds_high processor"
    return pd.DataFrame(rows, columns=columns.split())


@pytest.mark.parametrize(
    ("exponent", "slowest", "verdict"),
    [
        *((1.0, 1.0, "reproduced"), (1.0, 0.5, "approximate")),
        *((2.0, 1.0, "approximate"), (2.0, 0.3, "not_reproduced")),
    ],
)
def test_g07_wants_linear_time_and_the_fastest_temperature(exponent, slowest, verdict):
    judgement = judged("G07", fit_times=fit_times(exponent, slowest))
    assert judgement.verdict == verdict
    found = measured(judgement, "exponent of the number of samples", "temperature_scaling")
    assert (found.value, found.error) == pytest.approx((exponent, 0), abs=1e-9)
    assert "measured on a machine" in judgement.notes
    assert ("faster than temperature" in judgement.reason) == (slowest < 0.5)  # at 0.5 one ties
    ratio = measured(judgement, "time over temperature scaling's", "bbq")
    assert (ratio.low, ratio.high) == pytest.approx((4 * slowest, 4 * slowest))


OTHERS = "other networks: selects as TCE"


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


def test_r26_shows_other_networks_apart():
    table = pd.concat([selections(3, 7), selections(2, 1, models=["a", "b", "c"])])
    judgement = judged("R26", recalibration_selection=table)
    for name, n in (("ece_bin_ew", 2), ("ece_sweep_em", 1)):
        (found,) = (m for m in judgement.measurements if (m.name, m.case) == (OTHERS, name))
        assert (found.value, found.unit) == (n, "of 3 models")


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
    assert [note.partition(" under ")[2] for note in notes] == ends
