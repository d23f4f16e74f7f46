"""The fixtures and options of the papers' tests, for those of the networks."""

from pathlib import Path

import pytest
from checkout import SMOKE, Checkout
from guest import fixtures_of_the_papers

NETWORKS = Path(__file__).parents[1]
globals().update(fixtures_of_the_papers(NETWORKS))


@pytest.fixture(scope="session")
def networks(smoke, tmp_path_factory):
    """The smoke run's checkout after both targets of the networks; never changed by a test."""
    with once_for_all_workers(tmp_path_factory, "networks") as (folder, made):  # noqa: F821
        if not made:
            smoke.copy(folder / "checkout").run("--", "networks", "network_figures", config=SMOKE)
    return Checkout(folder / "checkout")
