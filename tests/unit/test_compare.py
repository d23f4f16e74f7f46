"""Which of two models is better calibrated: by hand, level, power, files, refusals."""

import numpy as np
import pandas as pd
import pytest
from refusals import refuses
from scipy.special import expit, logit

from calbias import InputError
from calbias.auditing.compare import compare
from calbias.auditing.compare_files import compare_files
from calbias.logits.columns import Columns


def drawn(n=300, seed=0, decimals=9):
    generator = np.random.default_rng(seed)
    scores = generator.beta(3, 1, n).round(decimals)
    return scores, (generator.random(n) < scores**1.4).astype(np.uint8)


def shifted(rate, shift):
    return expit(logit(np.clip(rate, 1e-9, 1 - 1e-9)) + shift)


def test_the_clearly_better_model_is_found():
    generator = np.random.default_rng(1)
    q = generator.beta(2, 2, 1000)
    hits = generator.random(1000) < q
    other = compare(expit(2.5 * logit(q)), expit(1.2 * logit(q)), hits, names=("a", "b"))
    assert other.better == "b"
    assert str(other) == other.sentence
    assert "b is better calibrated" in other.sentence
    assert (other.within(0.5), other.within(0.001)) == ("yes", "no")
    assert other.within(other.difference) == "undecided"
    told = f"{other.sentence[:-1]}; a no worse than b by more than 0.1 points: no."
    assert other.sentence_within(0.001) == told
    with pytest.raises(AttributeError):
        other.n = 3


def test_no_model_is_better_than_itself():
    scores, hits = drawn(100)
    itself = compare(scores, scores.copy(), hits)
    assert (itself.difference, itself.low, itself.high) == (0, 0, 0)
    assert (itself.brier_difference, itself.better, itself.p_value) == (0, None, 1)
    assert "no difference found" in itself.sentence


def test_nearly_the_same_models_have_a_narrow_interval():
    """One point apart: the errors differ by at most that, and each is known to eight points."""
    scores, hits = drawn(1000)
    found = compare(scores, scores - 0.01 * scores, hits)
    assert -0.01 < found.low < found.high < 0.01 + 0.01


def test_few_events_do_not_look_certain():
    """Without events, and with 20 hits, which 0.75, between both scores, has with chance 0.003."""
    risk = np.random.default_rng(0).beta(0.6, 20, 40)
    found = compare(risk, shifted(risk, 1.0), np.zeros(40))
    assert found.better is None
    constant = compare(np.full(20, 0.9), np.full(20, 0.6), np.ones(20))
    assert 0.001 < constant.p_value < 0.03


def test_a_slope_is_told_from_calibration():
    """Slope 1.7, n = 500, 7.6 points: two intervals put together did not find it."""
    generator = np.random.default_rng(0)
    rate = generator.random(500)
    hits = generator.random(500) < rate
    found = compare(rate, expit(1.7 * logit(rate)), hits)
    assert found.better == "first"
    assert found.p_value < 0.05


@pytest.mark.nightly
@pytest.mark.slow
def test_equally_wrong_models_of_rare_events_keep_the_level():
    """The former test called one of them better in 20 % (n = 100)."""
    rejected = 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        rate = generator.beta(0.6, 20, 100)
        hits = generator.random(100) < rate
        rejected += compare(shifted(rate, 0.7), shifted(rate, -1.365), hits).p_value <= 0.05
    assert rejected <= 3


