"""What a result was made with: versions in the record beside it, and of all that it was made from.

The record of a result, ``.NAME.sha256``, has a line ``# {…}`` for each set of versions: that of
the job that wrote the file, and those in the records of its inputs. A partial run leaves the other
results with the versions that they had.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from platform import python_version

from calbias import __version__

# What computes, in contrast to what schedules: numbers may change with one of these.
PACKAGES = (
    *("numpy", "scipy", "numba", "llvmlite", "pandas", "pyarrow", "statsmodels", "scikit-learn"),
    *("matplotlib", "snakemake"),
)
RUN = "CALBIAS_VERSIONS"  # in the environment of a run's jobs: the line of all of them

Versions = dict[str, str]


def packages() -> Versions:
    """Return {package: version} of Python and the packages that compute."""
    from importlib.metadata import PackageNotFoundError, version  # not needed in a job of a run

    versions = {"python": python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


@cache
def present() -> str:
    """Return the versions of this run, a line of JSON."""
    return os.environ.get(RUN) or json.dumps({"calbias": __version__, **packages()})


def remember_versions(commit: Mapping[str, object]) -> None:
    """Let the jobs of this process record its versions, and the ``commit`` of the checkout."""
    words = {"commit": f"{commit['commit']}{' edited' * bool(commit['edited'])}"} if commit else {}
    os.environ[RUN] = json.dumps({"calbias": __version__, **words, **packages()})


def lines_of(records: Iterable[Path]) -> list[str]:
    """Return the distinct lines of versions in these records; one that is absent has none."""
    lines: dict[str, None] = {}
    for record in records:
        if record.is_file():
            texts = record.read_text(encoding="utf-8").splitlines()
            lines |= dict.fromkeys(text[2:] for text in texts if text.startswith("# {"))
    return [*lines]


def versions_of(record: Path) -> list[Versions]:
    """Return the sets of versions that a result and its inputs were made with."""
    return [json.loads(line) for line in lines_of([record])]


def mixed(made_with: Mapping[str, Sequence[Versions]]) -> list[str]:
    """Return a line for each package of which results side by side have several versions.

    ``made_with`` is {result: its ``versions_of``}. Commits are not compared: what a changed file
    concerns has been made again.
    """
    names = dict.fromkeys(name for sets in made_with.values() for each in sets for name in each)
    lines = []
    for name in names:
        counts = Counter(
            value for sets in made_with.values() for value in {each.get(name, "?") for each in sets}
        )
        if name != "commit" and len(counts) > 1:
            parts = [f"{value} ({number} results)" for value, number in sorted(counts.items())]
            words = f"results of {len(parts)} versions of {name} stand side by side"
            lines.append(f"{words}: {', '.join(parts)}")
    return lines
