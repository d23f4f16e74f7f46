"""The same numbers, to the last bit, whatever vector instructions the processor has.

Compiled afresh for AVX2 in every run; for plain x86-64 too where CALBIAS_NIGHTLY is set.
"""

import os

import pytest
from command import python

PROGRAM = """
import hashlib, numba, numpy, sys
sys.path[:0] = ["tests", "tests/unit"]
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
BINNED = [f"ece_{kind}_{bins}" for kind in ("bin", "debias", "sweep") for bins in ("ew", "em")]
ALL = [*BINNED, "kde"]


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def here():
    _, _, *digests = python(PROGRAM, *ALL).split()
    return digests


@pytest.mark.parametrize(
    ("cpu", "features", "names", "registers"),
    [
        ("haswell", AVX2, BINNED, ["False", "True"]),
        pytest.param(
            *("generic", "", ALL, ["False", "False"]),
            marks=pytest.mark.skipif(not os.environ.get("CALBIAS_NIGHTLY"), reason="nightly in CI"),
        ),
    ],
)
def test_fewer_vector_instructions_give_the_same_bits(here, cpu, features, names, registers):
    """A job on an old node of a cluster, or on a laptop, adds to results made elsewhere."""
    other = python(PROGRAM, *names, NUMBA_CPU_NAME=cpu, NUMBA_CPU_FEATURES=features)
    assert other.split() == [*registers, *here[: 1 + len(names)]]
