"""How often the intervals hold the truth: every method on data whose true error is known.

The truth is the error of the distribution, not of the sample's scores. A one-sided bound covers
where the truth is on its side. ``found_by_verdict`` says whether a test sees the error. Intervals
of others run on the cells of ``beta`` alone, on half of the data sets.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from calbias.auditing.estimator_bias import HEADLINE, audited_estimators
from calbias.auditing.interval import Interval, calibration_interval
from calbias.auditing.verdict.judge import judge, p_value_of_groups
from calbias.auditing.verdict.rows import groups_of
from calbias.conventions import CONFIDENCE_LEVEL, SIGNIFICANT
from calbias.scored import Scored
from evidence.cells import blind_2025, blind_2026, clusters
from evidence.cells.beta import CURVES, DISTRIBUTIONS, SIZES, BetaCell
from evidence.cells.clusters import ClusterCell
from evidence.cells.halves import JUDGING, of_half, random_world
from evidence.runner import Cell, Method, Values, clopper_pearson, each, run
from evidence.studies.intervals.methods import other_methods
from evidence.studies.intervals.sample import Sample

BLIND, BLIND_2026, CLUSTERS = "blind", "blind26", "clusters"
CHOICES = (*DISTRIBUTIONS, JUDGING, BLIND, BLIND_2026, CLUSTERS)
JUDGED_AT = 1000  # rows of a cell of the judging half
N_WORLDS = 12  # random distributions with random curves
OURS = {"calbias": "l1", "calbias_l2": "l2"}  # the audit's interval
CLUSTER_REDRAWS = 999
VERDICT, _VERDICTS, _REDRAWS = "verdict", 20, 499  # data sets of a cell that get a verdict
_DRAWS = 200  # bootstrap resamples


class Named:
    """A cell under a longer name."""

    def __init__(self, cell: Any, name: str) -> None:
        self.cell, self.name = cell, name
        self.batches, self.truth = cell.batches, cell.truth


def cells_of(choice: str) -> list[tuple[Cell, int]]:
    """Return the cells of a set with their numbers of rows."""
    if choice in DISTRIBUTIONS:
        return [(BetaCell(choice, curve), n) for curve in CURVES for n in SIZES]
    if choice == JUDGING:
        worlds = (random_world(k) for k in range(N_WORLDS))
        judging = [*of_half(JUDGING), *worlds]
        return [(Named(cell, f"{JUDGING}_{cell.name}"), JUDGED_AT) for cell in judging]
    if choice == BLIND:
        return [(Named(cell, f"{JUDGING}_{cell.name}"), cell.n) for cell in blind_2025.CELLS]
    if choice == BLIND_2026:
        return [(Named(cell, f"{JUDGING}_{cell.name}"), cell.cell.n) for cell in blind_2026.CELLS]
    return [(cell, cell.n) for cell in clusters.CELLS.values()]


def methods(cell: Cell, data_sets: int, draws: int = _DRAWS) -> dict[str, Method]:
    """Return {name: Method} for a cell; values are the ends (m, 2), of the verdict p ≤ 5 % (m,)."""
    if isinstance(cell, ClusterCell):
        return {
            "calbias_clusters": Method("l1", each(_of_clusters)),
            VERDICT: Method("", each(_rejects_clusters), _VERDICTS),
        }
    found = {**_posterior(), VERDICT: Method("", each(_rejects), _VERDICTS)}
    if isinstance(cell, BetaCell):
        ece, few = audited_estimators()[HEADLINE], max(data_sets // 2, 2)
        for name, (target, interval) in other_methods(ece, CONFIDENCE_LEVEL, draws=draws).items():
            found[name] = Method(target, each(interval), few)
    return found


def _of_clusters(rows: Any) -> Interval:
    """Return the audit's interval of scores, hits and clusters."""
    scores, hits, ids = rows
    facts = judge(scores, hits, clusters=ids, replicates=CLUSTER_REDRAWS).cluster_facts
    scored = Scored.of(scores, hits, clusters=ids)
    return calibration_interval(scored, facts.design_effect if facts else 1.0).at()


def _posterior() -> dict[str, Method]:
    """Return the audit's own interval, for the ℓ1 and the ℓ2 error: one posterior serves both."""
    last: dict[str, Any] = {}

    def ends(norm: int) -> Any:
        def of_sample(sample: Sample) -> Any:
            if last.get("sample") is not sample:
                scored = Scored.of(sample.scores, sample.hits)
                last.update(sample=sample, found=calibration_interval(scored))
            return last["found"].at(norm, CONFIDENCE_LEVEL)

        return of_sample

    return {name: Method(target, each(ends(int(target[1])))) for name, target in OURS.items()}


def _rejects(sample: Sample) -> bool:
    groups, _ = groups_of(sample.scores, np.asarray(sample.hits, np.uint8))
    return bool(p_value_of_groups(groups, _REDRAWS) <= SIGNIFICANT)


def _rejects_clusters(rows: tuple) -> bool:
    scores, hits, ids = rows
    return bool(
        judge(scores, hits, clusters=ids, replicates=CLUSTER_REDRAWS).p_value <= SIGNIFICANT
    )


def covered(
    cell: Cell, n: int, of_cell: Mapping[str, Method], values: Values
) -> Iterator[dict[str, Any]]:
    """Yield the row of each interval."""
    rejected = values.pop(VERDICT)
    for name, ends in values.items():
        low, high = ends.T
        m, truth = low.size, cell.truth(of_cell[name].target)
        held = int(np.sum((low <= truth * (1 + 1e-9)) & (truth <= high)))
        bounds = clopper_pearson(held, m)
        lengths = high - low
        yield {
            "method": name,
            "target": of_cell[name].target,
            "scenario": cell.name,
            "n_samples": n,
            "nominal": CONFIDENCE_LEVEL,
            "coverage": held / m,
            **bounds._asdict(),
            "mean_length": float(lengths.mean()) if np.isfinite(lengths).all() else np.nan,
            "truth": truth,
            "found_by_verdict": float(np.mean(rejected)),
            "n_data_sets": m,
        }


def coverage_rows(
    choice: str, data_sets: int, seed: int = 0, draws: int = _DRAWS
) -> Iterator[dict[str, Any]]:
    """Yield the rows of table ``interval_coverage`` of one of ``CHOICES``."""

    def of_cell(cell: Cell, n: int) -> dict[str, Method]:
        return methods(cell, data_sets, draws)

    return run(cells_of(choice), of_cell, data_sets, seed, covered)
