"""Guest workflows: folders whose steps, tables, figures and claims are found too.

Config key ``guests`` names them, and ``run.py --guest FOLDER`` in their jobs. Such a folder holds
what a repository of its own would: ``scripts/PACKAGE`` with ``steps``, ``figures`` and ``claims``,
``rules``, ``schemas`` (``tables.yaml``, ``config.schema.yaml``), and ``report`` with captions and
templates. Each part may be missing. docs/workflow/extend.md shows one.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from calbias.errors import InputError
from calbias.io.python_files import PACKAGES, SCRIPTS
from pipeline import CHECKOUT


class Workflow(NamedTuple):
    """Where a workflow has its parts."""

    root: Path
    scripts: Path
    rules: Path
    schemas: Path
    report: Path

    def packages(self) -> list[str]:
        """Return the names of its packages, a sorted list."""
        return sorted(path.parent.name for path in self.scripts.glob("*/__init__.py"))

    def unmarked(self) -> list[Path]:
        """Return the folders that have parts of a package, and no ``__init__.py``."""
        parts = [file.parents[1] for part in _CODE for file in self.scripts.glob(f"*/{part}/*.py")]
        return sorted({path for path in parts if not (path / "__init__.py").exists()})

    def rule_files(self) -> list[Path]:
        """Return the files of its rules, and its Snakefile."""
        return [*sorted(self.rules.glob("*.smk")), *self.root.glob("Snakefile")]

    def files(self, part: str) -> Iterator[Path]:
        """Yield the Python files of ``steps``, ``figures`` or ``claims`` in its packages."""
        for package in self.packages():
            yield from sorted((self.scripts / package / part).glob("[!_]*.py"))


_PARTS, _CODE = ("rules", "schemas", "report"), ("steps", "figures", "claims")
MAIN = Workflow(CHECKOUT, SCRIPTS, *(CHECKOUT / "workflow" / part for part in _PARTS))
_WORKFLOWS = [MAIN]


def workflows() -> tuple[Workflow, ...]:
    """Return this workflow, then its guests."""
    return tuple(_WORKFLOWS)


def in_folder(root: Path) -> Workflow:
    """Return the workflow in a folder of its own."""
    return Workflow(root, *(root / part for part in ("scripts", *_PARTS)))


def join(folder: Path | str) -> Workflow:
    """Let the workflow in a folder be found; InputError where its packages cannot be."""
    root = Path(folder).resolve()
    new = in_folder(root)
    if new in _WORKFLOWS:
        return new
    if not root.is_dir():
        raise InputError(f"config: guests: there is no folder {folder}; correct the path")
    if unmarked := new.unmarked():
        raise InputError(
            f"config: guests: {unmarked[0]} is no package, so its steps, figures and claims "
            "are not found; put an empty __init__.py into it"
        )
    for package in new.packages():
        if package in PACKAGES:
            raise InputError(
                f"config: guests: {new.scripts / package}: there is a package {package} already; "
                "rename yours"
            )
    PACKAGES.update(dict.fromkeys(new.packages(), new.scripts))
    sys.path.append(str(new.scripts))
    _WORKFLOWS.append(new)
    return new
