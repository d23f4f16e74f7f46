"""Measure how often the intervals of an audit hold the truth, for one law of the scores."""

from evidence.studies.interval_coverage import CHOICES, coverage_table
from pipeline.script import OUTPUT, SEED, option, script
from pipeline.tables.files import write_table


@script(
    option("--law", "law of the scores, or a set of cells", choices=CHOICES),
    option("--data-sets", "data sets of each cell", int, least=2),
    SEED,
    OUTPUT,
)
def main(options):
    table = coverage_table(options.law, options.data_sets, options.seed)
    write_table(options.output, "interval_coverage", table)


if __name__ == "__main__":
    main()
