"""Which of two models is better calibrated: level, power, files, refusals."""

import numpy as np
import pandas as pd
import pytest
from refusals import refuses
from scipy.special import expit, logit

from calbias.auditing import compare_files as of_files
from calbias.auditing.compare import compare
from calbias.auditing.compare_files import compare_files
from calbias.logits.columns import Columns


def drawn(n=300, seed=0, decimals=9):
    generator = np.random.default_rng(seed)
    scores = generator.beta(3, 1, n).round(decimals)
    return scores, (generator.random(n) < scores**1.4).astype(np.uint8)


def shifted(rate, shift):
    return expit(logit(np.clip(rate, 1e-9, 1 - 1e-9)) + shift)


S, Y = drawn(30)


def test_no_model_is_better_than_itself():
    itself = compare(S, S.copy(), tuple(Y))
    assert (itself.difference, itself.low, itself.high) == (0, 0, 0)
    assert (itself.brier_difference, itself.better, itself.p_value) == (0, None, 1)
    assert "no difference found" in itself.sentence


def test_nearly_the_same_models_have_a_narrow_interval():
    """One point apart: the errors differ by at most that, and each is known to eight points."""
    scores, hits = drawn(1000, decimals=1)
    found = compare(scores, scores - 0.01 * scores, hits)
    assert -0.01 < found.low < found.high < 0.01 + 0.01


def test_few_events_do_not_look_certain():
    """Of 20 hits, which 0.75, between both scores, has with chance 0.003."""
    constant = compare(np.full(20, 0.9), np.full(20, 0.6), np.ones(20))
    assert 0.001 < constant.p_value < 0.03


@pytest.mark.nightly
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


test_bad_arguments = refuses(
    compare,
    (S, S[:-1], (Y, Y[:-1]), "30 rows in the first and 29 in the second: give the same rows"),
    (S[:19], S[:19], Y[:19], "19 rows are too few to compare two models by: give at least 20"),
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


@pytest.fixture
def given(monkeypatch):
    """What the comparisons of files are given."""
    calls = []
    monkeypatch.setattr(
        of_files, "compare", lambda *models, **options: calls.append((*models, options))
    )
    return calls


def test_an_event_has_one_column_of_probabilities_or_two(tmp_path, given):
    event, wide = {"label": Y, "score": S}, {"label": Y, "p0": 1 - S, "p1": S}
    compare_files(*files(tmp_path, event, wide))
    ((first, second, hits, options),) = given
    assert first == pytest.approx(S)
    assert second == pytest.approx(S)
    assert [y.tolist() for y in hits] == [Y.tolist()] * 2
    assert (options["clusters"], options["names"]) == (None, ("a", "b"))


def test_two_columns_of_one_file_and_files_joined_by_an_id(tmp_path, given):
    path, _ = files(tmp_path, {"b": S, "c": S**2, "y": Y}, {"x": [1]})
    compare_files(path, score=("b", "c"), columns=Columns(label="y"))
    order = np.random.default_rng(0).permutation(30)[:25]
    one = {"score": S, "hit": Y, "key": [f"k{k:02}" for k in range(30)]}
    other = {"score": (S**2)[order], "hit": Y[order], "key": [f"k{k:02}" for k in order]}
    compare_files(*files(tmp_path, one, other), id="key")
    for (first, second, hits, options), rows, names in zip(
        given, (np.arange(30), np.sort(order)), (("b", "c"), ("a", "b")), strict=True
    ):
        assert first == pytest.approx(S[rows])
        assert second == pytest.approx((S**2)[rows])
        assert [y.tolist() for y in hits] == [Y[rows].tolist()] * 2
        assert options["names"] == names


def compared(tmp_path, id=None, score=(), one_file=False, first=None):
    same = {"label": Y, "score": S, "key": [f"a{k // 2}" for k in range(30)]}
    paths = files(tmp_path, first or same, same)
    compare_files(*paths[: 2 - one_file], id=id, score=score)


test_files_that_cannot_be_compared = refuses(
    compared,
    (
        {"first": {"label": np.where(np.arange(30) == 4, 1 - Y, Y), "score": S}},
        r"b.csv: row 4 \(counted from 0\) has label",
    ),
    ({"first": {"score": S, "hit": Y}}, r"a\.csv holds top-label scores and .*b\.csv the prob"),
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
