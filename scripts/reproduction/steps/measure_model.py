from functools import cache
from pathlib import Path
from typing import Annotated

import pandas as pd

from calbias.engine.seeding import stream
from calbias.errors import InputError
from pipeline.logits import REAL_LOGITS, load_logits, read_top_labels
from pipeline.steps import AtLeast, Seed, Softmax
from reproduction.measured_rows import graph_rows, tables_of, write_rows
from reproduction.measures import draw_counts
from reproduction.outputs import outputs_of_logits, outputs_of_scores


def measure_model(
    *,
    logits: Path | None,
    top_labels: Path | None,
    model: str,
    softmax: Softmax,
    bootstrap: Annotated[int, AtLeast(2)],
    seed: Seed,
    output_measures: Path,
    output_bins: Path,
    output_graphs: Path,
    output_floors: Path,
) -> None:
    """Measure a model as it is and recalibrated, as Guo et al. (2017) and Gupta et al. (2021) do.

    From logits every method is fitted on the validation fold and measured on the test fold; from
    top-label scores alone, the model as it is and a spline fitted to half of its rows.

    logits: the model's logits in the pipeline's own form (NPZ)
    top_labels: without logits: its top-label table (Parquet)
    model: the model's name
    softmax: how scores are made
    bootstrap: resamples behind the intervals
    seed: seed of all random streams
    output_measures: rows of table measures to write
    output_bins: bins of the reliability diagrams, to write
    output_graphs: points of the calibration graphs, to write; of scores alone there are none
    output_floors: rows of table noise_floors, to write
    """
    graphs = pd.DataFrame()
    if logits:
        folds = load_logits(logits)
        source, outputs, graphs = REAL_LOGITS, outputs_of_logits(folds, softmax), graph_rows(*folds)
    elif top_labels:
        scores, origin = read_top_labels(top_labels)
        half = stream(seed, model, "measures", "half")
        source, outputs = origin.source, outputs_of_scores(scores["test"], half)
    else:
        raise InputError("give --logits or --top-labels")
    resamples = cache(lambda n: draw_counts(n, bootstrap, seed, model))
    tables = tables_of(outputs, seed, resamples) | {"calibration_graphs": graphs}
    paths = {
        "measures": output_measures,
        "reliability_bins": output_bins,
        "calibration_graphs": output_graphs,
        "noise_floors": output_floors,
    }
    write_rows(tables, paths, model, source)
