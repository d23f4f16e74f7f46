"""The verdict: is the model miscalibrated, and how?

Given the scores, a calibrated model is a simple hypothesis: P(hit) = s. Six statistics look for a
shift, a slope, a wrong spread, a smooth error, a local error and wrong values; the smallest of
their p-values is compared with the smallest in redrawn data sets, so that the one p-value is exact.
evidence/docs/measured.md has what was measured.
"""

from __future__ import annotations

import math

import numpy as np

from calbias.auditing.verdict.clusters import (
    FEW_WITH_RARER,
    ClusterFacts,
    clusters_with_rarer,
    design_effect,
    validate_cluster_number,
    whole_clusters_p_value,
)
from calbias.auditing.verdict.finding import fitted_rates
from calbias.auditing.verdict.groups import Groups, groups_of
from calbias.auditing.verdict.redraws import draw, pooled_p_value, signed_pool, surprise, widening
from calbias.auditing.verdict.statistics import PARTS, Statistics, statistics_of
from calbias.auditing.verdict.verdict_result import (
    CalibrationVerdict,
    Part,
    impossible_outcomes,
    in_words,
    without_certain,
)
from calbias.auditing.verdict.words import Words
from calbias.defaults import N_BINS, Z_95
from calbias.engine.seeding import digest_of, stream
from calbias.errors import InputError
from calbias.samples.by_score import Clusters, Floats, Ints, Scored

REPLICATES = 4000
_LEAST_REPLICATES = 99


def judge(
    scored: Scored, replicates: int = REPLICATES, words: Words = "hits", seed: int = 0
) -> CalibrationVerdict:
    """Return the verdict on a Scored; ``words`` ("hits" or "events") is for the sentence.

    It is a function of the rows, not of their order, and of the seed. With clusters the p-value is
    the larger of two, by redraws of independent rows and by a random sign for each cluster; for
    outcomes that are right on average signs alone decide. Rounded scores, also those of exactly 0
    and 1, are moved as ``rounding`` says. InputError for fewer than
    99 replicates and fewer than ten clusters.

    >>> judge(Scored.of(np.full(200, 0.9), np.arange(200) < 160)).sentence
    'too sure by 10.0 points (4.5 to 15.5) on average'
    """
    if replicates < _LEAST_REPLICATES:
        raise InputError(f"replicates must be at least {_LEAST_REPLICATES}, not {replicates}")
    groups, group = groups_of(scored)
    if scored.clusters is None:
        return judge_groups(groups, replicates, words, seed)
    what = "row" if scored.freedom == math.inf else "cluster"
    validate_cluster_number(scored.clusters.ids.size, what)
    clusters = scored.clusters._replace(score=group[scored.clusters.score])
    return _judge_clusters(groups, clusters, scored.seen, replicates, words, seed)


def judge_groups(
    groups: Groups, replicates: int = REPLICATES, words: Words = "hits", seed: int = 0
) -> CalibrationVerdict:
    """Return the verdict on groups of equal scores of independent rows."""
    statistics = statistics_of(groups)
    pool = _pool(groups, statistics, replicates, seed)
    e = surprise(pool)
    p_value, part_p_values = pooled_p_value(e)
    parts = _parts(statistics, pool[0], part_p_values)
    clearest = PARTS[int(np.argmax(e[0, : len(parts)]))]
    unlikely = impossible_outcomes(groups)
    if unlikely:
        p_value = 1.0 / (replicates + 1)
        parts = (Part("certain", float(unlikely), p_value), *parts)
        inner = without_certain(groups)
        others = judge_groups(inner, replicates, words, seed) if inner.size.size else None
        clearest = others.clearest if others and others.miscalibrated else "certain"
    return in_words(
        groups, statistics, p_value, parts, clearest, words, replicates, impossible=unlikely
    )


def _parts(statistics: Statistics, values: Floats, p_values: Floats) -> tuple[Part, ...]:
    """Return the parts of the statistics of observed rows, without that of atoms if none is."""
    names = PARTS if statistics.atoms.size else PARTS[:-1]
    columns = values.tolist()[: len(names)], p_values.tolist()[: len(names)]
    return tuple(map(Part, names, *columns))


