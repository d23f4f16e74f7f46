"""How far the class-wise errors of two methods differ on the same test rows, and its spread.

The spread is taken on common labels: both methods' measures for the same labels, drawn from the
probabilities after temperature scaling, or of the model as it is where it has no validation fold.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from calbias.multiclass.class_rows import Rows
from calbias.multiclass.measures import prepared
from calbias.reading.read_logits import read_outputs
from evidence.steps.judge_printed_classwise import DIFFERENCES, METHODS
from pipeline.logits import REAL_LOGITS, Logits
from pipeline.steps import Seed
from pipeline.tables import write_table
from reproduction.measured_rows import FLOORS, REPLICATES
from reproduction.outputs import OF_MATRICES, Outputs, outputs_as_is, outputs_of_logits
from reproduction.recalibration.registry import METHODS as KNOWN

DRAWN_FROM = "temperature_scaling"
MANY_CLASSES = 50  # from which the cross-validated matrices take minutes


def measure_differences(
    *,
    file: Path,
    model: str,
    methods: Literal["quick", "all"],
    seed: Seed,
    output: Path,
) -> None:
    """Measure how far the class-wise errors after two recalibration methods differ.

    file: outputs of all classes
    model: the model's name
    methods: those that take seconds, or all
    seed: seed of all random streams
    output: rows of table method_differences to write
    """
    folds = read_outputs(file).folds
    test, names = folds["test"], [name for name in METHODS if name in KNOWN]
    if methods == "quick" and test.logits.shape[1] >= MANY_CLASSES:
        names = [name for name in names if name not in OF_MATRICES]
    all_outputs = [outputs_as_is(test)]
    if "validation" in folds:
        all_outputs = [*outputs_of_logits(Logits(folds["validation"], test), methods=names)]
    rows = (
        {"model": model, "source": REAL_LOGITS, **row} for row in difference_rows(all_outputs, seed)
    )
    write_table(output, "method_differences", rows)


def difference_rows(all_outputs: Iterable[Outputs], seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each pair of methods that have probabilities of all classes."""
    by_method = {
        outputs.method: (Rows.of(outputs.probabilities), np.asarray(outputs.labels, np.int64))
        for outputs in all_outputs
        if outputs.probabilities is not None
    }
    common, _ = by_method.get(DRAWN_FROM) or next(iter(by_method.values()))
    redrawn = np.concatenate([*common.redrawn(REPLICATES, seed, "common labels")], axis=1)
    drawn = np.empty_like(redrawn)
    drawn[common.order] = redrawn  # in the order in which the rows were given
    values = {}
    for method, (rows, labels) in by_method.items():
        name, n_bins = FLOORS[DIFFERENCES]
        measure = prepared(name, rows, n_bins)
        value = float(measure.whole(measure.values(rows.given(labels)))[0])
        on_drawn = measure.values(np.ascontiguousarray(drawn[rows.order]))
        values[method] = value, measure.whole(on_drawn)
    for (a, values_a), (b, values_b) in combinations(values.items(), 2):
        yield {
            "measure": DIFFERENCES,
            "method_a": a,
            "method_b": b,
            "difference": values_a[0] - values_b[0],
            "difference_sd": float((values_a[1] - values_b[1]).std(ddof=1)),
        }
