"""Judge the claims from result tables: tables ``claims`` and ``measurements``.

Verdicts come from rules on numbers, ``calbias.claims``; a claim whose tables are not given is not
judged.
"""

from calbias.claims.evidence import EVIDENCE, load_evidence
from calbias.claims.ledger import judge_all, ledger_table
from calbias.claims.measurements import measurement_table
from calbias.io.command_line import option, script
from calbias.io.tables import write_table


@script(
    *EVIDENCE,
    option("--output-claims", "table claims to write"),
    option("--output-measurements", "table measurements to write"),
)
def main(options):
    judged = judge_all(load_evidence(options))
    write_table(options.output_claims, "claims", ledger_table(judged))
    write_table(options.output_measurements, "measurements", measurement_table(judged))


if __name__ == "__main__":
    main()
