"""The params of a rule: words of its jobs' command lines, and what decides whether they run again.

Snakemake compares the params of a job as a set of texts, without their names, and leaves out those
that are functions of inputs. It compares the bytes of an input only where its time is newer. So
each text here begins with its name, and two texts stand for the inputs: their order, and the bytes
of those that no job makes. That makes the comparison exact with nothing but Snakemake's own rules.
"""

import hashlib
import inspect
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from calbias.io.python_files import SCRIPTS
from pipeline import sources
from pipeline.code_digest import code
from pipeline.step_command import WORDS, Kind, flag, kinds

SHOWN = 200  # characters of a value that a reason shows; a digest stands for all of it
LONGEST = 2000  # characters of an option in a shell line, of which Linux takes 131 072
Text = str | Callable[..., str]


def job_params(
    step: str,
    inputs: Callable[[], Iterable[Any]],
    /,
    *folders: Path,
    loaded: Any = (),
    **values: Any,
) -> dict[str, Text]:
    """Return the params of a rule that runs a step, by name.

    ``inputs`` returns the rule's inputs, ``lambda: rules.NAME.input``. ``folders`` are those of
    workflows that the job needs. ``loaded`` are files of code that the step loads by name, or a
    function of wildcards. ``values`` are the step's options, or functions of wildcards; others
    decide when a job runs again, and are no part of its command line. An option
    ``dict[str, Path]`` takes {name: path}, or the names of the inputs that are called like it.
    """
    params: dict[str, Text] = {"run": _function(_program(folders))}
    options = kinds(step)
    values["code"] = (
        (lambda wildcards: code(step, *loaded(wildcards)))
        if callable(loaded)
        else code(step, *loaded)
    )
    params["reads"] = lambda wildcards: described(inputs(), wildcards)
    for name, value in values.items():
        kind = options.get(name)
        if kind is None:
            params[name] = _later(value, partial(_statement, name))
        elif kind is Kind.NAMED and not isinstance(value, Mapping) and not callable(value):
            params[f"{name}_are"] = f"{name} are {_shortened(' '.join(value))}"
            params[name] = _named_inputs(name, list(value))
        else:
            params[name] = _later(value, partial(words, name))
    for name, kind in options.items():
        if kind is Kind.FILES and name not in params:
            params[name] = _listed_inputs(name)
    return params


def words(option: str, value: Any) -> str:
    """Return an option with its words, ``--n-samples 200 400``; of long ones, a file of them."""
    if isinstance(value, Mapping):
        if not all(isinstance(path, str | Path) for path in value.values()):
            raise TypeError(f"{option}: give the names, or a path for each")
        value = [f"{name}={path}" for name, path in value.items()]
    listed = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    texts = [str(each) for each in listed if each is not None]
    line = " ".join([flag(option), *map(shlex.quote, texts)])
    if len(line) <= LONGEST:
        return line
    content = json.dumps(texts)
    path = WORDS / f"{_digest(content)}.json"
    if not path.exists():
        WORDS.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return f"{flag(option)} @{path}"


def _statement(name: str, value: Any) -> str:
    return f"{name} = {_shortened(repr(value))}"


def described(inputs: Iterable[Any], wildcards: Any) -> str:
    """Return the order of a job's inputs, and the digests of those that no job makes."""
    paths = [*_paths(inputs, wildcards)]
    counted = [path for path, flags in paths if sources.counts_by_bytes(path, flags)]
    listed = " ".join(f"{path} {sources.digest(path)[:12]}" for path in dict.fromkeys(counted))
    order = _digest(json.dumps([path for path, _ in paths]))
    return f"reads in order {order}" + (f", bytes of {_shortened(listed)}" if listed else "")


def _paths(inputs: Iterable[Any], wildcards: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the paths of a rule's inputs for one job, with Snakemake's flags of each."""
    for item in inputs:
        paths = item(wildcards) if callable(item) else item
        if isinstance(paths, Mapping):
            paths = [*paths.values()]
        for path in [paths] if isinstance(paths, str | Path) else paths:
            text = str(path) if callable(item) else str(path).format(**dict(wildcards.items()))
            yield text, getattr(path, "flags", {})


def _later(value: Any, text: Callable[[Any], str]) -> Text:
    """Return the text of a value; of a function of wildcards, a function.

    Snakemake fills in the wildcards of a text, as in ``figure="{figure}"``.
    """
    if callable(value):
        if "input" in inspect.signature(value).parameters:
            return lambda wildcards, input: text(value(wildcards, input))
        return lambda wildcards: text(value(wildcards))
    return text(value) if isinstance(value, str) else _function(text(value), recorded=True)


def _function(text: str, recorded: bool = False) -> Text:
    """Return a text in which nothing is filled in; one that is not ``recorded`` reruns nothing."""
    return (lambda wildcards: text) if recorded else (lambda wildcards, input: text)


def _listed_inputs(name: str) -> Text:
    return lambda wildcards, input: words(name, _several(input[name]))


def _named_inputs(name: str, names: Sequence[str]) -> Text:
    return lambda wildcards, input: words(
        name, dict(zip(names, _several(input[name]), strict=True))
    )


def _several(paths: Any) -> list[str]:
    """Return paths as a list: an input of one file is a text."""
    return [paths] if isinstance(paths, str) else list(paths)


def _program(folders: Iterable[Path]) -> str:
    """Return what runs a step: this interpreter, with one cache of kernels for all jobs."""
    python = shlex.quote(str(Path(sys.executable).parent))
    cache = 'NUMBA_CACHE_DIR="${NUMBA_CACHE_DIR:-$PWD/results/kernels}"'
    run = [os.path.relpath(SCRIPTS / "run.py")]
    for folder in folders:
        run += ["--guest", os.path.relpath(folder)]
    return f"PATH={python}:$PATH {cache} python {shlex.join(run)}"


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({_digest(text)})"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
