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

from pipeline import catalogue
from pipeline.guests import MAIN
from pipeline.provenance import read_record
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
    if Path("results/provenance.json").exists():  # not where only a part was asked for
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
    """Return the status of a command as a shell does; 130 after Ctrl-C, if it did not end well."""
    process, stopped, status = subprocess.Popen(arguments), False, None
    while status is None:
        try:
            status = process.wait()
        except KeyboardInterrupt:  # Snakemake gets it too, and stops in order
            stopped = True
    return 130 if stopped and status else 128 - status if status < 0 else status


def summary(results, seconds):
    """Return the closing lines: run time, figures and tables, verdicts, where to look.

    Those are counted that the run asked for, by its record; others of the papers are left over.
    """
    asked = {Path(name) for name in read_record(results / "provenance.json")["files"]}
    figures, tables = (sum(path.suffix == kind for path in asked) for kind in (".png", ".csv"))
    lines = [f"Done in {seconds / 60:.1f} minutes: {figures} figures, {tables} tables."]
    if parts := [
        counted(kind, names) for kind, names in left_over(results, asked).items() if names
    ]:
        lines.append(f"Left over of other configurations: {'; '.join(parts)}.")
    claims = results / "tables/claims.csv"
    if claims.exists():
        for shown in papers_with_claims(read_table(claims)):
            lines.append(f"{shown['paper'].name}, {shown['sentence']}")
    lines.append(f"Open {results / 'index.html'} in a browser.")
    return "\n".join(lines)


def left_over(results, asked):
    """Return the figures and the tables of the papers that are there and were not asked for.

    Tables of audits are a target of their own.
    """
    kinds = {
        "figure": [results / f"figures/{name}.png" for name in catalogue.figures(MAIN)],
        "table": [
            results / f"tables/{name}.csv"
            for name in catalogue.default_tables(MAIN)
            if not name.startswith("audit_")
        ],
    }
    return {
        kind: [path.stem for path in paths if path.exists() and path not in asked]
        for kind, paths in kinds.items()
    }


def counted(kind, names):
    """Return a number of names, and the names."""
    return f"{len(names)} {kind}{'s' * (len(names) > 1)} ({', '.join(sorted(names))})"


if __name__ == "__main__":
    main()
