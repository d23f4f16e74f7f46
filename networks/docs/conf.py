"""The documentation of the networks, made as that of the project: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "docs")]

import catalogues  # noqa: E402

from pipeline import guests  # noqa: E402

catalogues.DIRECTIVES = catalogues.directives(guests.join(ROOT / "networks"), ())
exec((ROOT / "docs/conf.py").read_text("utf-8").replace("parents[1]", "parents[2]"))
html_title = f"calbias {release}: networks"  # noqa: F821
html_static_path = [str(ROOT / "docs/_static")]
ELSEWHERE = {}
