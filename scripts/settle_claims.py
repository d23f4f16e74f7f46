"""Simulate more replicates where Monte Carlo noise decides a verdict: table ``settled``."""

from calbias.claims.evidence import EVIDENCE, load_evidence
from calbias.claims.ledger import all_claims
from calbias.claims.settling import settled_rows
from calbias.io.command_line import OUTPUT, SEED, script
from calbias.io.tables import write_table


@script(*EVIDENCE, SEED, OUTPUT)
def main(options):
    rows = settled_rows(all_claims(), load_evidence(options), options.seed)
    write_table(options.output, "settled", rows)


if __name__ == "__main__":
    main()
