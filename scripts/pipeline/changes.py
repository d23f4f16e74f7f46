"""What changed since the last run, in one line: files of code and data, and keys of the config."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from calbias.io.files import file_digest
from pipeline.models import Config
from pipeline.recorded_params import CODE, PRINTED, recorded
from pipeline.write_results import written_whole

LAST_CONFIG = Path(".snakemake/calbias_config.json")
LONGEST = 12  # files or keys that the line names
_NOTHING = object()


def changes_in_words(workflow: Any, config: Config) -> str:
    """Return the line about the jobs that Snakemake is going to run; empty if nothing changed."""
    jobs = [*workflow.dag.needrun_jobs(exclude_finished=False)]
    produced = {str(path) for job in workflow.dag.jobs for path in job.output}
    files: dict[str, None] = {}
    params: dict[str, None] = {}
    for job in sorted(jobs, key=str):
        for name in _changed_params(workflow.persistence, job):
            if name.startswith((CODE, PRINTED)):
                files[_file(name)] = None
            else:
                params[name] = None
        files |= dict.fromkeys(_changed_inputs(workflow.persistence, job, produced))
    before, now = _without_folders(_last_config()), _without_folders(config)
    if not (files or params):
        return ""
    keys = [*_changed_keys(before, now)] or sorted(params)
    parts = [_listed(files)] if files else []
    parts += [f"config: {_listed(keys)}"] if keys else []
    return f"changed since the last run: {', '.join(parts)}"


def remember_config(config: Config) -> None:
    """Store the configuration for the comparison of the next run."""
    with contextlib.suppress(OSError), written_whole(LAST_CONFIG) as temporary:
        temporary.write_text(json.dumps(config), encoding="utf-8")


def _changed_params(persistence: Any, job: Any) -> Iterator[str]:
    """Yield the names of a job's params whose recorded values differ from the present ones.

    A file that the step loads no more, or had not loaded, has not changed: a param names it.
    """
    records = [persistence.params(path) for path in job.output]
    if any(records):
        before = _by_name(line for lines in records for line in lines or ())
        now = _by_name(recorded(job))
        for name in sorted({*before, *now}):
            is_loaded = name in before and name in now
            if before.get(name) != now.get(name) and (is_loaded or not name.startswith(CODE)):
                yield name


def _by_name(lines: Iterable[str]) -> dict[str, str]:
    parts = (line.partition(" = ") for line in lines)
    return {name: value for name, _, value in parts}


def _changed_inputs(persistence: Any, job: Any, produced: set[str]) -> Iterator[str]:
    """Yield a job's inputs, of those that no job makes, whose bytes differ from the recorded."""
    for path in job.input:
        if str(path) not in produced and not path.is_ancient:
            digests = persistence.input_checksums(job, path) - {None}
            with contextlib.suppress(OSError):
                if digests and f"sha256:{file_digest(path)}" not in digests:
                    yield str(path)


def _file(param: str) -> str:
    """Return the file that a recorded param is about."""
    if param.startswith(PRINTED):
        return f"resources/published/{param.removeprefix(PRINTED)}.csv"
    name = param.removeprefix(CODE)
    return f"columns of {name}" if name.startswith("table ") else name


def _last_config() -> Config:
    with contextlib.suppress(OSError, ValueError):
        stored = json.loads(LAST_CONFIG.read_text(encoding="utf-8"))
        if isinstance(stored, dict):
            return stored
    return {}


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
