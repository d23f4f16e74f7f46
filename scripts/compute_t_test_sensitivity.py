"""Compute the §7.1 t-test under the choices that the paper leaves open."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import groups_of, read_table, write_table
from calbias.sensitivity.t_test import t_test_sensitivity
from calbias.truth.published_fits import printed_fits


@command
def main(argv=None):
    """Write table ``t_test_sensitivity``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bias", required=True, help="table bias (CSV)")
    parser.add_argument("--models-table", required=True, help="models table (CSV): gives groups")
    parser.add_argument("--beta-fits", required=True, help="published Table 2 (CSV)")
    parser.add_argument("--glm-fits", required=True, help="published Table 3 (CSV)")
    parser.add_argument("--seed", type=int, required=True, help="seed of all random streams")
    parser.add_argument(
        "--rounding-draws", type=int, default=3, help="draws of the printed parameters (default 3)"
    )
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    table = t_test_sensitivity(
        read_table(options.bias),
        printed_fits(read_table(options.beta_fits), read_table(options.glm_fits)),
        groups_of(read_table(options.models_table), options.models_table),
        options.seed,
        options.rounding_draws,
    )
    write_table(options.output, "t_test_sensitivity", table)


if __name__ == "__main__":
    main()
