"""The cache of compiled kernels: true after an edit anywhere, and shared without mix-ups.

On two small kernels in a package of their own, with the project's ``njit``.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from calbias.io.code_files import SCRIPTS
from pipeline.settings import job_shell

pytestmark = pytest.mark.slow

NEEDED = ("__init__", "errors", "engine/__init__", "engine/jit", "io/__init__", "io/files")
INNER = """
from calbias.engine.jit import njit


@njit
def inner(x):
    return 2 * x
"""
OUTER = """
from calbias.engine.inner import inner
from calbias.engine.jit import njit


@njit
def outer(x):
    return inner(x) + 1
"""
# Print a line for every kernel that the process compiles.
CALL = """
from numba.core.dispatcher import _FunctionCompiler
compile = _FunctionCompiler.compile
def counted(self, args, return_type):
    print(self.py_func.__module__, self.py_func.__qualname__, args)
    return compile(self, args, return_type)
_FunctionCompiler.compile = counted
from calbias.engine.outer import outer
print(outer(3.0), outer(3))
"""


@pytest.fixture
def package(tmp_path):
    for name in (*NEEDED, "io/code_files"):
        path = tmp_path / f"scripts/calbias/{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SCRIPTS / f"calbias/{name}.py", path)
    (tmp_path / "scripts/calbias/engine/inner.py").write_text(INNER)
    (tmp_path / "scripts/calbias/engine/outer.py").write_text(OUTER)
    return tmp_path / "scripts"


def start(scripts, **environment):
    environment = {**os.environ, "PYTHONPATH": str(scripts), **environment}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", CALL], env=environment, text=True, **streams)


def ended(job):
    """Return what a job printed as results, and the kernels that it compiled."""
    printed, errors = job.communicate()
    assert (job.returncode, errors) == (0, "")
    *compiled, results = printed.splitlines()
    return results, compiled


def test_a_kernel_is_compiled_once_and_again_after_an_edit_of_one_that_it_calls(package, tmp_path):
    cache = str(tmp_path / "cache")
    inner = package / "calbias/engine/inner.py"
    results, compiled = ended(start(package, NUMBA_CACHE_DIR=cache))
    assert results == "7.0 7"
    assert len(compiled) == 4  # two kernels, of two types of numbers
    inner.write_text(INNER.replace("2 * x", "2 * x + 3 * x"))
    edited, again = ended(start(package, NUMBA_CACHE_DIR=cache))
    assert edited == "16.0 16"
    assert again == compiled
    inner.write_text(INNER)
    assert ended(start(package, NUMBA_CACHE_DIR=cache)) == (results, [])
    elsewhere = shutil.copytree(package, tmp_path / "copy")
    assert ended(start(elsewhere, NUMBA_CACHE_DIR=cache)) == (results, [])


def test_jobs_that_start_together_fill_an_empty_cache(package, tmp_path):
    jobs = [start(package, NUMBA_CACHE_DIR=str(tmp_path / "cache")) for _ in range(4)]
    results, compiled = zip(*map(ended, jobs), strict=True)
    assert set(results) == {"7.0 7"}
    compiled = [line for lines in compiled for line in lines]
    assert len(compiled) == len(set(compiled)) == len(list((tmp_path / "cache").rglob("*.nbc")))


def test_a_cache_that_cannot_be_written_is_done_without(package, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    (package / "calbias/__pycache__").write_text("likewise")
    cache = str(tmp_path / "cache")
    results, compiled = ended(start(package, NUMBA_CACHE_DIR=cache, HOME=cache))
    assert results == "7.0 7"
    assert len(compiled) == 4


def test_jobs_keep_their_kernels_among_the_results_unless_told_otherwise(tmp_path):
    def said(**environment):
        line = job_shell().format() + "echo $NUMBA_CACHE_DIR; command -v python"
        run = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env={"PATH": "/bin:/usr/bin", **environment},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return run.stdout.split()

    folder = str(Path(sys.executable).parent)
    assert said() == [str(tmp_path / "results/kernels"), f"{folder}/python"]
    assert said(NUMBA_CACHE_DIR="/elsewhere")[0] == "/elsewhere"
