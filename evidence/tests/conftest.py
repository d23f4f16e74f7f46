"""The fixtures and options of the papers' tests, for those of the evidence."""

import importlib.util
import sys
from pathlib import Path

import pytest
from checkout import SMOKE, Checkout

from pipeline import beside

EVIDENCE = Path(__file__).parents[1]
beside.join(EVIDENCE)  # before a test asks which tables and figures there are
sys.path.extend(str(EVIDENCE.parent / "tests" / part) for part in ("unit", "workflow"))

_spec = importlib.util.spec_from_file_location(
    "papers_conftest", EVIDENCE.parent / "tests/conftest.py"
)
_papers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_papers)
globals().update({name: value for name, value in vars(_papers).items() if name[0] != "_"})


@pytest.fixture(scope="session")
def evidence(smoke, tmp_path_factory):
    """The smoke run's checkout after target ``evidence``; never changed by a test."""
    with _papers.once_for_all_workers(tmp_path_factory, "evidence") as (folder, made):
        if not made:
            smoke.copy(folder / "checkout").run("--", "evidence", config=SMOKE)
    return Checkout(folder / "checkout")
