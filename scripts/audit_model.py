"""Audit one model of the workflow: the page and the numbers that ``calbias audit`` writes."""

from pathlib import Path

from calbias.auditing.audit import audit_data
from calbias.auditing.estimators import ESTIMATORS
from calbias.auditing.inputs import Data, read_data
from calbias.auditing.options import Options
from calbias.auditing.page import page
from calbias.errors import InputError
from calbias.estimation.registry import FOLDER
from calbias.io.command_line import write_text
from calbias.logits.columns import Columns
from pipeline.audits import diagram_rows, estimate_rows, verdict_row
from pipeline.logits.options import RESOURCES
from pipeline.logits.store import REAL_SCORES
from pipeline.logits.top_label_table import Origin, read_top_labels
from pipeline.manifest import verify_shipped
from pipeline.script import SEED, option, script
from pipeline.tables.files import write_table


@script(
    option("--top-labels", "the model's top-label table", default=None),
    option("--scores", "a file of top-label scores, instead of it", default=None),
    option("--manifest", "the shipped files (JSON)", Path, default=RESOURCES / "manifest.json"),
    option("--label", "its column of an event's labels: scores are then of it", default=None),
    option("--cluster", "its columns of clusters of rows", many=True, default=[]),
    option("--estimator-dir", "folder of your own estimators", many=True, default=[]),
    option("--name", "the model's name, for the title"),
    option("--estimators", "estimators besides the ones of every audit", many=True, default=[]),
    option("--n-bins", "number of bins", int, default=15),
    option("--norm", "p of the ℓp errors", float, default=1.0),
    SEED,
    option("--output-page", "page to write (HTML)"),
    option("--output-numbers", "the same numbers, to write (JSON)"),
    option("--output-estimates", "a row per estimator, to write"),
    option("--output-verdict", "the model's row, to write"),
    option("--output-diagram", "bins of the reliability diagram, to write"),
)
def main(options):
    if bool(options.top_labels) == bool(options.scores):
        raise InputError("give either --top-labels or --scores")
    place = f"model {options.name}, fold test"
    if options.scores:
        verify_shipped(options.scores, options.manifest)
        score = "score" if options.label else None
        columns = Columns(score, label=options.label, cluster=tuple(options.cluster))
        data, _ = read_data(options.scores, columns=columns)
        origin = Origin(options.name, REAL_SCORES, "none", data.warnings)
    else:
        folds, origin = read_top_labels(options.top_labels)
        n = len(folds["test"].hit)
        if n < 2:
            raise InputError(f"{place}: {n} rows are too few to judge by: give at least 2")
        data = Data.of(folds["test"], warnings=origin.warnings)
    audit = audit_data(
        data,
        Options(options.n_bins, options.norm, seed=options.seed),
        dict.fromkeys([*ESTIMATORS, *options.estimators]),
        folders=(FOLDER, *options.estimator_dir),
    )
    audit.description["source"] = origin.source
    print(f"{place}: {audit.sentence}")
    of_model = {"model": options.name, "source": origin.source, "fold": "test"}
    for path, table, rows in (
        (options.output_estimates, "audit_estimates", estimate_rows),
        (options.output_verdict, "audit_verdicts", verdict_row),
        (options.output_diagram, "audit_diagrams", diagram_rows),
    ):
        write_table(path, table, rows(audit, of_model))
    text = page(audit, options.name, Path(options.output_numbers).name)
    write_text(options.output_page, text + "\n")
    write_text(options.output_numbers, audit.to_json() + "\n")


if __name__ == "__main__":
    main()
