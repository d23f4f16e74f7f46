"""The estimators that the workflow knows: calbias's, and those that only its evidence shows."""

from pathlib import Path
from typing import Any

from calbias.estimation import registry
from calbias.io.python_files import SCRIPTS

FOLDERS = (registry.FOLDER, SCRIPTS / "evidence/estimators")


def estimator_folders(config: dict[str, Any]) -> tuple[Path, ...]:
    """Return the folders that a configuration's estimators are looked for in."""
    own = config.get("estimator_dir")
    return (*FOLDERS, Path(own)) if own else FOLDERS


def estimator_file(name: str) -> Path:
    """Return the path of an estimator's file."""
    return registry.estimator_file(name, FOLDERS)


def known_estimators() -> dict[str, Path]:
    """Return {name: path} of every estimator."""
    return registry.known_estimators(FOLDERS)
