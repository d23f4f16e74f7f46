"""The cache of compiled kernels: true after an edit anywhere, and shared without mix-ups.

On two small kernels in a package of their own, with the project's ``njit``. And the same numbers,
to the last bit, whatever vector instructions the processor has: compiled afresh for AVX2 in every
run, for plain x86-64 too where CALBIAS_NIGHTLY is set. And no kernel leaves its arrays.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import python
from nightly import daily

from calbias.io.python_files import SCRIPTS
from pipeline.job_params import job_params

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
    for name in (*NEEDED, "io/python_files"):
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
    jobs = [start(package, NUMBA_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2)]
    results, compiled = zip(*map(ended, jobs), strict=True)
    assert set(results) == {"7.0 7"}
    compiled = [line for lines in compiled for line in lines]
    assert len(compiled) == len(set(compiled)) == len(list((tmp_path / "cache").rglob("*.nbc")))


@pytest.mark.nightly
def test_a_cache_that_cannot_be_written_is_done_without(package, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    (package / "calbias/__pycache__").write_text("likewise")
    cache = str(tmp_path / "cache")
    results, compiled = ended(start(package, NUMBA_CACHE_DIR=cache, HOME=cache))
    assert results == "7.0 7"
    assert len(compiled) == 4


@pytest.mark.parametrize("gone", daily(["_CacheLocator", "Cache._load_overload"], 1))
def test_numba_without_the_private_parts_of_the_cache_is_done_without_it(package, gone):
    """Numba may change them in any release: this says that it has, and that kernels still run."""
    from numba.core import caching

    assert eval(f"caching.{gone}", {"caching": caching})
    remove = f"from numba.core import caching\ndel caching.{gone}\n"
    call = "from calbias.engine.outer import outer\nprint(outer(3.0), outer(3))"
    made = subprocess.run(
        [sys.executable, "-c", remove + call], env={**os.environ, "PYTHONPATH": str(package)},
        text=True, capture_output=True, check=True,
    )  # fmt: skip
    assert made.stdout == "7.0 7\n"
    assert not [*package.rglob("*.nbi")]


def test_jobs_keep_their_kernels_among_the_results_unless_told_otherwise(tmp_path):
    def said(**environment):
        line = job_params("describe_tables", list)["run"](None, None).rpartition("python ")[0]
        line += "bash -c 'echo $NUMBA_CACHE_DIR; command -v python'"
        run = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env={"PATH": "/bin:/usr/bin", **environment},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return run.stdout.split()

    folder = str(Path(sys.executable).parent)
    assert said() == [str(tmp_path / "results/kernels"), f"{folder}/python"]
    assert said(NUMBA_CACHE_DIR="/elsewhere")[0] == "/elsewhere"


PROGRAM = """
import hashlib, numba, numpy, sys
sys.path[:0] = ["tests"]
from engine_data import published_scenario
from calbias.engine.sampler import Sampler
from calbias.simulation import simulate_estimates

digest = hashlib.sha256()
scenario = published_scenario("resnet110_c100")
for n in (37, 200, 3000):
    for data in Sampler(scenario, n, 1).batches(range(5)):
        for array in (data.scores, data.cum_gap, data.cum_hit):
            digest.update(array.tobytes())
digests = [digest.hexdigest()]
for name in sys.argv[1:]:
    digest = hashlib.sha256()
    for n in (37, 200, 3000):
        [(values, n_bins)] = simulate_estimates(scenario, n, range(5), [name]).values()
        digest.update(values.tobytes() + n_bins.tobytes())
    digests.append(digest.hexdigest())

@numba.njit
def double(values):  # a loop that is vectorised, compiled afresh: which registers are there?
    for k in range(values.size):
        values[k] *= 2.0

double(numpy.ones(99))
[machine_code] = double.inspect_asm().values()
print(*(register in machine_code for register in ("%zmm", "%ymm")), *digests)
"""
AVX2 = "+avx,+avx2,+bmi,+bmi2,+fma,+lzcnt,+popcnt,+sse4.2"
ALL = ["ece_bin_ew", "ece_sweep_em", "ece_bin_em", "ece_debias_ew", "ece_sweep_ew", "kde"]


@pytest.fixture(scope="module")
def here():
    _, _, *digests = python(PROGRAM, *ALL).split()
    return digests


@pytest.mark.parametrize(
    ("cpu", "features", "names", "registers"),
    [
        ("haswell", AVX2, ALL[:2], ["False", "True"]),
        pytest.param(
            *("generic", "", ALL, ["False", "False"]),
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_fewer_vector_instructions_give_the_same_bits(here, cpu, features, names, registers):
    """A job on an old node of a cluster, or on a laptop, adds to results made elsewhere."""
    other = python(PROGRAM, *names, NUMBA_CPU_NAME=cpu, NUMBA_CPU_FEATURES=features)
    assert other.split() == [*registers, *here[: 1 + len(names)]]


BOUNDS = """
import sys
sys.path[:0] = ["tests"]
from functools import partial
import numpy as np
from engine_data import published_scenario
from kernel_bounds import print_faults
from calbias import noise_floor
from calbias.auditing.error.estimator_bias import redraws
from calbias.engine.sampler import Sampler
from calbias.io.python_files import SCRIPTS
from calbias.multiclass.measures import MEASURES
from reproduction.authors_draws import batches, seeds
from reproduction.resamples import resampled_batch

scenario = published_scenario("resnet110_c10")
generator = np.random.default_rng(0)

def draw(n):
    for _ in Sampler(scenario, n, 1).batches(range(9)), redraws(np.sort(x[:n]), x[:n], 9):
        [*_]

x = generator.random(300)
calls = [partial(draw, n) for n in (1, 2, 31, 32, 33, 300)]
calls += [lambda: [*batches(scenario, (1, 2, 50), seeds(5))]]
ties, twice = np.sort(x.round(1)), 2 * (np.arange(300) % 2)
calls += [partial(resampled_batch, ties, twice > 0, twice)]
for n, classes in ((1, 2), (2, 3), (40, 5), (600, 3)):
    p = generator.dirichlet(np.full(classes, 0.3), n)
    calls += [partial(noise_floor, p, p.argmax(1), measure=m, replicates=20) for m in MEASURES]
print_faults([SCRIPTS / "calbias", SCRIPTS / "reproduction"], calls=calls)
"""


def test_no_kernel_leaves_its_arrays():
    assert python(BOUNDS, NUMBA_BOUNDSCHECK="1").split() == []
