"""The files of estimators: their names, and the targets, norms and numbers of bins they declare.

A folder holds a file a family. A file may list several names with their options in ``VARIANTS``;
without it the file's stem is the name.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from calbias.errors import InputError, did_you_mean, validate_defines
from calbias.io.python_files import SCRIPTS, bound_names, literal

CHOSEN = -1  # the number of bins of an estimator that chooses it
NO_BINS = 0  # … and of one that has none
FOLDER = Path(__file__).parents[1] / "estimators"
_FUNCTIONS = ("estimate", "estimate_data_sets")
_FORM = "estimate(scores, hits, n_bins, norm)"


def folders_with(own: Path | str | None) -> tuple[Path, ...]:
    """Return the folder of calbias's estimators, and a user's own."""
    return (FOLDER,) if own is None else (FOLDER, Path(own))


def estimator_file(estimator: str, folders: Iterable[Path | str] = (FOLDER,)) -> Path:
    """Return the path of an estimator's file in the first of ``folders`` that has it."""
    if not isinstance(estimator, str):
        raise InputError(f"estimator must be a name, such as 'ece_sweep_em', not {estimator!r:.60}")
    existing = known_estimators(folders)
    if estimator not in existing:
        nearest = did_you_mean(estimator, sorted(existing))
        raise InputError(
            f"unknown estimator {estimator!r}. {nearest} One of your own needs the "
            "estimator_dir of calbias.estimate, calbias.bias or the configuration."
        )
    return existing[estimator]


def known_estimators(folders: Iterable[Path | str] = (FOLDER,)) -> dict[str, Path]:
    """Return {name: path} of every estimator, by a file's VARIANTS, or else by its stem."""
    files: dict[str, Path] = {}
    for folder in folders:
        if not Path(folder).is_dir():
            raise InputError(f"there is no folder {folder} of estimators; correct its name")
        for path in sorted(Path(folder).glob("*.py")):
            if path.stem.startswith("_") or not path.is_file():
                continue
            for name in _variants(path):
                if name in files and not files[name].samefile(path):
                    raise InputError(
                        f"{path}: {files[name]} defines {name} already: give yours another name"
                    )
                files[name] = path
    return files


def estimator_module(path: Path | str) -> ModuleType:
    """Return the imported file of an estimator; InputError if it lacks the function."""
    module = _imported(Path(path))
    validate_defines(path, vars(module), _FUNCTIONS, _FORM)
    return module


def validate_unusable(estimator: str, path: Path) -> None:
    """Raise InputError for a name that no job can have, and for a file without the function."""
    if not re.fullmatch(r"\w+", estimator):
        raise InputError(
            f"{path}: {estimator!r} cannot be an estimator's name: rename it to letters, digits "
            f"and underscores"
        )
    names = bound_names(path)
    if names is not None:
        validate_defines(path, names, (*_FUNCTIONS, "*"), _FORM)


def estimator_options(estimator: str, path: Path | str | None = None) -> dict[str, Any]:
    """Return the options, a dict, that VARIANTS in an estimator's file gives to this name."""
    return _variants(path or estimator_file(estimator)).get(estimator, {})


def estimator_target(estimator: str, path: Path | str | None = None) -> str:
    """Return what an estimator estimates: TARGET in its file, or ``lp``, the ℓp error."""
    target = literal(path or estimator_file(estimator), "TARGET", default="lp")
    return target.get(estimator, "lp") if isinstance(target, dict) else target


def usable_norm(estimator: str, wanted: float, path: Path | str | None = None) -> float:
    """Return the norm wanted where the estimator is defined for it, else the first of its NORMS."""
    norms = literal(path or estimator_file(estimator), "NORMS", default=())
    return float(wanted if not norms or wanted in norms else norms[0])


def estimator_names(path: Path | str) -> list[str]:
    """Return the names of the estimators in a file: of its VARIANTS, or else its stem."""
    return list(_variants(path))


def bin_numbers(path: Path | str, n_bins: Sequence[int]) -> list[int]:
    """Return those of ``n_bins`` at which the estimator is run; else [CHOSEN] or [NO_BINS]."""
    bins = literal(path, "BINS", default="fixed")
    return {"chosen": [CHOSEN], "none": [NO_BINS]}.get(bins) or list(n_bins)


def _variants(path: Path | str) -> dict[str, dict[str, Any]]:
    """Return {name: options} of the estimators in a file."""
    return literal(path, "VARIANTS", default={Path(path).stem: {}})


def _imported(path: Path) -> ModuleType:
    """Return the module of a file; one outside our packages gets a name made from its path."""
    path, scripts = path.resolve(), SCRIPTS.resolve()
    if path.is_relative_to(scripts) and (path.parent / "__init__.py").exists():
        return importlib.import_module(".".join(path.relative_to(scripts).with_suffix("").parts))
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise InputError(f"{path}: this is not a Python file; name one that ends in .py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[name])
        except BaseException:
            del sys.modules[name]  # once corrected, it can be loaded
            raise
    return sys.modules[name]
