"""The estimators that the workflow knows: calbias's, and those that only its evidence shows."""

from pathlib import Path

from calbias.estimation import registry
from calbias.io.python_files import SCRIPTS

FOLDERS = (registry.FOLDER, SCRIPTS / "evidence/estimators")


def estimator_file(name: str) -> Path:
    """Return the path of an estimator's file."""
    return registry.estimator_file(name, FOLDERS)


def known_estimators() -> dict[str, Path]:
    """Return {name: path} of every estimator."""
    return registry.known_estimators(FOLDERS)
