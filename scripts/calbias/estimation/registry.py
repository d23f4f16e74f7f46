"""What the files of estimators declare: names, targets, norms and numbers of bins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from calbias.errors import InputError
from calbias.io.plug_ins import Kind, literal, validate_parsed

CHOSEN = -1  # the number of bins of an estimator that chooses it
NO_BINS = 0  # … and of one that has none
FOLDER = Path(__file__).parents[1] / "estimators"
ESTIMATORS = Kind(
    "estimator",
    FOLDER,
    ("estimate", "estimate_data_sets"),
    "estimate(scores, hits, n_bins, norm)",
)


def folders_with(own: Path | str | None) -> tuple[Path, ...]:
    """Return the folder of calbias's estimators, and a user's own."""
    return (FOLDER,) if own is None else (FOLDER, Path(own))


def estimator_file(estimator: str, folders: Iterable[Path | str] = (FOLDER,)) -> Path:
    """Return the path of an estimator's file in the first of ``folders`` that has it."""
    if not isinstance(estimator, str):
        raise InputError(f"estimator must be a name, such as 'ece_sweep_em', not {estimator!r:.60}")
    return ESTIMATORS.file(estimator, folders)


def known_estimators(folders: Iterable[Path | str] = (FOLDER,)) -> dict[str, Path]:
    """Return {name: path} of every estimator, by a file's VARIANTS, or else by its stem."""
    return ESTIMATORS.files(folders)


def validate_unusable(estimator: str, path: Path) -> None:
    """Raise InputError for a name that no job can have, and for a file without the function."""
    if not re.fullmatch(r"\w+", estimator):
        raise InputError(
            f"{path}: {estimator!r} cannot be an estimator's name: rename it to letters, digits "
            f"and underscores"
        )
    validate_parsed(path, ESTIMATORS.functions, ESTIMATORS.form)


def estimator_options(estimator: str, path: Path | str | None = None) -> dict[str, Any]:
    """Return the options, a dict, that VARIANTS in an estimator's file gives to this name."""
    return ESTIMATORS.options(estimator, path or estimator_file(estimator))


def estimator_target(estimator: str, path: Path | str | None = None) -> str:
    """Return what an estimator estimates: TARGET in its file, or ``lp``, the ℓp error."""
    target = literal(path or estimator_file(estimator), "TARGET", default="lp")
    return target.get(estimator, "lp") if isinstance(target, dict) else target


def usable_norm(estimator: str, wanted: float, path: Path | str | None = None) -> float:
    """Return the norm wanted where the estimator is defined for it, else the first of its NORMS."""
    norms = literal(path or estimator_file(estimator), "NORMS", default=())
    return float(wanted if not norms or wanted in norms else norms[0])


def bin_numbers(path: Path | str, n_bins: Sequence[int]) -> list[int]:
    """Return those of ``n_bins`` at which the estimator is run; else [CHOSEN] or [NO_BINS]."""
    bins = literal(path, "BINS", default="fixed")
    return {"chosen": [CHOSEN], "none": [NO_BINS]}.get(bins) or list(n_bins)
