"""Simulate more replicates where Monte Carlo noise decides a verdict: table ``settled``."""

from reproduction.claims.evidence import Evidence
from reproduction.claims.ledger import all_claims
from reproduction.claims.settling import settled_rows
from reproduction.pipeline.script import OUTPUT, SEED, TABLES, script
from reproduction.tables.files import read_tables, write_table


@script(TABLES, SEED, OUTPUT)
def main(options):
    rows = settled_rows(all_claims(), Evidence(read_tables(options.table)), options.seed)
    write_table(options.output, "settled", rows)


if __name__ == "__main__":
    main()
