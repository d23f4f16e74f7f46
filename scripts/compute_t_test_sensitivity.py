"""Compute the §7.1 t-test under the choices that the paper leaves open."""

from calbias.io.command_line import OUTPUT, SEED, option, script
from calbias.io.tables import groups_of, read_table, write_table
from calbias.sensitivity.t_test import t_test_sensitivity
from calbias.truth.published_fits import printed_fits


@script(
    option("--bias", "table bias"),
    option("--models-table", "models table: gives the groups"),
    option("--beta-fits", "published Table 2"),
    option("--glm-fits", "published Table 3"),
    SEED,
    OUTPUT,
)
def main(options):
    table = t_test_sensitivity(
        read_table(options.bias),
        printed_fits(read_table(options.beta_fits), read_table(options.glm_fits)),
        groups_of(read_table(options.models_table), options.models_table),
        options.seed,
    )
    write_table(options.output, "t_test_sensitivity", table)


if __name__ == "__main__":
    main()
