"""What a killed run left behind, made good when Snakemake next starts.

A killed Snakemake leaves locks and marks of unfinished outputs, which stop the next run until it is
given ``--unlock`` and ``--rerun-incomplete``. Whether they are left-overs is certain where the
kernel says so: every run shares a lock on one file as long as it lives, and a run that gets this
lock for itself is alone.
"""

import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from calbias.io.command_line import JOBS

MAKE_AGAIN, LET_BE = "--rerun-incomplete", "--ignore-incomplete"
_SAID = (MAKE_AGAIN, "--ri", LET_BE, "--ii", "--unlock")
# -n also together with others of Snakemake's short flags: -np, -qn
_DRY_RUN = re.compile(r"--dry-?run|-[Fkpqt]*n[Fkpqt]*")
# The Slurm plugin names a run's jobs by a random number, in five groups of digits.
_NAME_OF_A_RUN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ELSEWHERE = ("--directory", "-d")  # the folder was changed: relative options cannot be repeated
_held = []  # open files: their locks last as long as the process


def about_unfinished(folder, argv):
    """Return what to tell Snakemake of unfinished outputs: MAKE_AGAIN, LET_BE or None.

    ``folder`` is Snakemake's ``.snakemake``. MAKE_AGAIN where the last run was killed and left
    some: its locks are removed, once its jobs in Slurm are cancelled and those that it left running
    have ended. LET_BE while another run is at work: what is unfinished is in its hands, and its
    locks keep this one off. None where nothing is unfinished, where the last run was on another
    machine (not every file system shares locks between machines), and where the folder cannot be
    written.

    This process shares the lock from now on, but not as a dry run, told by ``argv``: that needs no
    lock, removes nothing and waits for nothing.
    """
    folder, dry_run = Path(folder), is_dry_run(argv)
    try:
        folder.mkdir(exist_ok=True)
        file = open(folder / "alive", "a+", encoding="utf-8")  # noqa: SIM115
        locks = list((folder / "locks").glob("*.lock"))
        alone = _alone(file)
        ours = alone and _on_this_machine(file, locks)
        if ours and locks and not dry_run:
            _cancel_slurm_jobs(folder.absolute().parent)
            _wait_for_jobs(folder / JOBS.name)
            for lock in locks:
                lock.unlink()
        if dry_run:
            file.close()
        else:
            fcntl.flock(file, fcntl.LOCK_SH)
            _held.append(file)
    except OSError:
        return None
    if not alone:
        return LET_BE if locks else None
    unfinished = any(mark.is_file() for mark in (folder / "incomplete").rglob("*"))
    return MAKE_AGAIN if ours and unfinished else None


def is_dry_run(argv):
    """Return whether a command line of Snakemake only asks what would be done."""
    return any(_DRY_RUN.fullmatch(argument) for argument in argv[1:])


def _cancel_slurm_jobs(folder):
    """Cancel the jobs that Snakemake submitted to Slurm from this folder; their run was killed.

    One that still waits in the queue would otherwise start at any time, with the configuration of
    then, beside the jobs of a later run.
    """
    if not shutil.which("squeue"):
        return
    # of this user: number, name, and folder, which may hold spaces
    command = ["squeue", "--me", "--noheader", "--format=%i %j %Z"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    jobs = [line.split(maxsplit=2) for line in said.splitlines()]
    left = [
        job[0]
        for job in jobs
        if len(job) == 3 and _NAME_OF_A_RUN.fullmatch(job[1]) and Path(job[2]) == folder
    ]
    if left:
        print(f"Cancelling jobs that a killed run left in Slurm: {' '.join(left)}.", flush=True)
        subprocess.run(["scancel", *left], check=False)


def _wait_for_jobs(path):
    with open(path, "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for jobs that a killed run left at work.", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)


def _alone(file):
    """Return whether no other run has this lock; this process has it for itself then."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _on_this_machine(file, locks):
    """Return whether the last run was on this machine; write down the machine's name.

    Not while there are locks of a run on another machine: it may be alive.
    """
    file.seek(0)
    last, here = file.read(), socket.gethostname()
    if last not in ("", here) and locks:
        return False
    if last != here:
        file.truncate(0)
        file.write(here)
        file.flush()
    return True


def resume(argv, option):
    """Start Snakemake anew in this process, with what ``about_unfinished`` returned.

    Returns, having done nothing, where that is None, where ``argv`` is not a command line of
    Snakemake's own, and where it says itself what to do with unfinished outputs.
    """
    said = {argument.partition("=")[0] for argument in argv[1:]}
    mine = argv[0].endswith(("snakemake", "snakemake/__main__.py"))
    if option and mine and not said & {*_SAID, *_ELSEWHERE}:
        if option == MAKE_AGAIN:
            print("The last run was killed: what it left unfinished is made again.", flush=True)
        command = [sys.executable, "-P", "-m", "snakemake", option, *argv[1:]]
        os.execv(sys.executable, command)
