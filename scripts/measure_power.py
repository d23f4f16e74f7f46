"""Measure size and power of tests of calibration on scenarios of known truth."""

from calbias.hypothesis_tests.power import power_rows, power_scenarios
from calbias.io.command_line import OUTPUT, SEED, option, script
from calbias.io.tables import write_table


@script(
    option("--tests", "tests; redraw_X is the redraw test of X", many=True),
    option("--n-samples", "sample sizes", int, least=2, many=True),
    option("--replicates", "data sets of each cell", int, least=20),
    SEED,
    OUTPUT,
)
def main(options):
    sizes, seed = options.n_samples, options.seed
    rows = power_rows(options.tests, power_scenarios(), sizes, options.replicates, seed)
    write_table(options.output, "test_power", rows)


if __name__ == "__main__":
    main()
