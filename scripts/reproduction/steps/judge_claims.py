from pathlib import Path

from pipeline.claims.evidence import Evidence
from pipeline.claims.ledger import judge_all, ledger_table, measurement_table
from pipeline.tables import read_tables, write_table
from reproduction.claims.comparison import comparison


def judge_claims(
    *,
    tables: dict[str, Path],
    output_claims: Path,
    output_measurements: Path,
    output_comparison: Path,
) -> None:
    """Judge the claims from result tables: tables ``claims``, ``measurements`` and ``comparison``.

    Verdicts come from rules on numbers (``reproduction.claims``); a claim without its tables is not
    judged. The last table has the published numbers next to the recomputed ones.

    tables: result tables, as NAME=PATH
    output_claims: table claims to write
    output_measurements: table measurements to write
    output_comparison: table comparison to write
    """
    evidence = Evidence(read_tables(tables))
    judged = judge_all(evidence, "reproduction")
    measurements = measurement_table(judged)
    write_table(output_claims, "claims", ledger_table(judged))
    write_table(output_measurements, "measurements", measurements)
    write_table(output_comparison, "comparison", comparison(evidence, measurements))
