from pathlib import Path

from pipeline.claims.ledger import judge_all, ledger_table, measurement_table
from pipeline.claims.run_tables import RunTables
from pipeline.tables import read_tables, write_table


def judge_networks(
    *, tables: dict[str, Path], output_claims: Path, output_measurements: Path
) -> None:
    """Judge the papers' statements on the kept networks, by the rules of ``networks.claims``.

    tables: result tables, as NAME=PATH
    output_claims: table network_claims to write
    output_measurements: table network_measurements to write
    """
    judged = judge_all(RunTables(read_tables(tables)), "networks")
    write_table(output_claims, "network_claims", ledger_table(judged))
    write_table(output_measurements, "network_measurements", measurement_table(judged))
