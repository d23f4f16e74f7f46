"""The comparison of two models against its formulas, fold by fold and row by row."""

import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import t

from calbias.auditing import compare as module
from calbias.auditing.compare import Comparison, compare
from calbias.auditing.verdict.judge import judge
from calbias.engine.posterior import ONE_DEVIATION, curve_of
from calbias.engine.seeding import stream
from calbias.samples.by_score import Scored


def asked(found, x):
    """The comparison, asked whether the first is no worse by x."""
    return replace(found, options=found.options._replace(within=x))


def cluster_sums(values, ids):
    return np.array([values[ids == k].sum() for k in range(ids.max() + 1)])


def curve_beside(model, fold, k, effect):
    """The curve of the rows outside fold k at the scores inside."""
    outside = Counter(zip(*(x[fold != k].tolist() for x in model), strict=True))
    values = sorted({score for score, _ in outside})
    hits = np.array([outside[value, 1.0] for value in values])
    rows = hits + [outside[value, 0.0] for value in values]
    average = module.smooth_average(np.array(values), rows, hits, effect)
    return curve_of(average, model[0][fold == k], ONE_DEVIATION)


def textbook(models, ids, level, effects):
    """The estimates and intervals by the formulas of compare.py, fold by fold; ids from 0."""
    n, size = ids.size, ids.max() + 1
    of_cluster = [
        cluster_sums(x, ids)
        for m in sorted(models, key=lambda m: (sorted(m[0]), sorted(zip(*m, strict=True))))
        for x in m
    ]
    order = sorted(range(size), key=lambda g: [x[g] for x in of_cluster[::-1]])
    generator, psi, chance = stream(0, "folds of a comparison"), np.zeros(n), np.zeros(n)
    for _ in range(2):
        drawn = generator.permutation(size) % 5
        fold = np.array([drawn[order.index(g)] for g in ids])
        for k in range(5):
            rows = np.flatnonzero(fold == k)
            curves = [
                curve_beside(m, fold, k, effect) for m, effect in zip(models, effects, strict=True)
            ]
            for j, i in enumerate(rows):
                g = [np.sign(c.mean[j] - m[0][i]) for c, m in zip(curves, models, strict=True)]
                r = [m[1][i] - m[0][i] for m in models]
                psi[i] += (g[0] * r[0] - g[1] * r[1]) / 2
                for c in curves:
                    ends = [ndtr((m[0][i] - c.mean[j]) / c.deviation[j]) for m in models]
                    chance[i] += abs(ends[0] - ends[1]) / 4
    m = (models[0][0] + models[1][0]) / 2
    least = max(effects) * np.sum(chance * m * (1 - m))
    seen = size * cluster_sums(psi - psi.mean(), ids).var(ddof=1)
    se = math.sqrt(max(seen, least)) / n
    errors = []
    for (scores, hits), effect in zip(models, effects, strict=True):
        clusters = ids if size < n else None
        sample = Scored.of(scores, hits, clusters=clusters)
        low, high = module.calibration_interval(sample, effect).at(1, level)
        error = module.posterior_average(sample.scores, sample.rows, sample.hits, effect).l1
        errors.append(np.clip(error, low, high))
    d, law = errors[0] - errors[1], t(size - 1)
    low, high = min(psi.mean(), d), max(psi.mean(), d)
    brier = (models[0][0] - models[0][1]) ** 2 - (models[1][0] - models[1][1]) ** 2
    half = law.ppf((1 + level) / 2) * math.sqrt(size * cluster_sums(brier, ids).var(ddof=1)) / n
    first, reference = ((p - y) ** 2 for p, y in models)
    ratio = first.mean() / reference.mean()
    of_row = (ratio * reference - first) / reference.mean()
    skill = law.ppf((1 + level) / 2) * math.sqrt(size * cluster_sums(of_row, ids).var(ddof=1)) / n
    return {
        "error_first": errors[0],
        "error_second": errors[1],
        "difference": d,
        "low": low - law.ppf((1 + level) / 2) * se,
        "high": high + law.ppf((1 + level) / 2) * se,
        "p_value": max(2 * law.sf(max(low, -high, 0) / se), 1e-6),
        "brier_difference": brier.mean(),
        "brier_low": brier.mean() - half,
        "brier_high": brier.mean() + half,
        "brier_skill": 1 - ratio,
        "skill_low": 1 - ratio - skill,
        "skill_high": 1 - ratio + skill,
    }, seen > least


