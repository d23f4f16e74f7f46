"""An estimator that waits until it is let go: for tests that kill it, or its run, meanwhile."""

BIAS = "results/bias/realistic.parquet"
SLOW = """
import time
from pathlib import Path

BINS = "none"
Path("at_work").touch()
while not Path("go").exists():
    time.sleep(0.05)


def estimate(scores, hits, n_bins, norm):
    return abs(scores.mean() - hits.mean())
"""
RUN = ("--config", "estimator_dir=mine", "estimators=[slow]", "--", BIAS)
SLOW_SHARD = "results/replicates/realistic/slow/0-of-1.parquet"


def with_slow_estimator(checkout):
    """Write the estimator into a checkout; a file ``go`` there lets it go.

    Its job makes a file ``at_work`` there.
    """
    (checkout / "mine").mkdir()
    (checkout / "mine/slow.py").write_text(SLOW)
    return checkout
