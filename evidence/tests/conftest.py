"""The fixtures and options of the papers' tests, for those of the evidence."""

import importlib.util
import sys
from pathlib import Path

from pipeline import beside

EVIDENCE = Path(__file__).parents[1]
beside.join(EVIDENCE)  # before a test asks which tables and figures there are
sys.path.append(str(EVIDENCE.parent / "tests/unit"))

_spec = importlib.util.spec_from_file_location(
    "papers_conftest", EVIDENCE.parent / "tests/conftest.py"
)
_papers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_papers)
globals().update({name: value for name, value in vars(_papers).items() if name[0] != "_"})
