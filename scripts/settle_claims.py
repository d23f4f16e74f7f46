"""Simulate more replicates where Monte Carlo noise decides a verdict: table ``settled``."""

from calbias.claims.evidence import Evidence
from calbias.claims.ledger import all_claims
from calbias.claims.settling import settled_rows
from calbias.io.command_line import OUTPUT, SEED, TABLES, script
from calbias.io.tables import read_tables, write_table


@script(TABLES, SEED, OUTPUT)
def main(options):
    rows = settled_rows(all_claims(), Evidence(read_tables(options.table)), options.seed)
    write_table(options.output, "settled", rows)


if __name__ == "__main__":
    main()
