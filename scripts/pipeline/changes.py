"""What changed since the last run, in one line: files of code and data, and keys of the config."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pipeline import code_digest, sources
from pipeline.models import Config
from pipeline.write_results import written_whole

LAST_RUN = Path(".snakemake/calbias_last_run.json")
LONGEST = 12  # files or keys that the line names
_NOTHING = object()


def changes_in_words(config: Config) -> str:
    """Return the line about what differs from the last run; empty if nothing does.

    A file that a step loads no more, or had not loaded, has not changed: a key names it.
    """
    last, digests = _last_run(), _digests()
    files = [name for name, digest in last["files"].items() if digests.get(name, digest) != digest]
    keys = [*_changed_keys(_without_folders(last["config"]), _without_folders(config))]
    parts = [_listed(sorted(files))] if files else []
    parts += [f"config: {_listed(keys)}"] if keys else []
    return f"changed since the last run: {', '.join(parts)}" if parts else ""


def remember(config: Config) -> None:
    """Store the configuration and the digests of files for the comparison of the next run.

    Of a file that this run has nothing to do with the earlier digest stays.
    """
    stored = {"config": config, "files": _last_run()["files"] | _digests()}
    with contextlib.suppress(OSError), written_whole(LAST_RUN) as temporary:
        temporary.write_text(json.dumps(stored), encoding="utf-8")


def _digests() -> dict[str, str]:
    """Return {file, or columns of a table: digest} of all that this process looked at."""
    code = {
        f"columns of {name}" if name.startswith("table ") else name: digest
        for name, digest in code_digest.parts().items()
    }
    return {**code, **sources.digests()}


def _last_run() -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        stored = json.loads(LAST_RUN.read_text(encoding="utf-8"))
        if isinstance(stored, dict) and {"config", "files"} <= {*stored}:
            return stored
    return {"config": {}, "files": {}}


def _without_folders(config: Config) -> Config:
    """Return a config without the folders of other workflows, which change no result."""
    return {key: value for key, value in config.items() if key != "guests"}


def _changed_keys(before: Any, now: Any, keys: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the keys, such as ``experiments.fits.n_samples``, whose values differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        if before or keys:
            for key in sorted({*before, *now}):
                values = before.get(key, _NOTHING), now.get(key, _NOTHING)
                yield from _changed_keys(*values, (*keys, str(key)))
    elif before != now:
        yield ".".join(keys)


def _listed(names: Iterable[str]) -> str:
    listed = [*names]
    more = f" and {len(listed) - LONGEST} more" if len(listed) > LONGEST else ""
    return ", ".join(listed[:LONGEST]) + more
