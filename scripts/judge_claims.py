"""Judge the paper's claims from result tables: the claims ledger, ``claims.csv``.

A table that is not given counts as not computed: claims that rest on it are ``not_judged``.
"""

import argparse

from calbias.claims.ledger import judge_all, read_claims
from calbias.claims.loading import add_evidence_options, load_evidence
from calbias.io.command_line import command, written_whole
from calbias.io.tables import write_table


@command
def main(argv=None):
    """Write one row for each claim, with its verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_evidence_options(parser)
    parser.add_argument("--claims", required=True, help="the claims, resources/claims.csv")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    ledger = judge_all(read_claims(options.claims), load_evidence(options))
    with written_whole(options.output) as temporary:
        write_table(temporary, "claims", ledger)


if __name__ == "__main__":
    main()
