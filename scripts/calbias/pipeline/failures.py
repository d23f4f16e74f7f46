"""The one-line errors of the jobs that failed, for the end of Snakemake's output."""

import re
import sys
from pathlib import Path

_LOGS = re.compile(r"^ *log: (.*) \(check log file\(s\) for error details\)$", re.MULTILINE)


def errors_of(snakemake_logs):
    """Return the lines ``error: …`` in the logs of the jobs that a run's logs say have failed."""
    text = "\n".join(
        Path(path).read_text(encoding="utf-8", errors="replace") for path in snakemake_logs
    )
    logs = dict.fromkeys(path for paths in _LOGS.findall(text) for path in paths.split(", "))
    lines = [
        line
        for path in logs
        if Path(path).is_file()
        for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
        if line.startswith("error: ")
    ]
    return list(dict.fromkeys(lines))


def show_errors(snakemake_logs):
    """Print these lines."""
    print("", *errors_of(snakemake_logs), sep="\n", file=sys.stderr)
