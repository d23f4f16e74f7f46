"""The one-line errors of the jobs that failed, for the end of Snakemake's output."""

import re
import sys
from pathlib import Path

_LOGS = re.compile(r"^ *log: (.*) \(check log file\(s\) for error details\)$", re.MULTILINE)


def errors_of(snakemake_log):
    """Return the lines ``error: …`` in the logs of the jobs that a run's log says have failed."""
    text = Path(snakemake_log).read_text(encoding="utf-8", errors="replace")
    logs = dict.fromkeys(path for paths in _LOGS.findall(text) for path in paths.split(", "))
    lines = [
        line
        for path in logs
        if Path(path).is_file()
        for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
        if line.startswith("error: ")
    ]
    return list(dict.fromkeys(lines))


def show_errors(snakemake_log):
    """Print these lines."""
    print("", *errors_of(snakemake_log), sep="\n", file=sys.stderr)
