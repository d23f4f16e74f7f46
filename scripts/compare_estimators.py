"""Compare estimators by paired t-tests of their absolute bias (paper §7.1, §7.3).

The second table has the test of §7.1 under the choices that the paper leaves open.
"""

from pipeline.scenarios.fits import printed_fits
from pipeline.script import SEED, option, script
from pipeline.tables.files import groups_of, read_table, write_table
from reproduction.studies.t_test import t_test_sensitivity
from reproduction.summaries.paired_t_test import paired_t_tests


@script(
    option("--bias", "table bias"),
    option("--models-table", "models table: gives the groups"),
    option("--beta-fits", "published Table 2"),
    option("--glm-fits", "published Table 3"),
    option("--experiments", "experiments to test", many=True),
    SEED,
    option("--output-tests", "table paired_t_test to write"),
    option("--output-sensitivity", "table t_test_sensitivity to write"),
)
def main(options):
    bias = read_table(options.bias)
    fits = printed_fits(read_table(options.beta_fits), read_table(options.glm_fits))
    groups = groups_of(read_table(options.models_table), options.models_table)
    tests = paired_t_tests(bias[bias["experiment"].isin(options.experiments)])
    sensitivity = t_test_sensitivity(bias, fits, groups, options.seed)
    write_table(options.output_tests, "paired_t_test", tests)
    write_table(options.output_sensitivity, "t_test_sensitivity", sensitivity)


if __name__ == "__main__":
    main()
