"""The logs of a run's jobs: what each rule used, and the one-line errors of failed jobs."""

import os
import re
import sys
from collections import defaultdict
from pathlib import Path

from pipeline.door import USED

_USED = re.compile(re.sub(r"{[^}]*}", r"([\\d.]+)", USED))
_LOGS = re.compile(r"^ *log: (.*) \(check log file\(s\) for error details\)$", re.MULTILINE)


def cost_by_rule(logs):
    """Return {rule: jobs, CPU seconds in all, and MB of the largest job}, the dearest rule first.

    ``logs`` is the folder of ``{rule}.log`` and ``{rule}/….log``, of which a job that ran again
    has replaced its own. A log without such a line is not counted.
    """
    used = defaultdict(list)
    for path in Path(logs).rglob("*.log"):
        if lines := _USED.findall(_text([path])):
            used[path.relative_to(logs).parts[0].removesuffix(".log")].append(lines[-1])
    costs = {
        rule: {
            "jobs": len(jobs),
            "cpu_seconds": round(sum(float(seconds) for seconds, _ in jobs), 1),
            "peak_mb": max(int(peak) for _, peak in jobs),
        }
        for rule, jobs in used.items()
    }
    return dict(sorted(costs.items(), key=lambda item: (-item[1]["cpu_seconds"], item[0])))


def errors_of(snakemake_logs):
    """Return the lines ``error: …`` in the logs of the jobs that a run's logs say have failed."""
    logs = [path for paths in _LOGS.findall(_text(snakemake_logs)) for path in paths.split(", ")]
    lines = _text(filter(os.path.isfile, dict.fromkeys(logs))).splitlines()
    return list(dict.fromkeys(line for line in lines if line.startswith("error: ")))


def _text(paths):
    return "\n".join(Path(path).read_text(encoding="utf-8", errors="replace") for path in paths)


def show_errors(snakemake_logs):
    """Print these lines."""
    print("", *errors_of(snakemake_logs), sep="\n", file=sys.stderr)