def _pool(groups: Groups, statistics: Statistics, replicates: int, seed: int) -> Floats:
    """Return the statistics of the groups, row 0, and of redraws, which depend on the scores."""
    generator = stream(seed, "verdict", digest_of(groups.score, groups.size))
    return draw(statistics, groups, generator, replicates)


def _judge_clusters(
    groups: Groups,
    clusters: Clusters,
    seen: int | None,
    replicates: int,
    words: Words,
    seed: int,
) -> CalibrationVerdict:
    """Return the verdict; ``clusters.score`` are places in the groups.

    ``seen`` is the number of rows whose outcome was seen, of outcomes that are right on average.
    """
    ids, codes, group, rows, hits, seen_hits, seen_misses = clusters
    number, n = ids.size, round(float(rows.sum()))
    independent = judge_groups(groups, replicates, words, seed) if seen is None else None
    statistics = statistics_of(groups)
    sign, chance = groups.sign[group], groups.chance[group]
    residual = sign * (np.where(sign > 0, hits, rows - hits) - rows * chance)
    generator = stream(seed, "signs", digest_of(groups.score, groups.size), str(number))
    pool = signed_pool(groups, statistics, group, residual, codes, generator, replicates)
    e = surprise(pool)
    p_signs, part_p_values = pooled_p_value(e)
    with_rarer, p_whole = clusters_with_rarer(codes, seen_hits, seen_misses), None
    size = np.bincount(codes, rows)
    if with_rarer < FEW_WITH_RARER:
        rates = np.bincount(codes, hits) / size
        means = rates - np.bincount(codes, residual) / size
        if seen is not None:  # so many clusters were seen, with the rates of all
            counted = np.ones(max(number * seen // n, 1))
            means, rates = counted * means.mean(), counted * np.clip(rates.mean(), 0.0, 1.0)
        p_whole = whole_clusters_p_value(means, rates)
    p_independent = independent.p_value if independent else None
    p_value = max(p_signs, p_independent or 0.0, p_whole or 0.0)
    own_p_values = dict(zip(PARTS, part_p_values.tolist(), strict=True))
    parts = tuple(
        Part(part.name, part.statistic, max(part.p_value, own_p_values[part.name]))
        for part in (
            independent.parts if independent else _parts(statistics, pool[0], part_p_values)
        )
        if part.name not in ("spread", "certain")
    )
    clearest = PARTS[int(np.argmax(e[0]))]
    impossible = impossible_outcomes(_with_seen(groups, group, seen_hits, seen_misses))
    if impossible and independent is None:
        p_value, clearest = 1.0 / (replicates + 1), "certain"
        parts = (Part("certain", float(impossible), p_value), *parts)
    elif independent and independent.clearest == "certain":  # impossible under any dependence
        p_value, parts, clearest = independent.p_value, independent.parts, "certain"
    rate = fitted_rates(groups)[group]
    squares = hits * (1.0 - rate) ** 2 + (rows - hits) * rate**2
    bins = np.minimum((groups.score[group] * N_BINS).astype(np.int64), N_BINS - 1)
    effect = max(design_effect(hits - rows * rate, squares, bins, codes), 1.0)
    facts = ClusterFacts(
        number, round(float(size.max())), n / number, effect, n / effect, with_rarer,
        p_signs, p_independent, p_whole,
    )  # fmt: skip

    def half(part: slice) -> float:
        inside = np.zeros(groups.size.size)
        inside[part] = 1.0
        entries, size = inside[group] * rows, float(groups.size[part].sum())
        gaps = entries * groups.score[group] - inside[group] * hits
        mean = gaps.sum() / size
        sums = np.sort(np.bincount(codes, gaps - mean * entries, number))
        return Z_95 * widening(number) * math.sqrt(number / (number - 1) * sums @ sums) / size

    return in_words(
        groups, statistics, p_value, parts, clearest, words, replicates, facts, half, impossible
    )


def _with_seen(groups: Groups, group: Ints, hits: Ints, misses: Ints) -> Groups:
    """Return the groups with the outcomes (e,) that were seen in entries of the groups (e,)."""
    counts = [np.bincount(group, x, groups.size.size).astype(np.int64) for x in (hits, misses)]
    return groups._replace(size=counts[0] + counts[1], hits=counts[0])
