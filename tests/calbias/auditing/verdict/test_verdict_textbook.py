"""Parts of the verdict against slow versions: cells, redraws, surprise, signs, numbers, words."""

import math
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm, t
from test_finding_textbook import fit
from test_verdict import observed_statistics, oracle
from verdicts import judge

from calbias.auditing.verdict.finding import Finding, finding_of, line_of
from calbias.auditing.verdict.groups import cell_starts, ends_of, groups_of, groups_of_rows
from calbias.auditing.verdict.redraws import (
    _atoms_of_enough,
    _drawn,
    draw,
    pooled_p_value,
    signed_pool,
    surprise,
    surprise_against,
    widening,
)
from calbias.auditing.verdict.statistics import PARTS, statistics_of
from calbias.auditing.verdict.verdict_result import impossible_outcomes
from calbias.auditing.verdict.words import SPREAD, digits_of, sentence_of
from calbias.engine.seeding import digest_of, stream
from calbias.samples.by_score import Scored


def study(n=60, seed=0, tied=False):
    generator = np.random.default_rng(seed)
    scores = generator.beta(2, 1, n)
    if tied:
        scores = generator.choice([0.1234567, 0.4567891, 0.7654321, 0.9123456], n)
    return scores, (generator.random(n) < 0.8 * scores).astype(int)


def evidence_by_ranks(pool, values, k, is_part):
    """e of column k: −log of the share as large; beyond the 20th an exponential tail."""
    if k in (0, 2, 4):
        pool, values = pool * abs(pool), values * abs(values)
    n, largest, found = pool.size + (not is_part), np.sort(pool)[::-1], []
    for value in values:
        e = -math.log((np.sum(pool >= value) + (not is_part)) / n)
        if pool.size > 100 and value > largest[19] > largest[99]:
            rate = math.log(100 / 20) / (largest[19] - largest[99])
            e = math.log(n / 20) + (value - largest[19]) * rate
        found.append(e)
    return found


@pytest.mark.parametrize("size", [100, 101, 300])
def test_evidence_by_ranks_and_an_exponential_tail(size):
    generator = np.random.default_rng(1)
    pool, values = generator.exponential(size=(size, 6)), 3 * generator.exponential(size=(50, 6))
    pool[:, 3] = 1.0  # a column that tells nothing
    pool[:, 4] -= 2
    values[:3] = pool[:3]
    inside, outside = surprise(pool), surprise_against(pool, values)
    for k in range(6):
        assert inside[:, k] == pytest.approx(evidence_by_ranks(pool[:, k], pool[:, k], k, True))
        against = evidence_by_ranks(pool[:, k], values[:, k], k, False)
        assert outside[:, k] == pytest.approx(against)
    p, own = pooled_p_value(inside)
    assert p == np.mean(inside.max(axis=1) >= inside[0].max())
    assert own == pytest.approx(np.mean(inside >= inside[0], axis=0))


@pytest.mark.parametrize("n", [4096, 4097])
def test_redraws_count_words_below_the_chance_or_are_binomial(n):
    """500 data sets at once; up to 4096 rows each row has a word of 32 bits."""
    size, first = np.array([n - 3000, 1000, 1500, 500]), np.array([0, 1, 3])
    chance = np.array([0.3, 1e-3, 0.5, 1.0])
    blocks = list(_drawn(first, size, chance, stream(0, "test"), 503))
    assert [block.shape for block in blocks] == [(3, 500), (3, 3)]
    generator, limits = stream(0, "test"), np.minimum(np.round(chance * 2**32), 2**32 - 1)
    cell = np.repeat([0, 1, 1, 2], size)
    for block in blocks:
        if n <= 4096:
            words = generator.integers(0, 2**32, (n, block.shape[1]), np.uint32)
            is_unlikely = words < np.repeat(limits, size)[:, None]
            expected = [is_unlikely[cell == c].sum(axis=0) for c in range(3)]
        else:
            mean = (1000 * 1e-3 + 1500 * 0.5) / 2500
            pairs = (size[0], 0.3), (2500, mean), (500, 1.0)
            expected = [generator.binomial(*pair, block.shape[1]) for pair in pairs]
        assert block.tolist() == np.array(expected).tolist()


