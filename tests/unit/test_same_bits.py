"""The same numbers, to the last bit, whatever vector instructions the processor has."""

import os
import subprocess
import sys

from engine_data import ROOT

PROGRAM = """
import hashlib, sys
sys.path[:0] = ["scripts", "tests/unit"]
import numpy as np
from engine_data import published_scenario
from calbias.engine.triweight_sums import sum_kernels
from calbias.engine.sampler import Sampler
from calbias.simulation.simulate import simulate_estimates

digest = hashlib.sha256()
scenario = published_scenario("resnet110_c100")
names = ["ece_bin_ew", "ece_debias_em", "ece_sweep_em", "kde"]
for n in (37, 200, 3000):
    for data in Sampler(scenario, n, 1).batches(range(5)):
        digest.update(b"".join(array.tobytes() for array in data.drawn_arrays()))
    for values, n_bins in simulate_estimates(scenario, n, range(5), names).values():
        digest.update(values.tobytes() + n_bins.tobytes())
wide = any("%ymm" in text or "%zmm" in text for text in sum_kernels.inspect_asm().values())
print(digest.hexdigest(), wide)
"""


def run(cache, **environment):
    command = [sys.executable, "-c", PROGRAM]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_processor_without_wide_registers_gives_the_same_bits(tmp_path):
    """A job on an old node of a cluster, or on a laptop, adds to results made elsewhere."""
    here = run(os.environ.get("NUMBA_CACHE_DIR", ""))
    generic = run(tmp_path, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert generic == [here[0], "False"]
