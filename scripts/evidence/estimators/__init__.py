"""Estimators that only the league shows: files as a user's folder of estimators holds them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from calbias.estimation import loading
from pipeline.estimators import estimator_file


def load_estimator(name: str, file: Path | str | None = None) -> Callable[..., Any]:
    """Return ``run(data, n_bins, norm)`` of an estimator of these or of calbias."""
    return loading.load_estimator(name, file or estimator_file(name))
