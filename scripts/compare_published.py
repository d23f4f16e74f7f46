"""Put the published numbers beside the recomputed ones: the table ``comparison``."""

import argparse

from calbias.claims.comparison import comparison
from calbias.claims.evidence import add_evidence_options, load_evidence
from calbias.io.command_line import command
from calbias.io.tables import read_table, write_table
from calbias.truth.published_fits import printed_fits


@command
def main(argv=None):
    """Write a row for each published number that the given tables recompute."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_evidence_options(parser)
    parser.add_argument("--measurements", required=True, help="table measurements (CSV)")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    evidence = load_evidence(options)
    fits = printed_fits(
        evidence.published["roelofs2022_table2_beta_fits"],
        evidence.published["roelofs2022_table3_glm_fits"],
    )
    measurements = read_table(options.measurements)
    write_table(options.output, "comparison", comparison(evidence, measurements, fits))


if __name__ == "__main__":
    main()