def test_the_scan_of_very_few_rows_has_one_interval():
    found = observed_statistics([0.312345, 0.654321, 0.91], [0, 1, 0])
    assert found["local"] == pytest.approx(found["level"])


def test_redraws_of_another_curve_have_its_statistics():
    """With chances of 0 and 1 a redraw is the data set of these outcomes."""
    scores, hits = study(30)
    groups, place = groups_of_rows(scores, hits)
    upper = scores > 0.5
    chance = np.zeros(groups.size.size)
    chance[place] = np.where(upper, 1 - hits, hits)
    pool = draw(statistics_of(groups), groups, stream(0, "test"), 3, 3 * chance - 1)
    assert pool[1:] == pytest.approx(np.tile(pool[0], (3, 1)))
    found = dict(zip(PARTS, pool[0], strict=True))
    assert found == pytest.approx(oracle(scores, hits), abs=1e-7)


def test_signs_of_three_clusters_are_one_of_eight():
    """Each redraw is the study with residuals ± t (y − s), by cluster; atoms have too few."""
    scores, hits = study(45, tied=True)
    ids = np.arange(45) % 3
    groups, place = groups_of_rows(scores, hits)
    by_group = np.lexsort((place, ids))
    residual = (hits - scores)[by_group]
    pool = signed_pool(
        groups, statistics_of(groups), place[by_group], residual, ids[by_group],
        stream(0, "test"), 800,
    )  # fmt: skip
    wide = t.ppf(0.975, 2) / norm.ppf(0.975)
    assert widening(3) == pytest.approx(wide)
    known = []
    for signs in [(1, 1, 1), *product((wide,), (-wide, wide), (-wide, wide))]:
        row = oracle(scores, scores + np.array(signs)[ids] * (hits - scores))
        known.append([row[name] if name not in ("spread", "atoms") else 0 for name in PARTS])
    assert pool[0] == pytest.approx(known[0], abs=1e-7)
    nearest = np.abs(pool[1:, None] - np.array(known[1:])).max(axis=2)
    assert nearest.min(axis=1).max() < 1e-7
    counts = np.bincount(nearest.argmin(axis=1), minlength=4)
    assert counts / 800 == pytest.approx(np.full(4, 0.25), abs=0.06)


