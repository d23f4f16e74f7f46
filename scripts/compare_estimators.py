"""Compare estimators by paired t-tests of their absolute bias (paper §7.1, §7.3)."""

from calbias.io.command_line import OUTPUT, option, script
from calbias.io.tables import read_table, write_table
from calbias.summaries.paired_t_test import paired_t_tests


@script(
    option("--bias", "table bias"),
    option("--experiments", "experiments to test", many=True),
    OUTPUT,
)
def main(options):
    bias = read_table(options.bias)
    tests = paired_t_tests(bias[bias["experiment"].isin(options.experiments)])
    write_table(options.output, "paired_t_test", tests)


if __name__ == "__main__":
    main()
