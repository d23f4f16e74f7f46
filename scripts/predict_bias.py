"""Compare the bias by construction with the bias seen on subsamples of a model's own rows."""

from pathlib import Path

from evidence.studies.predicted_bias import predicted_bias
from pipeline.logits.read import read_scores
from pipeline.script import OUTPUT, SEED, option, script
from pipeline.tables.files import write_table


@script(
    option("--scores", "the model's top-label scores and hits", Path),
    option("--manifest", "manifest of the scores that ship", Path, default=None),
    option("--estimators", "estimators of the ℓp error", many=True),
    option("--n-samples", "sizes of the subsamples", int, least=2, many=True),
    option("--subsamples", "subsamples of each size", int, least=2),
    option("--refits", "how many of them get a curve of their own", int),
    SEED,
    OUTPUT,
)
def main(options):
    top = read_scores(options.scores, options.manifest).folds["test"]
    model = options.scores.stem
    rows = predicted_bias(
        top, options.estimators, options.n_samples, options.subsamples, options.refits,
        seed=options.seed, name=model,
    )  # fmt: skip
    write_table(options.output, "predicted_bias", [{"model": model, **row} for row in rows])


if __name__ == "__main__":
    main()
