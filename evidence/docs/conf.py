"""The documentation of the evidence, made as that of the project: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "docs")]

import catalogues  # noqa: E402

from pipeline import guests  # noqa: E402

catalogues.DIRECTIVES = catalogues.directives(
    guests.join(ROOT / "evidence"),
    (
        ("Estimators of the league", "evidence/estimators/*.py"),
        ("Targets of the league", "evidence/targets.py"),
        ("Cells and targets of all classes", "evidence/cells/classes.py"),
        ("Tests of calibration", "evidence/calibration_tests.py"),
    ),
)
exec((ROOT / "docs/conf.py").read_text("utf-8").replace("parents[1]", "parents[2]"))
html_title = f"calbias {release}: evidence"  # noqa: F821
html_static_path = [str(ROOT / "docs/_static")]
ELSEWHERE = {}