@pytest.mark.parametrize("clusters", [39, 40])
def test_atoms_of_ten_clusters_with_the_unlikely_outcome(clusters):
    """A chance of ¼ in forty clusters, and of ½ in twenty; another score is in each of fifty."""
    scores = np.repeat([0.25, 0.5, 0.7], [clusters, clusters // 2 + 0, 50])
    codes = np.r_[np.arange(clusters), np.arange(clusters // 2), np.arange(50)]
    scores += 0.000123456 * (scores == 0.7)
    groups, place = groups_of_rows(scores, np.arange(scores.size) % 2)
    statistics = statistics_of(groups)
    atoms, scale = _atoms_of_enough(groups, statistics, place, codes)
    assert atoms.tolist() == ([0, 1, 2] if clusters == 40 else [2])
    rows = np.bincount(place)[atoms]
    chance = np.array([0.25, 0.5, 0.299876544])[atoms]
    assert scale == pytest.approx(1 / (rows * chance * (1 - chance)))
    by_group = np.lexsort((place, codes))
    columns = place[by_group], (np.arange(scores.size) % 2 - scores)[by_group], codes[by_group]
    pool = signed_pool(groups, statistics, *columns, stream(0, "test"), 1)
    assert pool[0, 5] == pytest.approx(np.sum(groups.residual[atoms] ** 2 * scale))


@pytest.mark.parametrize("n", [1200, 1201])
def test_cells_by_half_the_ranks_and_half_the_variance(n):
    """Six rows of one score are a two-hundredth of 1200 rows, and a cell."""
    others = np.random.default_rng(3).beta(2, 1, n - 46)
    scores = np.sort(np.r_[others, np.full(6, 0.31), np.full(40, 0.8123)])
    groups, _ = groups_of_rows(scores, np.zeros(scores.size))
    distinct, rows = np.unique(scores, return_counts=True)
    v = rows * distinct * (1 - distinct)
    assert groups.is_atom.tolist() == (rows >= max(5, n / 200)).tolist()
    starts, before = [], None
    for k, score in enumerate(distinct):
        ranks, time = rows[:k].sum() + rows[k] / 2, v[:k].sum() + v[k] / 2
        is_atom = rows[k] >= max(5, scores.size / 200)
        key = np.floor(512 * (ranks / scores.size + time / v.sum()) / 2), score > 0.5, is_atom
        if is_atom or key != before:
            starts.append(k)
        before = key
    assert cell_starts(groups).tolist() == [*starts, distinct.size]
    assert cell_starts(groups.only(np.arange(distinct.size) < 512)).tolist() == list(range(513))


def test_scores_of_0_and_1_are_a_quarter_of_the_last_step_away():
    """Half of the way to the next score, or less: of float64, and of float32."""
    for inner, least in ((0.3, 2.0**-55), (0.25, 2.0**-26)):
        groups, place = groups_of(
            Scored.of(np.array([0.0, inner, 1.0, 1.0]), np.array([0, 1, 1, 0]))
        )
        assert groups.chance[[0, 2]].tolist() == [least, least]
        assert groups.x[[0, 2]] == pytest.approx([logit(least), -logit(least)])
        assert groups.sign.tolist() == [1, 1, -1]
        assert groups.unlikely.tolist() == [0, 1, 1]
        assert (groups.size.tolist(), groups.hits.tolist(), place.tolist()) == (
            [1, 1, 2], [0, 1, 1], [0, 1, 2])  # fmt: skip
        assert impossible_outcomes(groups) == 1


def test_a_chance_that_no_float_holds_is_a_score_of_0():
    logs = np.array([-800.0, math.log(0.3)])
    groups, _ = groups_of(
        Scored.of(np.array([0.0, 0.3]), np.array([0, 1]), logs, np.log1p(-np.exp(logs)))
    )
    assert groups.chance[0] == 2.0**-55
    assert groups.x[0] == pytest.approx(logit(2.0**-55))


def test_ends_that_votes_stand_for():
    """Tenths: 0 and 1 are as far away as the verdict takes them; without them a float's step."""
    s, rows = np.arange(11) / 10, np.array([30, 40, 50, 60, 70, 80, 70, 60, 50, 40, 30])
    floats = ends_of(Scored.of(np.array([0.3, 0.7]), np.array([0, 1])))
    assert 0 < floats[0] < 1e-9 < 1 - 1e-9 < floats[1] < 1
    for first, last in ((0, 11), (1, 11), (0, 10), (1, 10)):
        votes = np.repeat(s[first:last], rows[first:last])
        of_tenths = Scored.of(votes, np.arange(votes.size) % 2)
        groups, _ = groups_of(of_tenths)
        low = floats[0] if first else expit(groups.x[0])
        high = floats[1] if last < 11 else expit(groups.x[-1])
        assert ends_of(of_tenths) == pytest.approx((low, high))
        assert first or 0.001 < low < 0.05
        assert last < 11 or 0.95 < high < 0.999


def test_the_line_and_its_sign():
    for seed, slope in enumerate((0.7, -0.5, -0.25, -0.1, 0.0)):
        generator = np.random.default_rng(seed)
        scores = generator.beta(2, 2, 300)
        hits = (generator.random(300) < expit(0.2 + slope * logit(scores))).astype(int)
        groups, _ = groups_of_rows(scores, hits)
        line, _, error = fit(logit(scores), hits)
        found = finding_of("line", groups, statistics_of(groups))
        assert (found.intercept, found.slope) == line_of(groups) == pytest.approx(line, rel=1e-6)
        assert found.is_reversed == (line[1] < -2 * error)


def test_the_numbers_of_a_finding():
    """The mean gap ± 1.96 errors: of the residuals, or of a calibrated model if that is more."""
    for scale in (1.0, 0.02):
        scores, hits = study(200, 2)
        scores = 1 - scale * (1 - scores)
        hits = hits if scale == 1 else np.ones(200, int)
        groups, _ = groups_of_rows(scores, hits)
        found = finding_of("level", groups, statistics_of(groups))
        gaps = scores - hits
        error = np.sqrt(max(200 * gaps.var(), np.sum(scores * (1 - scores)))) / 200
        ends = gaps.mean() + 1.959963984540054 * error * np.array([-1, 1])
        assert found.gap == pytest.approx(gaps.mean())
        assert found.gap_low == pytest.approx(max(ends[0], scores.mean() - 1))
        assert found.gap_high == pytest.approx(min(ends[1], scores.mean()))
        assert (found.rows, found.hits, found.rate) == (200, hits.sum(), hits.mean())
        assert (found.low, found.high) == (scores.min(), scores.max())
        assert found.mean_score == pytest.approx(scores.mean())
    wide = finding_of("level", groups, statistics_of(groups), lambda part: 0.5)
    assert wide.gap_low == pytest.approx(max(found.gap - 0.5, scores.mean() - 1))


def test_the_gap_of_clusters_by_their_sums():
    """t of G − 1 and the sums of gaps less their mean, which are all a cluster tells."""
    generator = np.random.default_rng(0)
    ids = np.repeat(np.arange(25), 1 + np.arange(25) % 4)
    scores = generator.uniform(0.5, 0.9, ids.size)
    hits = (generator.random(25) < 0.4)[ids].astype(int)
    verdict = judge(scores, hits, clusters=ids, replicates=99)
    gaps = scores - hits
    sums = np.bincount(ids, gaps - gaps.mean())
    half = t.ppf(0.975, 24) * np.sqrt(25 / 24 * np.sum(sums**2)) / ids.size
    assert verdict.finding.kind == "level"
    assert verdict.finding.gap_high == pytest.approx(min(gaps.mean() + half, scores.mean()))
    assert verdict.finding.gap_low == pytest.approx(gaps.mean() - half)
    facts = verdict.cluster_facts
    groups, place = groups_of_rows(scores, hits)
    by_group = np.lexsort((place, ids))
    generator = stream(0, "signs", digest_of(groups.score, groups.size), "25")
    columns = place[by_group], (hits - scores)[by_group], ids[by_group]
    e = surprise(signed_pool(groups, statistics_of(groups), *columns, generator, 99))
    p_signs, own = pooled_p_value(e)
    assert facts.p_signs == p_signs
    assert verdict.clearest == PARTS[int(np.argmax(e[0]))]
    assert all(part.p_value >= own[PARTS.index(part.name)] for part in verdict.parts)
    assert [part.name for part in verdict.parts] == ["level", "line", "shape", "local"]
    assert (facts.clusters, facts.largest, facts.rows_per_cluster) == (25, 4, ids.size / 25)
    assert facts.effective_rows == pytest.approx(ids.size / facts.design_effect)


def numbers(sentence):
    return [float(x) for x in re.findall(r"-?\d*\.?\d+", sentence)]


LEVEL = Finding("level", 400, 300, 0.2, 0.9, 0.8123, 0.75, 0.0623, 0.0212, 0.1034)


@pytest.mark.parametrize("words", ["hits", "events"])
def test_the_numbers_of_a_sentence(words):
    told = [sentence_of(each, words) for each in (
        LEVEL,
        replace(LEVEL, gap=-0.0623, gap_low=-0.1034, gap_high=-0.0212),
        replace(LEVEL, gap_low=0.0614, gap_high=0.0632),
        replace(LEVEL, kind="line", slope=0.512, intercept=0.0),
        replace(LEVEL, kind="line", slope=1.0, intercept=0.0),
        replace(LEVEL, kind="line", slope=-0.512, intercept=0.0, is_reversed=True),
        replace(LEVEL, kind="line"),
        replace(LEVEL, kind="local"),
        replace(LEVEL, kind="shape", gap=-0.0623),
        replace(LEVEL, kind="local", gap=-0.0623, high=0.2),
        replace(LEVEL, kind="shape"),
        replace(LEVEL, kind="certain", high=1.0),
        replace(LEVEL, kind="certain", low=0.0, high=0.0),
        replace(LEVEL, kind="atoms", low=0.9),
        replace(LEVEL, kind="atoms", low=1.0),
        replace(LEVEL, kind="atoms", rate=0.9987, hits=399),
        replace(LEVEL, kind="atoms", rate=1.0, hits=400),
        replace(LEVEL, kind="atoms", rate=0.0025, hits=1),
        replace(LEVEL, kind="atoms", rate=0.0, hits=0),
    )]  # fmt: skip
    assert [numbers(each) for each in told] == [
        [6.2, 2.1, 10.3], [6.2, 2.1, 10.3], [6.23, 6.14, 6.32], [0.51], [1], [-0.51],
        [6.2, 2.1, 10.3], [0.2, 0.9, 400, 6.2], [0.2, 0.9, 400, 6.2],
        [0.2, 400, 6.2], [0.2, 0.9, 400, 6.2], [1, 100, 400], [0, 300, 400],
        [0.9, 75, 400], [1, 100, 400], [0.2, 1, 400], [0.2, 100, 400], [0.2, 1, 400], [0.2, 0, 400],
    ]  # fmt: skip
    high, low = ("too high", "too low") if words == "events" else ("too sure", "not sure enough")
    assert high in told[0]
    assert low in told[1]
    assert [told[k].partition(" (")[0] for k in (3, 4)] == [*SPREAD]
    assert "points less often than they say" in told[7]
    assert "points too low" in told[8]
    assert "points more often than they say" in told[9]  # one score is named once
    assert "points too high" in told[10]
    assert all(words in each for each in told[-3:])


def test_scores_near_the_ends_have_more_decimals():
    for score, text in ((0.5, ".5"), (0.12345, ".123"), (0.995, ".995"), (0.99512, ".9951"),
                        (0.9961, ".9961"), (0.9996, ".9996"), (0.00049, ".00049"),
                        (0.9999996, "1"), (1.0, "1"), (0.0, "0"), (0.005, ".005")):  # fmt: skip
        where = sentence_of(replace(LEVEL, kind="local", low=score, high=0.75), "hits")
        assert where.startswith(f"scores {text}–.75 (")


def test_a_zero_in_words_has_no_sign():
    level = replace(LEVEL, gap_low=-0.0001)
    assert "(0.0 to 10.3)" in sentence_of(level, "hits")
    line = replace(LEVEL, kind="line", slope=-0.001, intercept=0.0)
    assert sentence_of(line, "hits").endswith("(slope 0.00)")


def test_digits_in_words():
    widths = (0.5, 0.1, 0.0999, 0.01, 0.00999, 1e-9, 0.0)
    assert [digits_of(width) for width in widths] == [1, 1, 1, 1, 2, 6, 1]


def test_an_impossible_miss_decides_and_the_other_rows_have_the_words():
    """One miss of 50 at exactly 1, beside a clear shift of other rows, or beside right ones."""
    inner = np.random.default_rng(0).uniform(0.3, 0.7, 200)
    for rates, clearest in ((0 * inner + 1, None), (inner, "certain")):
        hits = np.r_[np.arange(50) > 0, np.random.default_rng(1).random(200) < rates]
        verdict = judge(np.r_[np.ones(50), inner], hits, replicates=99)
        assert verdict.p_value == 1 / 100
        part = verdict.parts[0]
        assert (part.name, part.statistic, part.p_value) == ("certain", 1, 1 / 100)
        assert (verdict.clearest == "certain") == (clearest == "certain")
        told = verdict.sentence if clearest else " ".join(verdict.warnings)
        assert "wrong at exactly 1: 1 of 50 rows" in told


def test_the_verdict_is_of_the_pool_of_redraws():
    scores, hits = np.random.default_rng(4).random((2, 80))
    hits = (hits < scores).astype(int)
    verdict = judge(scores, hits, replicates=150, seed=7)
    assert verdict.p_value * 151 == pytest.approx(round(verdict.p_value * 151))
    assert [part.name for part in verdict.parts] == list(PARTS[:-1])  # no atoms
    own = {part.name: part.statistic for part in verdict.parts}
    expected = oracle(scores, hits)
    assert own == pytest.approx({name: expected[name] for name in own}, abs=1e-7)
    assert (verdict.rows, verdict.replicates) == (80, 150)
    assert verdict.p_value >= min(part.p_value for part in verdict.parts)
    assert judge(scores, hits, replicates=150, seed=8).parts != verdict.parts
    assert verdict.stated_gap == (verdict.miscalibrated and verdict.finding.kind == "level") * abs(
        verdict.finding.gap
    )
