"""Hold estimators on few rows of genuine data against the value on all rows of a file."""

from pathlib import Path

from evidence.studies.answers import benchmarks, read_answers
from evidence.studies.subsampled import subsampled_rows
from pipeline.logits.read import read_scores
from pipeline.manifest import verify_shipped
from pipeline.script import OUTPUT, SEED, option, script
from pipeline.tables.files import write_table


@script(
    option("--scores", "files of scores and of forecasts (Parquet)", Path, many=True),
    option("--answers", "files of language models' answers (Parquet)", Path, many=True),
    option("--manifest", "the shipped files (JSON)", Path),
    option("--subsamples", "subsamples of each size", int, least=2),
    SEED,
    OUTPUT,
)
def main(options):
    files = [
        (path.parent.name, path.stem, read_scores(path, options.manifest).folds["test"])
        for path in options.scores
    ]
    for path in options.answers:
        verify_shipped(path, options.manifest)
        tops = benchmarks(read_answers(path))
        files += [("answers", f"{path.stem}_{name}", top) for name, top in tops.items()]
    rows = []
    for kind, name, top in files:
        rows += subsampled_rows(kind, name, top, options.subsamples, options.seed)
    write_table(options.output, "subsampled", rows)


if __name__ == "__main__":
    main()
