import json
import sys
from pathlib import Path

from pipeline.provenance import cost_by_rule, provenance
from pipeline.versions import mixed
from pipeline.write_results import write_text


def record_provenance(
    *,
    inputs: list[Path],
    files: list[Path],
    logs: Path | None,
    config: str,
    output: Path,
) -> None:
    """Record what the results were made from and with, and the checksum of each table and figure.

    inputs: what the results were made from
    files: tables and figures to record
    logs: folder of the jobs' logs, for what each rule used
    config: the complete configuration, as JSON
    output: record to write (JSON)
    """
    record = provenance(json.loads(config), files, inputs)
    record["cost"] = cost_by_rule(logs) if logs else {}
    for line in mixed(record["made_with"]):
        print(f"warning: {line}", file=sys.stderr)
    write_text(output, json.dumps(record, indent=2) + "\n")
