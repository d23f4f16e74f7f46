"""The estimators that the workflow knows: calbias's, and those of a configuration."""

from pathlib import Path
from typing import Any

from calbias.errors import InputError
from calbias.estimation import registry
from calbias.io.python_files import literal


def estimator_folders(config: dict[str, Any]) -> tuple[Path, ...]:
    """Return the folders that a configuration's estimators are looked for in."""
    own = config.get("estimator_dir")
    return (registry.FOLDER, Path(own)) if own else (registry.FOLDER,)


def added_estimators(config: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return {page: {estimator: file}} of config key ``estimator``: files, folders or known names.

    A page has the estimators of one file. InputError for a file that no page can be made of.
    """
    given, pages = config["estimator"], {}
    existing = registry.known_estimators(estimator_folders(config))
    for entry in [given] if isinstance(given, str) else given:
        if entry in existing:
            pages[entry] = {entry: str(existing[entry])}
            continue
        path = Path(entry)
        files = [path] if path.suffix == ".py" and path.is_file() else sorted(path.glob("[!_]*.py"))
        if not files:
            raise InputError(
                f"config: estimator: {entry} is no Python file, no folder of such files and no "
                f"known estimator; correct the path"
            )
        for file in files:
            names = registry.estimator_names(file)
            if file.stem in pages:
                raise InputError(f"config: estimator: {file.stem} is given twice; remove one")
            for name in names:
                _validate_added(name, file, existing.get(name, file), config["norm"])
            pages[file.stem] = dict.fromkeys(names, str(file))
    return pages


def _validate_added(name: str, file: Path, existing: Path, norm: float) -> None:
    """Raise InputError for a name that is taken, and for an estimator without the run's norm."""
    registry.validate_unusable(name, file)
    if not file.samefile(existing):
        raise InputError(f"{file}: {existing} defines {name} already: give yours another name")
    norms = literal(file, "NORMS", default=())
    if norms and norm not in norms:
        raise InputError(
            f"config: estimator: {file} defines {name} for norm {norms[0]:g}, and its page needs "
            f"norm {norm:g}, that of the paper: define it for this norm too"
        )
