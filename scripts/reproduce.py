"""Run the whole workflow, write results/report.html, and say where to look.

What ``make reproduce`` calls. Options after ``--`` go to Snakemake as they are.
"""

import argparse
import contextlib
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from calbias.io.tables import read_table


def main(argv=None):
    """Run Snakemake, then its report, then print a summary of what was made.

    It is no ``calbias.io.command_line.command``: those are jobs, for which Snakemake waits.
    """
    options = _parse(argv)
    started = time.monotonic()
    snakemake = [sys.executable, "-m", "snakemake", "--cores", options.cores, *options.snakemake]
    for arguments in ([], ["--report", "results/report.html"]):
        status = run([*snakemake, *arguments])
        if status:
            sys.exit(status)
    print(summary(Path("results"), time.monotonic() - started))


def run(arguments):
    """Return the status of a command that is let end by itself, also after Ctrl-C."""
    process = subprocess.Popen(arguments)
    while True:
        with contextlib.suppress(KeyboardInterrupt):  # Snakemake gets it too, and stops in order
            return process.wait()


def summary(results, seconds):
    """Return the closing lines: run time, figures and tables, verdicts, where to look."""
    figures = len(list(results.glob("figures/*.png")))
    tables = len(list(results.glob("tables/*.csv")))
    lines = [f"Done in {seconds / 60:.1f} minutes: {figures} figures, {tables} tables."]
    claims = results / "tables/claims.csv"
    if claims.exists():
        verdicts = Counter(read_table(claims)["verdict"])
        counted = ", ".join(f"{count} {name}" for name, count in verdicts.most_common())
        lines.append(f"Claims of the paper: {counted}.")
    lines.append(f"Open {results / 'report.html'} in a browser; start at the ledger of claims.")
    return "\n".join(lines)


def _parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", default="all", help="cores for Snakemake (all)")
    parser.add_argument("snakemake", nargs="*", help="options for Snakemake, after --")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
