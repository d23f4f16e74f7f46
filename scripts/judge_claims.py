"""Judge the claims from result tables: tables ``claims``, ``measurements`` and ``comparison``.

Verdicts come from rules on numbers (``reproduction.claims``); a claim without its tables is not
judged. The last table has the published numbers next to the recomputed ones.
"""

from pipeline.claims.evidence import Evidence
from pipeline.claims.ledger import judge_all, ledger_table
from pipeline.claims.measurements import measurement_table
from pipeline.script import TABLES, option, script
from pipeline.tables.files import read_tables, write_table
from reproduction.claims.comparison import comparison


@script(
    TABLES,
    option("--output-claims", "table claims to write"),
    option("--output-measurements", "table measurements to write"),
    option("--output-comparison", "table comparison to write"),
)
def main(options):
    evidence = Evidence(read_tables(options.table))
    judged = judge_all(evidence)
    measurements = measurement_table(judged)
    write_table(options.output_claims, "claims", ledger_table(judged))
    write_table(options.output_measurements, "measurements", measurements)
    write_table(options.output_comparison, "comparison", comparison(evidence, measurements))


if __name__ == "__main__":
    main()
