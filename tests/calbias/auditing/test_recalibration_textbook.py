"""The recalibrations of an audit against their formulas, and clusters by hand."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refuses
from scipy.optimize import brentq, fsolve, isotonic_regression, minimize_scalar
from scipy.special import expit, log_softmax, logit, softmax
from scipy.stats import binom, norm

from calbias.auditing.inputs import prepared
from calbias.auditing.recalibrations import recalibration_table
from calbias.auditing.verdict.clusters import (
    cluster_codes,
    cluster_warnings,
    clusters_with_rarer,
    design_effect,
    validate_cluster_number,
    whole_clusters_p_value,
)
from calbias.defaults import holm
from calbias.engine.seeding import stream
from calbias.errors import InputError


def fitted(method, s, y, z, labels):
    """Return a map (scores, logits) → scores, and its parameter."""
    x = logit(s)
    if method == "shift":
        a = brentq(lambda a: np.sum(expit(x + a) - y), -20, 20, xtol=1e-13)
        return lambda s, z: expit(logit(s) + a), a
    if method == "platt":

        def slopes(at):
            residual = y - expit(at[0] + at[1] * x)
            return residual.sum(), residual @ x

        a, b = fsolve(slopes, (0.0, 1.0), xtol=1e-12)
        return lambda s, z: expit(a + b * logit(s)), np.nan
    if method == "slope":
        b = brentq(lambda b: np.sum(x * (expit(b * x) - y)), -20, 20, xtol=1e-13)
        return lambda s, z: expit(b * logit(s)), b
    if method == "isotonic":
        order = np.argsort(s)
        values = isotonic_regression(y[order]).x
        line = fitted("platt", s, y, z, labels)[0](s[order], z)
        step = np.unique(values, return_inverse=True)[1]
        size = np.bincount(step)
        shares = (np.bincount(step, y[order]) + np.bincount(step, line) / size) / (size + 1)
        values = isotonic_regression(shares, weights=size + 1).x[step]
        return lambda at, z: np.interp(at, s[order], values), np.nan
    rows = np.arange(labels.size)
    b = minimize_scalar(
        lambda b: -np.sum(log_softmax(b * z, axis=1)[rows, labels]), (0.1, 2), tol=1e-12
    ).x
    return lambda s, z: softmax(b * z, axis=1).max(axis=1), 1 / b


def textbook(z, labels, ids, methods):
    """{method: {column: value}} by five folds, each judged by the maps of the other four."""
    s, y, n = softmax(z, axis=1).max(axis=1), (z.argmax(axis=1) == labels) * 1.0, labels.size
    order = np.lexsort((y, ids, s))
    s, y, ids, z, labels = s[order], y[order], ids[order], z[order], labels[order]
    units = ids.max() + 1
    fold = stream(0, "recalibration", str(units)).permutation(units) % 5
    fold = fold if units == n else fold[ids]
    found = {}
    for method in methods:
        after = np.empty(n)
        for k in range(5):
            out = fold != k
            after[~out] = fitted(method, s[out], y[out], z[out], labels[out])[0](s[~out], z[~out])
        fall = (s - y) ** 2 - (after - y) ** 2
        sums = fall - fall.mean() if units == n else np.bincount(ids, fall - fall.mean())
        error = np.sqrt(np.sum(sums**2) * units / (units - 1)) / n
        found[method] = {
            "brier_before": np.mean((s - y) ** 2),
            "brier_after": np.mean((after - y) ** 2),
            "gain": fall.mean(),
            "gain_se": error,
            "p_value": 2 * norm.sf(abs(fall.mean()) / error),
            "parameter": fitted(method, s, y, z, labels)[1],
        }
    return found


@pytest.mark.parametrize(("clustered", "misses"), [(False, 100), (True, 100), (False, 99)])
def test_the_table_by_its_formulas(clustered, misses):
    """A hundred misses of 240 bear every method, 99 those of one parameter."""
    generator = np.random.default_rng(2)
    z = generator.normal(0, 2, (240, 3))
    miss = np.argsort(z.max(axis=1) + generator.normal(0, 2, 240))[:misses]
    labels = z.argmax(axis=1)
    labels[miss] = (labels[miss] + 1) % 3
    ids = generator.permutation(240) // 4 if clustered else np.arange(240)
    methods = ["shift", "slope", "temperature"] if misses < 100 else [
        "shift", "platt", "isotonic", "temperature"]  # fmt: skip
    expected = textbook(z, labels, ids, methods)
    clusters = np.char.add("c", np.char.zfill(ids.astype(str), 3)) if clustered else None
    data = prepared(logits=z, labels=labels, clusters=clusters, top_label=True)
    found = recalibration_table(data)
    assert list(found.index) == sorted(methods, key=lambda name: -expected[name]["gain"])
    for method, row in expected.items():
        columns = found.loc[method, list(row)].to_dict()
        assert columns == pytest.approx(row, rel=2e-6, abs=1e-9, nan_ok=True)
        assert found.loc[method, "injective"] == (method != "isotonic")
    assert set(found["validation_rows"]) == {0}
    assert found["least"].max() < 1e-9 < 1 - 1e-9 < found["greatest"].min()
    plain = recalibration_table(prepared(data.rows.score, data.rows.hit, clusters=clusters))
    columns = ["gain", "gain_se", "parameter"]
    rest = found.loc[plain.index, columns].to_numpy()
    assert plain[columns].to_numpy() == pytest.approx(rest, rel=1e-9, nan_ok=True)
    assert {*found.index} - {*plain.index} == {"temperature"}
    gains = found["gain"] > 0
    assert found["helps"].tolist() == (gains & (holm(found["p_value"]) <= 0.05)).tolist()


def test_a_map_that_changes_nothing_has_no_gain_and_p_1():
    """Half of the validation fold, of scores ½, are hits: the shift is 0."""
    data = prepared(np.full(60, 0.5), np.arange(60) % 2)
    row = recalibration_table(replace(data, validation=data)).loc["shift"]
    assert (row["gain"], row["gain_se"], row["p_value"], row["helps"]) == (0, 0, 1, False)
    assert row["validation_rows"] == 60
    harm = replace(data, validation=prepared(np.full(60, 0.5), np.arange(60) % 10 > 0))
    row = recalibration_table(harm).loc["shift"]
    assert (row["gain"] < 0, row["p_value"] < 0.01, row["helps"]) == (True, True, False)


def test_design_effect_by_sums_of_each_bin_and_cluster():
    generator = np.random.default_rng(0)
    residual, bins, codes = (
        generator.normal(0, 0.01, 60),
        *generator.integers(0, [[4], [7]], (2, 60)),
    )
    cells = [[residual[(bins == b) & (codes == g)] for g in range(7)] for b in range(4)]
    with_clusters = sum(np.sqrt(sum(r.sum() ** 2 for r in row)) for row in cells)
    without = sum(np.sqrt(sum(np.sum(r**2) for r in row)) for row in cells)
    found = design_effect(residual, residual**2, bins, codes)
    assert found == pytest.approx((with_clusters / without) ** 2)
    assert design_effect(0 * residual, 0 * residual, bins, codes) == 0


@pytest.mark.parametrize(
    ("means", "rates"),
    [([0.3] * 9 + [0.35], [0.5] * 10), ([0.1] * 12, [0.4] * 12), ([0.6] * 10, [0.55] * 10),
     ([0.6] * 5, [0.1] * 5), ([0.95] * 10, [0.0] * 10), ([0.2] * 10, [0.3] * 10),
     ([0.2] * 10, [0.45] * 10), ([0.6] * 10, [1.0] * 10), ([0.05] * 10, [0.0] * 10),
     ([0.5] * 10, [0.5] * 10)],
)  # fmt: skip
def test_whole_clusters_by_the_least_mean_excess(means, rates):
    """The least E(B − t)₊/(c − t) on a fine grid of t, above and below."""
    number, expected = len(means), sum(means)
    apart, bound = abs(sum(rates) - expected) - 1e-9, 0.0
    for c, chance in (
        (expected + apart, expected / number),
        (number - expected + apart, 1 - expected / number),
    ):
        chances = binom.pmf(np.arange(number + 1), number, chance)
        t = np.unique(np.r_[np.arange(-5, c), np.linspace(-5, c - 1e-3, 4001)])
        excess = np.maximum(np.arange(number + 1) - t[:, None], 0) @ chances
        bound += min(np.min(excess / (c - t)), 1) if c <= number else 0
    p = whole_clusters_p_value(np.array(means), np.array(rates))
    assert p == pytest.approx(min(bound, 1), abs=1e-3)


@pytest.mark.parametrize(("number", "share", "chance"), [(20, 8 / 9, 0.228), (100, 2 / 3, 0.0035)])
def test_whole_clusters_of_shares_below_one_keep_their_size(number, share, chance):
    """Clusters without a hit, or with 8 of 9: by the binomial tail 0.096 were called wrong."""
    hits = np.arange(number + 1)
    p = [
        whole_clusters_p_value(np.full(number, share * chance), share * (np.arange(number) < k))
        for k in hits
    ]
    assert binom.pmf(hits, number, chance)[np.array(p) <= 0.05].sum() <= 0.05


def test_clusters_with_a_hit_or_a_miss():
    codes = np.array([0, 0, 1, 2, 3])
    assert clusters_with_rarer(codes, np.array([1, 2, 2, 2, 1]), np.array([1, 0, 0, 0, 1])) == 2
    assert clusters_with_rarer(codes, np.array([1, 0, 0, 0, 1]), np.array([1, 2, 2, 2, 1])) == 2


def test_limits_of_few_clusters():
    validate_cluster_number(10)
    for number, words in ((9, "9 clusters: give at least 10"), (1, "1 cluster: give")):
        with pytest.raises(InputError, match=words):
            validate_cluster_number(number)
    assert [len(cluster_warnings(*few)) for few in ((30, 10), (29, 10), (30, 9), (29, 9))] == [
        0, 1, 1, 2]  # fmt: skip


def test_forms_of_ids():
    one, pairs = [0, 1, 0, 2], np.array([[1, 2], [1, 3], [1, 2], [2, 2]])
    mixed = np.array([1, "a", 1, "b"], object)
    for ids in ([5, 7, 5, 10], [[5, 7, 5, 9]], mixed, tuple("abac"), np.array([1.5, 2, 1.5, 3]),
                pairs, [[1, 1, 1, 2], ["x", "y", "x", "x"]], list(pairs.T)):  # fmt: skip
        codes, number = cluster_codes(ids, 4)
        assert (codes.tolist(), number, codes.dtype) == (one, 3, np.int64)
    assert cluster_codes([[1, 1], [1, 2]], 2)[1] == 2  # two columns of two rows
    assert cluster_codes([[1, 0], [1, 2], [1, 0]], 2)[1] == 2


test_bad_ids = refuses(
    lambda ids: cluster_codes(ids, 3),
    (["a", "b", "<NA>"], "row 2"),
    (np.array(["a", "", "b"]), "row 1"),
    (np.array([np.nan, 2.0, np.nan]), "row 0"),
    ([], r"their shape is \(0,\)"),
    ([[1, 2, 3], [1, None, 3]], "row 1"),
    ([[1, 2, 3], [1, 2]], r"one id for each of the 3 rows: their shape is \(2,\)"),
)
