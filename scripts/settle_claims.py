"""Simulate more replicates where Monte Carlo noise decides a verdict: table ``settled``."""

from pipeline.claims.evidence import Evidence
from pipeline.claims.ledger import all_claims
from pipeline.script import OUTPUT, SEED, TABLES, script
from pipeline.tables.files import read_tables, write_table
from reproduction.claims.settling import settled_rows


@script(TABLES, SEED, OUTPUT)
def main(options):
    rows = settled_rows(all_claims(), Evidence(read_tables(options.table)), options.seed)
    write_table(options.output, "settled", rows)


if __name__ == "__main__":
    main()
