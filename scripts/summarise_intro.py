"""Summarise what Figure 1 shows: a reliability diagram and the distribution of ECE_bin."""

from pipeline.scenarios.tables import read_scenarios
from pipeline.script import SEED, option, script
from pipeline.tables.files import write_table
from reproduction.replicates.gather import drawn_with, gather_shards
from reproduction.summaries.intro import estimate_histogram, reliability_diagram


@script(
    option("--scenarios", "scenario table"),
    option("--replicates", "replicate files", many=True),
    option("--n-replicates", "how many a cell has", int),
    option("--n-samples", "sample size of the diagram", int),
    option("--n-bins", "its number of bins", int),
    SEED,
    option("--histogram", "estimate_histogram to write"),
    option("--diagram", "reliability_diagram to write"),
)
def main(options):
    scenario, row = read_scenarios(options.scenarios)[0]
    expected = drawn_with(options.scenarios, options.seed, options.n_replicates)
    replicates = gather_shards(options.replicates, **expected)
    histogram = estimate_histogram(row["experiment"], replicates)
    write_table(options.histogram, "estimate_histogram", histogram)
    diagram = reliability_diagram(
        row["experiment"], scenario, options.n_samples, options.n_bins, options.seed
    )
    write_table(options.diagram, "reliability_diagram", diagram)


if __name__ == "__main__":
    main()
