"""Measure a model as it is and recalibrated, as Guo et al. (2017) and Gupta et al. (2021) do.

From logits every method is fitted on the validation fold and measured on the test fold; from
top-label scores alone, the model as it is and a spline fitted to half of its rows.
"""

import pandas as pd

from calbias.engine.seeding import stream
from calbias.errors import InputError
from pipeline.logits.options import MODEL, SOFTMAX
from pipeline.logits.store import load_logits
from pipeline.logits.top_label_table import read_top_labels
from pipeline.script import SEED, option, script
from pipeline.tables.files import write_table
from pipeline.tables.schema import columns_of
from reproduction.measured.noise import NoiseFloors
from reproduction.measured.of_model import bin_rows, graph_rows, measure_rows
from reproduction.measured.outputs import outputs_of_logits, outputs_of_scores
from reproduction.selection.measures import draw_counts


@script(
    option("--logits", "the model's logits in the pipeline's own form (NPZ)", default=None),
    option("--top-labels", "without logits: its top-label table (Parquet)", default=None),
    MODEL,
    SOFTMAX,
    option("--bootstrap", "resamples behind the intervals", int, least=2, default=200),
    SEED,
    option("--output", "rows of table measures to write"),
    option("--output-bins", "bins of the reliability diagrams, to write"),
    option("--output-graphs", "points of the calibration graphs, to write"),
    option("--output-floors", "rows of table noise_floors, to write", default=None),
    option("--output-differences", "rows of table method_differences, to write", default=None),
)
def main(options):
    if options.logits:
        logits = load_logits(options.logits)
        source, found = logits.source, outputs_of_logits(logits, options.softmax)
    elif options.top_labels:
        folds, origin = read_top_labels(options.top_labels)
        half = stream(options.seed, options.model, "measures", "half")
        source, found = origin.source, outputs_of_scores(folds["test"], half)
    else:
        raise InputError("give --logits or --top-labels")
    counts, tables = {}, {"measures": [], "reliability_bins": [], "calibration_graphs": []}
    floors = NoiseFloors(options.seed)
    for outputs in found:
        floors.add(outputs)
        n = 0 if outputs.needs else len(outputs.hits)
        if n and n not in counts:
            counts[n] = draw_counts(n, options.bootstrap, options.seed, options.model)
        tables["measures"].append(pd.DataFrame(measure_rows(outputs, counts.get(n))))
        if n:
            tables["reliability_bins"].append(bin_rows(outputs))
            tables["calibration_graphs"].append(graph_rows(outputs))
    tables["noise_floors"] = [pd.DataFrame(floors.rows)]
    tables["method_differences"] = [pd.DataFrame(floors.differences())]
    paths = [options.output, options.output_bins, options.output_graphs]
    paths += [options.output_floors, options.output_differences]
    for path, (name, parts) in zip(paths, tables.items(), strict=True):
        if path is None:
            continue
        rows = pd.concat(parts).assign(model=options.model, source=source)
        write_table(path, name, rows.reindex(columns=columns_of(name)))


if __name__ == "__main__":
    main()
