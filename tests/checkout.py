"""A copy of the checkout in which Snakemake runs, for tests/workflow."""

import fcntl
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from fork_client import asked

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "resources/published"
TABLE_2 = PUBLISHED / "roelofs2022_table2_beta_fits.csv"
TABLE_3 = PUBLISHED / "roelofs2022_table3_glm_fits.csv"
GENUINE = ROOT / "resources/logits/probs_resnet110_c10_logits.p"
SMOKE = "config/smoke.yaml"
TINY = "tiny.yaml"  # SMOKE with these experiments alone, so that results of one are the other's
TINY_EXPERIMENTS = ("fits", "realistic", "perfect")
# what runs elsewhere ask for: a simulation, and what is fitted to a file
RESULTS = ("results/bias/realistic.parquet", "results/fits/glm_fits/resnet110_c10.parquet")
SNAKEMAKE = Path(sys.executable).with_name("snakemake")
KINDS = sorted({name.split("/")[1] for name in RESULTS})
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "results", ".snakemake", "__pycache__", ".*_cache", "build", "*.egg-info"
)


class Checkout:
    """A copy of the checkout, and Snakemake in it with a configuration of seconds.

    Or a folder elsewhere, in which the rules of the checkout ``of`` run.
    """

    def __init__(self, path, of=None):
        self.path, self.of = Path(path), of

    def __truediv__(self, name):
        return self.path / name

    def arguments(self, *arguments, config=TINY):
        """Return the command line of Snakemake: two cores and the tiny configuration."""
        cores = () if {"--cores", "--jobs"} & set(arguments) else ("--cores", "2")
        here = self.of or Path()
        configfile = ("--configfile", str(here / config)) if config else ()
        snakefile = ("--snakefile", str(here / "Snakefile")) if self.of else ()
        return [str(SNAKEMAKE), *cores, *snakefile, *configfile, *arguments]

    def run(self, *arguments, config=TINY, ok=True, environment=None):
        """Return all that a run of Snakemake prints; assert that it succeeds, or does not.

        A failing run never shows a traceback of Python.
        """
        command = self.arguments(*arguments, config=config)
        where = str(self.path), self.environment(environment)
        with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
            status = asked(fork_server(), command, *where, log.fileno(), log.fileno())
            log.seek(0)
            said = log.read()
        assert (status == 0) == ok, said[-6000:]
        assert "Traceback (most recent call last)" not in said, said[-6000:]
        return said

    def log(self):
        """Return Snakemake's lines on the last run, most of which the screen does not show."""
        return max((self / ".snakemake/log").glob("*.log")).read_text("utf-8")

    def start(self, *arguments, config=TINY, environment=None):
        """Start a run of Snakemake as ``start_command`` does."""
        return self.start_command(self.arguments(*arguments, config=config), environment)

    def start_command(self, command, environment=None):
        """Start a command in a process group of its own, its words in run.log; return it."""
        with open(self.path / "run.log", "w", encoding="utf-8") as log:
            return subprocess.Popen(
                command,
                cwd=self.path,
                env=self.environment(environment),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # also where pytest runs in the background of a shell, which ignores Ctrl-C
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def environment(self, more=None):
        """Return the environment of a run, with nothing in it of the tests' own."""
        own = ("NUMBA_CACHE_DIR", "OMP_NUM_THREADS")  # conftest.py sets the latter
        kept = {name: value for name, value in os.environ.items() if name not in own}
        return {**kept, **(more or {})}

    def planned(self, *arguments, config=TINY):
        """Return the jobs of a dry run, a sorted list like ``fit_model resnet110_c10``."""
        text = self.run("--dry-run", *arguments, config=config)
        jobs = []
        for line in text.splitlines():
            if found := re.match(r" *(?:local)?rule (\w+):", line):
                jobs.append(found[1])
            elif found := re.match(r" *wildcards: (.*)", line):
                jobs[-1] += "".join(f" {pair.split('=')[1]}" for pair in found[1].split(", "))
        jobs = [job for job in jobs if job not in ("all", "record_provenance")]  # after any other
        assert jobs or "Nothing to be done" in text, text
        return sorted(jobs)

    def changed(self, **keys):
        """Write the tiny configuration with other values; return the path."""
        config = yaml.safe_load((self / TINY).read_text())
        for key, value in keys.items():
            if isinstance(value, dict):
                config["experiments"] |= value
            else:
                config[key] = value
        (self / "changed.yaml").write_text(yaml.safe_dump(config))
        return "changed.yaml"

    def copy(self, path):
        """Return a copy of all this, results and time stamps included, at ``path``."""
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", self.path, path], check=True)  # half the time of shutil's
        return Checkout(path)

    def edit(self, name, old, new):
        """Replace a text that must be in a file."""
        path = self.path / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in {name}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def append(self, name, text):
        """Add a line to the end of a file."""
        with open(self.path / name, "a", encoding="utf-8") as file:
            file.write(text)

    def times(self):
        """Return {path: time of its last change} of all files."""
        paths = (path for path in self.path.rglob("*") if path.is_file())
        return {path: path.stat().st_mtime_ns for path in paths}

    def bytes(self, *folders):
        """Return {path: bytes} of the files in folders of results."""
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for folder in folders or KINDS
            for path in sorted((self.path / "results" / folder).rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }


def simulated(*estimators, experiments=("realistic", "perfect")):
    """Return the jobs that draw replicates, and their summaries."""
    return {
        *(f"simulate_replicates {x} {name} 0 1" for x in experiments for name in estimators),
        *(f"summarise_bias {x}" for x in experiments),
    }


def errors(text):
    """Return the lines of a run's output by which a user learns what is wrong, each once."""
    return list(dict.fromkeys(line for line in text.splitlines() if line.startswith("error: ")))


@functools.cache
def fork_server():
    """Start, once for all workers, what runs Snakemake and its jobs; return its address."""
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    folder = Path(tempfile.gettempdir(), f"calbias-{session or os.getpid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "address").exists():
            ends_with = os.getppid() if session else os.getpid()
            command = [ROOT / "tests/fork_server.py", folder / "address", ends_with]
            server = subprocess.Popen(
                [sys.executable, *map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,  # it outlives the worker that starts it
            )
            assert server.stdout.readline() == "ready\n"
    return str(folder / "address")


def copy_of_the_working_tree(path):
    """Copy what belongs to the project, as it is now, to ``path``."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0 or not listed.stdout:  # not a git checkout, or no git
        shutil.copytree(ROOT, path, ignore=LEFT_OUT)
        return
    for name in listed.stdout.decode().rstrip("\0").split("\0"):
        if (ROOT / name).is_symlink():  # the folder of profiles
            (path / name).symlink_to((ROOT / name).readlink())
        elif (ROOT / name).is_file():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, path / name)


def write_tiny_configuration(checkout):
    """Write TINY."""
    config = yaml.safe_load((checkout / SMOKE).read_text("utf-8"))
    config["experiments"] = {
        name: keys if name in TINY_EXPERIMENTS else None
        for name, keys in config["experiments"].items()
    }
    (checkout / TINY).write_text(yaml.safe_dump(config), "utf-8")


def link_kernels(checkout):
    """Let runs in ``checkout`` use the kernels that this process uses: each is compiled once."""
    kernels = Path(os.environ.get("NUMBA_CACHE_DIR") or ROOT / "scripts/calbias/__pycache__")
    kernels.mkdir(parents=True, exist_ok=True)
    (checkout / "results").mkdir(parents=True, exist_ok=True)
    (checkout / "results/kernels").symlink_to(kernels.resolve())
