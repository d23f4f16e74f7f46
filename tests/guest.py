"""What the conftest of a guest's tests begins with: the papers' fixtures, options and helpers."""

import importlib.util
import sys
from pathlib import Path

from pipeline import guests

TESTS = Path(__file__).parent


def fixtures_of_the_papers(guest):
    """Return {name: value} of the papers' conftest, for the tests of the guest in this folder."""
    guests.join(guest)  # before a test asks which tables and figures there are
    sys.path.append(str(TESTS / "workflow"))
    spec = importlib.util.spec_from_file_location("papers_conftest", TESTS / "conftest.py")
    papers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(papers)
    return {name: value for name, value in vars(papers).items() if name[0] != "_"}
