"""Run the whole workflow, write results/report.html, and say where to look.

What ``make reproduce`` calls. It first puts in order what a killed run left, and a clock that was
set back. Options after ``--`` go to Snakemake as they are.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from pipeline.report import papers_with_claims
from pipeline.tables import read_table

LOCKS = Path(".snakemake/locks")
_LONG_AGO = time.mktime((1980, 1, 1, 0, 0, 0, 0, 0, 0))


def main(argv=None):
    """Run Snakemake, which writes its report at the end, then print a summary of what was made.

    It is no ``calbias.io.command_line.command``: those are jobs of a Snakemake run.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", default="all", help="cores for Snakemake (all)")
    parser.add_argument("snakemake", nargs="*", help="options for Snakemake, after --")
    options = parser.parse_args(argv)
    started = time.monotonic()
    snakemake = [sys.executable, "-m", "snakemake", "--cores", options.cores]
    if any(LOCKS.glob("*.lock")):
        unlock([*snakemake, "--unlock", *options.snakemake])
    if count := date_back(Path("results")):
        print(f"{count} results are dated in the future: their inputs' contents are compared.")
    report = ("--report", "results/report.html", "--report-after-run")
    if status := run([*snakemake, *report, *options.snakemake]):
        sys.exit(status)
    print(summary(Path("results"), time.monotonic() - started))


def unlock(command):
    """Remove the locks that a killed run left, by ``command``; exit where a run is at work."""
    here = Path.cwd()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            is_run = any("snakemake" in Path(word).parts[-1:] for word in process.cmdline()[:3])
            if is_run and Path(process.cwd()) == here:
                sys.exit(
                    f"error: another run is at work in {here} (process {process.pid}): wait until "
                    "it has ended"
                )
    print("The last run was killed: what it left unfinished is made again.", flush=True)
    if status := run(command):
        sys.exit(status)


def date_back(folder, tolerance=120):
    """Date the files of ``folder`` that are from the future back to 1980; return how many.

    After a clock was set back, results look newer than any edit. Dated back they look older, and
    Snakemake compares the contents of their inputs. Their order in time is kept. ``tolerance`` is
    in seconds: a file server's clock may be ahead of this machine's.
    """
    now = time.time()
    future = {
        path: path.stat().st_mtime
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_mtime > now + tolerance
    }
    shift = max(future.values(), default=0) - _LONG_AGO
    for path, then in future.items():
        os.utime(path, (now, then - shift))
    return len(future)


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
        for shown in papers_with_claims(read_table(claims)):
            lines.append(f"{shown['paper'].name}, {shown['sentence']}")
    lines.append(f"Open {results / 'index.html'} in a browser.")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