S, Y = drawn(30)
test_bad_arguments = refuses(
    compare,
    (S, S[:-1], (Y, Y[:-1]), "30 rows in the first and 29 in the second: give the same rows"),
    (S[:9], S[:9], Y[:9], "9 rows are too few to compare two models by: give at least 20"),
    (S, S + 1, Y, "is not a probability"),
)
test_bad_options = refuses(
    lambda **options: compare(S, S, Y, **options),
    ({"confidence_level": 1.0}, "confidence_level must be above 0 and below 1, not 1"),
    (
        {"clusters": [1] * 29},
        r"clusters must be one id for each of the 30 rows: .* \(29,\)",
    ),
    ({"clusters": [1] * 30}, "1 cluster: give at least 10"),
    ({"confidence_level": "0.9"}, "confidence_level must be above 0 and below 1, not 0.9"),
    ({"clusters": [*range(29), None]}, r"row 29 \(counted from 0\): the cluster id is missing"),
    ({"clusters": [*range(29), np.nan]}, r"row 29 \(counted from 0\): the cluster id is missing"),
)


def files(tmp_path, first, second):
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    for path, columns in zip(paths, (first, second), strict=True):
        pd.DataFrame(columns).to_csv(path, index=False)
    return paths


def test_an_event_and_top_label_scores_are_not_compared(tmp_path):
    event, wide = {"label": Y, "score": S}, {"label": Y, "p0": 1 - S, "p1": S}
    paths = files(tmp_path, event, {"score": S, "hit": Y})
    with pytest.raises(
        InputError, match=r"a\.csv holds the probabilities of an event and .*b\.csv"
    ):
        compare_files(*paths)
    itself = compare_files(*files(tmp_path, event, wide))
    assert itself.difference == pytest.approx(0, abs=1e-6)
    assert itself.better is None
    assert (itself.first, itself.second) == ("a", "b")


def test_files_of_other_rows_are_refused(tmp_path):
    other = np.where(np.arange(30) == 4, 1 - Y, Y)
    event = {"label": Y, "score": S}
    paths = files(tmp_path, event, {"label": other, "score": S})
    with pytest.raises(InputError, match=r"b.csv: row 4 \(counted from 0\) has label"):
        compare_files(*paths)


def test_two_columns_of_one_file(tmp_path):
    path, _ = files(tmp_path, {"a": S, "b": S**2, "y": Y}, {"x": [1]})
    found = compare_files(path, score=("a", "b"), columns=Columns(label="y"))
    assert (found.first, found.second) == ("a", "b")
    assert found.difference == pytest.approx(compare(S, S**2, Y).difference)


def test_files_are_joined_by_an_id(tmp_path):
    ids = np.arange(30)
    order = np.random.default_rng(0).permutation(30)[:25]
    one = {"score": S, "hit": Y, "key": [f"k{k}" for k in ids]}
    other = {"score": (S**2)[order], "hit": Y[order], "key": [f"k{k}" for k in ids[order]]}
    found = compare_files(*files(tmp_path, one, other), id="key")
    direct = compare(S[order], (S**2)[order], (Y[order], Y[order]))
    assert (found.n, found.difference) == (25, pytest.approx(direct.difference))


def compared(tmp_path, id=None, keys=("a", "b"), score=(), one_file=False):
    paths = files(tmp_path, *({"score": S, "hit": Y, "key": [f"{key}{k // 2}" for k in range(30)]}
                              for key in keys))  # fmt: skip
    compare_files(*paths[: 2 - one_file], id=id, score=score)


test_files_that_cannot_be_compared = refuses(
    compared,
    ({"id": "key"}, "--id key: a0 stands in several rows"),
    ({"id": "kye"}, "there is no column 'kye'"),
    ({"one_file": True}, "two models are compared: give two files, or one file with --score"),
    ({"score": ("score", "score", "score")}, "two models are compared"),
)


def test_tenths_and_percentages_of_one_calibrated_model_do_not_differ():
    """Where the density bends within a step, tenths have 1 to 2 points more error than they say."""
    generator = np.random.default_rng(0)
    rates = np.r_[generator.beta(60, 12, 18_000), generator.beta(3, 5, 12_000)]
    hits = generator.random(30_000) < rates
    found = compare(rates.round(1), rates.round(2), hits)
    assert found.error_first > 0.01
    assert found.better is None
