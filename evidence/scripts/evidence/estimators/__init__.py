"""Estimators that only the league shows: files as a user's folder of estimators holds them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from calbias.estimation import loading, registry
from calbias.estimation.api import estimate as of_calbias

FOLDER = Path(__file__).parent
FOLDERS = (registry.FOLDER, FOLDER)


def estimator_file(name: str) -> Path:
    """Return the path of the file of an estimator of these or of calbias."""
    return registry.estimator_file(name, FOLDERS)


def known_estimators() -> dict[str, Path]:
    """Return {name: path} of these and of calbias's estimators."""
    return registry.known_estimators(FOLDERS)


def load_estimator(name: str) -> Callable[..., Any]:
    """Return ``run(data, n_bins, norm)`` of an estimator of these or of calbias."""
    return loading.load_estimator(name, estimator_file(name))


estimate = partial(of_calbias, estimator_dir=FOLDER)
"""``calbias.estimate`` with these estimators too."""
