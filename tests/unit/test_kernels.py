"""The cache of compiled kernels: true after an edit anywhere, and shared without mix-ups."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
ESTIMATE = (
    "from calbias.estimation.api import estimate;"
    "print(estimate('ece_sweep_ew', [.1, .2, .3, .6, .7, .9], [0, 0, 1, 0, 1, 1]).n_bins)"
)

# Print a line for every kernel that the process compiles.
COUNTING = """
from numba.core.dispatcher import _FunctionCompiler
compile = _FunctionCompiler.compile
def counted(self, args, return_type):
    print(self.py_func.__module__, self.py_func.__qualname__, args)
    return compile(self, args, return_type)
_FunctionCompiler.compile = counted
"""


def estimate(scripts, cache):
    environment = {**os.environ, "PYTHONPATH": str(scripts), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", ESTIMATE]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


@pytest.fixture
def package(tmp_path):
    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "scripts"


def test_an_edit_of_a_kernel_in_another_file_is_seen(package, tmp_path):
    before = estimate(package, tmp_path / "cache").stdout
    binning = package / "calbias/engine/binning.py"
    text = binning.read_text()
    rank = "ranks[k] += 1 if scores[ranks[k]] < edges[k] else 0"
    assert rank in text
    binning.write_text(text.replace(rank, "ranks[k] += k % 2"))
    after = estimate(package, tmp_path / "cache").stdout
    assert float(after) != float(before)
    binning.write_text(text)
    assert estimate(package, tmp_path / "cache").stdout == before


def test_kernels_are_compiled_once(package, tmp_path):
    cache = tmp_path / "cache"
    estimate(package, cache)
    compiled = {path: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")}
    assert compiled
    estimate(package, cache)
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")} == compiled


def test_jobs_that_start_together_fill_an_empty_cache(package, tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-c", COUNTING + ESTIMATE]
    jobs = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    printed = [job.communicate()[0].splitlines() for job in jobs]
    assert all(job.returncode == 0 for job in jobs)
    assert len({lines[-1] for lines in printed}) == 1
    compiled = [line for lines in printed for line in lines if line.startswith("calbias")]
    assert len(compiled) == len(set(compiled)) == len(list((tmp_path / "cache").rglob("*.nbc")))
    assert estimate(package, tmp_path / "cache").stdout.strip()


def test_a_cache_that_cannot_be_written_is_done_without(package, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    (package / "calbias/__pycache__").write_text("likewise")
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "HOME": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-c", ESTIMATE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