def textbook_case(name):
    """Scores of two models, hits of both, cluster ids from 0, level, is the spread of psi se²."""
    generator = np.random.default_rng(9)
    if name == "rows":
        q = generator.choice([0.0523, 0.1871, 0.3309, 0.4912, 0.7345, 0.9017], 40)  # no steps
        scores = q, generator.random(40)
        return scores, [generator.random(40) < q] * 2, np.arange(40), 0.9, True
    if name == "rare events":
        q = generator.beta(1, 20, 20)
        return (np.sqrt(q), q), [np.zeros(20) > 0] * 2, np.arange(20), 0.8, False
    if name == "other hits at the same scores":
        q, hits = generator.beta(2, 1, 40), generator.random((2, 40)) < 0.7
        return (q, generator.permutation(q)), list(hits), np.arange(40), 0.95, True
    if name == "clusters":
        q, ids = np.repeat(generator.random(12), 3), generator.permutation(np.arange(36) // 3)
        scores = np.repeat(generator.random(12), 3)[np.argsort(ids, kind="stable")]
        return (q, scores), [np.arange(36) % 3 > 0] * 2, ids, 0.95, True
    ids = generator.permutation(np.r_[np.arange(11).repeat(3), 10])
    q = generator.uniform(0.8, 0.99, 34)
    return (q - 0.3, q), [ids > -1] * 2, ids, 0.95, False


@pytest.fixture
def once(monkeypatch):
    """The averages and intervals of the audits are worked out once for equal input."""

    def of_equal(function, found):
        def call(*given):
            columns = (getattr(x, name, x) for x in given for name in ("scores", "rows", "hits"))
            key = b"".join(np.asarray(x, float).tobytes() for x in columns)
            return found[key] if key in found else found.setdefault(key, function(*given))

        return call

    for name in ("posterior_average", "smooth_average", "calibration_interval"):
        monkeypatch.setattr(module, name, of_equal(getattr(module, name), {}))


@pytest.mark.parametrize(
    "name", ["rows", "rare events", "other hits at the same scores", "clusters", "without a miss"]
)
@pytest.mark.usefixtures("once")
def test_the_result_by_its_formulas(name):
    """And its mirror image, of the models and the rows in another order."""
    scores, hits, ids, level, is_spread = textbook_case(name)
    clusters, effects = None, (1.0, 1.0)
    if name in ("clusters", "without a miss"):
        clusters = np.char.add("c", ids.astype(str))
        facts = [judge(Scored.of(s, hits[0], clusters=clusters)).cluster_facts for s in scores]
        effects = tuple(max(each.design_effect, 1.0) for each in facts)
    models = tuple((s, y.astype(float)) for s, y in zip(scores, hits, strict=True))
    expected, by_spread = textbook(models, ids, level, effects)
    found = compare(*scores, tuple(hits), clusters=clusters, confidence_level=level)
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=1e-9)
    assert by_spread == is_spread
    assert found.n_clusters == (None if clusters is None else ids.max() + 1)
    order = np.argsort(-scores[1] + ids / 100)
    if clusters is not None:
        clusters = clusters[order]
    models = {"scores_a": scores[1][order], "scores_b": scores[0][order]}
    models["hits"] = hits[1][order], hits[0][order]
    other = compare(**models, clusters=clusters, confidence_level=level)
    for end in ("difference", "low", "brier_low"):
        mirrored = getattr(other, end.replace("low", "high"))
        assert getattr(found, end) == pytest.approx(-mirrored, rel=1e-9)
    assert name != "rare events" or found.better is None


def numbers(sentence):
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?(?:e-\d+)?", sentence)]


FOUND = Comparison(40, 0.1234, 0.0567, 0.0667, 0.0123, 0.0978, 0.0123, -0.02, -0.04, -0.0012)


def test_the_sentence_has_the_numbers():
    brier = [-2.0, -4.0, -0.12]
    of_errors = [12.3, 5.7, 6.67, 1.23, 9.78, 95]
    assert numbers(FOUND.sentence) == [40, *of_errors, 0.012, *brier]
    assert "second is better calibrated" in FOUND.sentence
    assert "first has the lower Brier score" in FOUND.sentence
    least = replace(FOUND, p_value=1e-6, n_clusters=12, brier_low=-0.0, brier_high=0.01)
    assert numbers(least.sentence) == [40, 12, *of_errors, 1e-6, -2, 0, 1]
    assert "p < 1e-06" in least.sentence
    assert "neither" in least.sentence
    assert "neither" in replace(least, brier_low=-0.1, brier_high=0.0).sentence
    assert replace(FOUND, p_value=0.05).better == "second"
    assert replace(FOUND, p_value=0.0501).better is None
    assert replace(FOUND, difference=-0.0667).better == "first"
    assert "second has the lower" in replace(FOUND, brier_difference=0.02, brier_low=0.01).sentence
    assert "é" in replace(FOUND, first="é").to_json()
    assert str(FOUND) == FOUND.sentence
    with pytest.raises(AttributeError):
        FOUND.n = 3


def test_how_many_rows_or_clusters_would_decide():
    """6 points: the low end is 5.44 from the estimate, and 0.67 of these would leave 6 out."""
    n = 40 * (5.44 / 0.67) ** 2
    for found, size in ((FOUND, n), (replace(FOUND, n_clusters=10), n / 4)):
        *_, x, needed = numbers(asked(found, 0.06).sentence)
        assert (x, needed) == (6, pytest.approx(size, rel=0.05))
    told = asked(FOUND, 0.01).sentence
    assert told == f"{FOUND.sentence[:-1]}; first no worse than second by more than 1 point: no."
    assert [FOUND.within(x) for x in (0.0978, 0.0122, 0.06)] == ["yes", "no", "undecided"]


def test_a_clear_difference_has_the_least_p():
    hits = np.arange(500) % 2
    clear = compare(np.full(500, 0.99), np.full(500, 0.5), hits, by=np.arange(500) % 3 > 0)
    assert clear.p_value == clear.subgroups.p_value == 1e-6
