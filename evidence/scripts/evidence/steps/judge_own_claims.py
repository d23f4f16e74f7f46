from pathlib import Path

from pipeline.claims.ledger import judge_all, ledger_table, measurement_table
from pipeline.claims.run_tables import RunTables
from pipeline.tables import read_tables, write_table


def judge_own_claims(
    *, tables: dict[str, Path], output_claims: Path, output_measurements: Path
) -> None:
    """Judge what calbias itself promises, by the rules of ``evidence.claims``.

    tables: result tables, as NAME=PATH
    output_claims: table own_claims to write
    output_measurements: table own_measurements to write
    """
    judged = judge_all(RunTables(read_tables(tables)), "evidence")
    write_table(output_claims, "own_claims", ledger_table(judged))
    write_table(output_measurements, "own_measurements", measurement_table(judged))
