"""Put the published numbers beside the recomputed ones: the table ``comparison``."""

import argparse

from calbias.claims.loading import add_evidence_options, load_evidence
from calbias.command_line import command, written_whole
from calbias.comparison import comparison
from calbias.printed_fits import printed_fits
from calbias.result_tables import write_table


@command
def main(argv=None):
    """Write a row for each published number that the given tables recompute."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_evidence_options(parser)
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    evidence = load_evidence(options)
    fits = printed_fits(
        evidence.published["roelofs2022_table2_beta_fits"],
        evidence.published["roelofs2022_table3_glm_fits"],
    )
    with written_whole(options.output) as temporary:
        write_table(temporary, comparison(evidence, fits))


if __name__ == "__main__":
    main()
