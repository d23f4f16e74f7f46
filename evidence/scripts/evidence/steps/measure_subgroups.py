"""Does the test over all subgroups hold its level, find faults, and do its intervals cover?"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from calbias.auditing.subgroups.subgroup_audit import audit_subgroups
from calbias.auditing.subgroups.subgroups import ALL
from calbias.auditing.verdict.judge import judge
from calbias.samples.by_score import Scored
from evidence.cells.subgroups import CELLS, Columns, Segmented, SubgroupCell
from evidence.runner import Method, Row, Values, each, run
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table

REPLICATES = 999
OUTCOMES = ("rejected", "covered", "named", "n_segments", "length", "misnamed")


def subgroup_rows(data_sets: int, seed: int, cells: list[SubgroupCell] = CELLS) -> Iterator[Row]:
    """Yield the rows of table ``subgroup_cells``."""
    return run(((cell, cell.n) for cell in cells), _methods, data_sets, seed, _row)


def _methods(cell: SubgroupCell, n: int) -> dict[str, Method]:
    return {"subgroups": Method("", each(partial(outcomes, fault=cell.fault)))}


def outcomes(data: Segmented, fault: str | None) -> tuple[float, ...]:
    """Return OUTCOMES of a data set; ``covered`` if all intervals hold their gaps.

    A subgroup apart that is not the one at ``fault`` is misnamed.
    """
    texts = {name: np.char.add("v", column.astype(str)) for name, column in data.columns.items()}
    verdict = judge(Scored.of(data.scores, data.hits, clusters=data.clusters))
    result = audit_subgroups(
        data.scores, data.hits, texts, data.clusters,
        replicates=REPLICATES, seed=data.number, verdict=verdict,
    )  # fmt: skip
    table, gaps = result.table, data.scores - data.rates
    truths = np.array([gaps[rows].mean() for rows in _rows(table["segment"], data.columns)])
    return (
        result.miscalibrated,
        bool(((table["low"] <= truths) & (truths <= table["high"])).all()),
        result.miscalibrated and table["segment"][0] == fault,
        len(table),
        float((table["high"] - table["low"]).mean()),
        not set(result.apart["segment"]) <= {fault},
    )


def _row(
    cell: SubgroupCell, n: int, methods: Mapping[str, Method], values: Values
) -> Iterator[Row]:
    outcomes_of_sets = values["subgroups"]
    m = len(outcomes_of_sets)
    mean = dict(zip(OUTCOMES, outcomes_of_sets.mean(axis=0).tolist(), strict=True))
    rate, cover = mean["rejected"], mean["covered"]
    named = m * mean["named"] / max(m * rate, 1)
    yield {
        "cell": cell.name,
        "half": cell.half,
        "n_samples": n,
        "n_segments": round(mean["n_segments"]),
        "calibrated": cell.is_calibrated,
        "n_data_sets": m,
        "rejection_rate": rate,
        "rejection_rate_se": _error(rate, m),
        "named": named if cell.fault else None,
        "misnamed": None if cell.fault is None else mean["misnamed"],
        "coverage": cover,
        "coverage_se": _error(cover, m),
        "mean_length": mean["length"],
    }


def _error(share: float, m: int) -> float:
    return float(np.sqrt(max(share * (1 - share), 1e-4) / m))


def _rows(segments: Any, columns: Columns) -> Iterator[np.ndarray]:
    """Yield the rows of each segment, a mask (n,)."""
    for words in segments:
        parts = [] if words == ALL else [part.split(" = v") for part in words.split(" and ")]
        inside = np.ones(len(columns["a"]), bool)
        for name, value in parts:
            inside &= columns[name] == int(value)
        yield inside


def measure_subgroups(
    *,
    data_sets: Annotated[int, AtLeast(2)],
    seed: Seed,
    output: Path,
) -> None:
    """Measure size, power and coverage of the test over all subgroups on its cells.

    data_sets: data sets of each cell
    seed: seed of all random streams
    output: table to write
    """
    write_table(output, "subgroup_cells", subgroup_rows(data_sets, seed))
