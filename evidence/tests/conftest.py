"""The fixtures and options of the papers' tests, for those of the evidence."""

from pathlib import Path

import pytest
from checkout import SMOKE, Checkout
from guest import fixtures_of_the_papers

EVIDENCE = Path(__file__).parents[1]
globals().update(fixtures_of_the_papers(EVIDENCE))


@pytest.fixture(scope="session")
def evidence(smoke, tmp_path_factory):
    """The smoke run's checkout after target ``evidence``; never changed by a test."""
    with once_for_all_workers(tmp_path_factory, "evidence") as (folder, made):  # noqa: F821
        if not made:
            smoke.copy(folder / "checkout").run("--", "evidence", config=SMOKE)
    return Checkout(folder / "checkout")
