"""Size, power, coverage and width on outcomes that are right on average.

    python -m evidence.outcomes trial|judging DATA_SETS FILE.csv [FIRST LAST]

``rejected`` is the share of data sets with p ≤ 5 %: the size where the true error is 0. Coverage
and root mean squared error are of the ℓ1 error of the rows that are judged. A share r has the
Monte Carlo error √(r(1 − r)/R).
"""

import sys
import zlib

import numpy as np
import pandas as pd

from calbias.auditing.description import observed_expected
from calbias.auditing.error.calibration_curve import posterior_average
from calbias.auditing.error.interval import calibration_interval
from calbias.auditing.verdict.judge import judge
from calbias.defaults import CONFIDENCE_LEVEL, SIGNIFICANT
from calbias.reading.top_label import top_label_of_scores
from calbias.samples.by_score import Scored
from evidence.cells.outcomes import JUDGING, TRIAL, Drawn, Followed, Rows

REDRAWS = 499
_FEW = 1e-12


def measured(cell: Followed | Drawn, data_sets: int) -> dict[str, float | str]:
    """Return a row of the table."""
    seed = zlib.crc32(cell.name.encode())
    results = []
    for k in range(data_sets):
        rows = cell.draw(np.random.default_rng([seed, k]))
        results.append(_of_one(rows, cell))
    table = pd.DataFrame(results)
    is_covered = (table.low <= table.truth + _FEW) & (table.truth <= table.high + _FEW)
    return {
        "cell": cell.name, "rows": cell.n, "data_sets": data_sets,
        "judged": table.judged.mean(), "events": table.events.mean(), "truth": table.truth.mean(),
        "rejected": table.found.mean(), "coverage": is_covered.mean(),
        "width": (table.high - table.low).mean(),
        "rmse": np.sqrt(((table.error - table.truth) ** 2).mean()),
        "oe_coverage": table.oe_covered.mean(),
        "effect": table.effect.mean(),
    }  # fmt: skip


def _of_one(rows: Rows, cell: Followed | Drawn) -> dict[str, float]:
    kept = rows.outcomes.kept
    outcomes, scores = rows.outcomes.of_rows(kept), rows.scores[kept]
    top = top_label_of_scores(scores, outcomes.values)
    clusters = None if rows.clusters is None else rows.clusters[kept]
    logs = top.log_score, top.log1m_score
    if outcomes.is_exact:
        scored = Scored.of(scores, outcomes.values, *logs, clusters=clusters)
    else:
        scored = Scored.of_means(scores, outcomes, *logs, clusters)
    verdict = judge(scored, REDRAWS)
    effect = verdict.cluster_facts.design_effect if verdict.cluster_facts else 1.0
    by_score = scored.by_score
    average = posterior_average(by_score.scores, by_score.rows, by_score.hits, effect)
    low, high = calibration_interval(scored, effect).at(1, CONFIDENCE_LEVEL)
    weights = np.ones(scores.size) if outcomes.weights is None else outcomes.weights
    _, below, above = observed_expected(scored, CONFIDENCE_LEVEL)
    true_ratio = np.sum(weights * cell_rates(cell, scores)) / np.sum(weights * scores)
    return {
        "judged": kept.mean(), "events": float(outcomes.events.sum()),
        "truth": cell.truth(scores), "found": verdict.p_value <= SIGNIFICANT,
        "low": low, "high": high, "error": min(max(average.l1, low), high),
        "oe_covered": below <= true_ratio <= above, "effect": effect,
    }  # fmt: skip


def cell_rates(cell: Followed | Drawn, scores: np.ndarray) -> np.ndarray:
    """Return the true chances of a cell at its scores."""
    from evidence.cells.outcomes import CURVES

    return np.clip(CURVES[cell.curve](scores), 0.0, 1.0)


def main(half: str, data_sets: str, path: str, first: str = "0", last: str = "99") -> None:
    """Write the table of a half, row after row."""
    cells = {"trial": TRIAL, "judging": JUDGING}[half][int(first) : int(last)]
    rows = []
    for cell in cells:
        rows.append(measured(cell, int(data_sets)))
        pd.DataFrame(rows).to_csv(path, index=False, float_format="%.4f")


if __name__ == "__main__":
    main(*sys.argv[1:])
