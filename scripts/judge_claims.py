"""Judge the claims from result tables: tables ``claims`` and ``measurements``.

Verdicts come from rules on numbers, ``calbias.claims``; a claim whose tables are not given is not
judged.
"""

import argparse

from calbias.claims.evidence import add_evidence_options, load_evidence
from calbias.claims.ledger import judge_all, ledger_table
from calbias.claims.measurements import measurement_table
from calbias.io.command_line import command
from calbias.io.tables import write_table


@command
def main(argv=None):
    """Write one row for each claim, with its verdict, and one for each number behind it."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_evidence_options(parser)
    parser.add_argument("--output-claims", required=True, help="table claims to write (CSV)")
    parser.add_argument(
        "--output-measurements", required=True, help="table measurements to write (CSV)"
    )
    options = parser.parse_args(argv)
    judged = judge_all(load_evidence(options))
    write_table(options.output_claims, "claims", ledger_table(judged))
    write_table(options.output_measurements, "measurements", measurement_table(judged))


if __name__ == "__main__":
    main()
