"""Estimators that only the league shows: files as a user's folder of estimators holds them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from calbias.estimation import loading
from calbias.estimation.api import estimate as of_calbias
from pipeline.estimators import FOLDERS, estimator_file


def load_estimator(name: str) -> Callable[..., Any]:
    """Return ``run(data, n_bins, norm)`` of an estimator of these or of calbias."""
    return loading.load_estimator(name, estimator_file(name))


estimate = partial(of_calbias, estimator_dir=FOLDERS[1])
"""``calbias.estimate`` with these estimators too."""
