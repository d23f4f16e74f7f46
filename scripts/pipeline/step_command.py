"""Command-line interface of the steps: options, help and shell lines, made from their signatures.

A step is a function of the name of its file in ``pipeline/steps``, ``reproduction/steps`` or the
``steps`` of a guest workflow. Its parameters stand behind ``*``; one line ``name: what it
is`` of its docstring describes each. ``output`` and ``output_…`` are written, other paths are read,
and the rest are numbers and words. A list takes any number of words, ``dict[str, Path]`` words
NAME=PATH.
"""

import argparse
import ast
import enum
import importlib
import inspect
import json
import re
import resource
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NoReturn, get_args, get_origin

from calbias.errors import InputError, looked_up
from calbias.io.command_line import command
from pipeline import guests
from pipeline.write_results import remember_inputs, remember_run, remember_step

WORDS = Path(".snakemake/calbias")  # words too long for a shell line, one option a file
USED = "used {:.2f} s of CPU and {:.0f} MB"
_DESCRIBED = re.compile(r"^(\w+): (.+(?:\n {4}.+)*)", re.MULTILINE)


def step_file(name: str) -> Path:
    """Return the file of a step; InputError, with the nearest name, for no step."""
    return looked_up("step", name, _files())


def step_function(name: str) -> Callable[..., None]:
    """Return a step, imported."""
    module = ".".join([*step_file(name).parts[-3:-1], name])
    function: Callable[..., None] = getattr(importlib.import_module(module), name)
    return function


class Kind(enum.Enum):
    """Where a rule has an option of its step: in its output, its input or its params."""

    OUTPUT, FILE, FILES, NAMED, VALUE = range(5)


def kinds(name: str) -> dict[str, Kind]:
    """Return {option: Kind} of a step, by its signature, without importing it."""
    by_option = {}
    for argument in _definition(name).args.kwonlyargs:
        option, written = argument.arg, ast.unparse(argument.annotation or ast.Constant(None))
        if option == "output" or option.startswith("output_"):
            by_option[option] = Kind.OUTPUT
        elif "Path" in written:
            starts = {"dict": Kind.NAMED, "list": Kind.FILES}
            by_option[option] = starts.get(written.partition("[")[0], Kind.FILE)
        else:
            by_option[option] = Kind.VALUE
    return by_option


def shell_line(name: str, /, **fields: str | None) -> str:
    """Return the shell line of a step's rule, made from its signature without importing it.

    ``--top-labels {input.top_labels:q} {params.norm} --output-beta {output.beta:q}``, say: a param
    is an option with its words (``pipeline.job_params``). ``fields`` has another text for the words
    of an option, or None to leave out one that has a default.
    """
    options = []
    for option, kind in kinds(name).items():
        text = fields.pop(option, "")
        if text:
            options.append(f"{flag(option)} {text}")
        elif text is None:
            continue
        elif kind is Kind.OUTPUT:
            part = option.replace("_", ".", 1)  # output_beta is output.beta
            options.append(f"{flag(option)} {{{part}:q}}")
        elif kind is Kind.FILE:
            options.append(f"{flag(option)} {{input.{option}:q}}")
        else:
            options.append(f"{{params.{option}}}")
    if fields:
        raise InputError(f"step {name} has no option {min(fields)}")
    return " ".join([name, *options])


@command
def main(argv: Sequence[str] | None = None) -> None:
    """Run the step that the first word names, with the options behind it.

    Before it may stand ``--guest FOLDER``: a workflow whose steps are found too.
    """
    remember_run()
    words = [*from_files(sys.argv[1:] if argv is None else argv)]
    while words[:1] == ["--guest"] and words[1:]:
        guests.join(words[1])
        del words[:2]
    if not words or words[0] in ("-h", "--help"):
        print(_overview())
        return
    function = step_function(words[0])
    options = vars(_parser(words[0], function).parse_args(words[1:]))
    remember_inputs(_paths_that_are_read(options))
    remember_step(_without_paths(words[0], options), joins=words[0] == "join_tables")
    function(**options)
    print(_used(), flush=True)


def from_files(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the words of a command line, for ``@FILE`` those in the file."""
    for word in arguments:
        if word.startswith(f"@{WORDS}/"):
            yield from json.loads(Path(word[1:]).read_text(encoding="utf-8"))
        else:
            yield word


def _without_paths(name: str, options: Mapping[str, Any]) -> str:
    """Return a step with those of its options that are numbers and words, as on a command line."""
    words = [name]
    for option, kind in kinds(name).items():
        if kind is Kind.VALUE:
            value = options[option]
            words += [flag(option), *map(str, value if isinstance(value, list) else [value])]
    return shlex.join(words)


def _paths_that_are_read(options: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the paths of a step's inputs, also those in lists and dicts."""
    for name, value in options.items():
        values = value.values() if isinstance(value, dict) else value
        if not name.startswith("output"):
            yield from (
                each
                for each in (values if isinstance(value, list | dict) else [value])
                if isinstance(each, Path)
            )


def _files() -> dict[str, Path]:
    return _files_of(guests.workflows())


@cache
def _files_of(workflows: Sequence[guests.Workflow]) -> dict[str, Path]:
    return {path.stem: path for workflow in workflows for path in workflow.files("steps")}


def _definition(name: str) -> ast.FunctionDef:
    """Return the syntax tree of a step; the rest of its file is not parsed."""
    file = step_file(name)
    match = re.search(rf"^def {name}\(.*?(?=^[^\s)]|\Z)", file.read_text("utf-8"), re.M | re.S)
    if not match:
        raise InputError(f"{file}: define the step {name}(*, …) in it")
    [definition] = ast.parse(match[0]).body
    assert isinstance(definition, ast.FunctionDef)
    return definition


def _overview() -> str:
    lines = ["usage: run.py STEP [--option …]; run.py STEP --help describes its options.", ""]
    for name in _files():
        about = (ast.get_docstring(_definition(name)) or "").partition("\n")[0]
        lines.append(f"{name:24}{about}")
    return "\n".join(lines)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{self.prog}: {message.removeprefix('argument ')}")


def _parser(name: str, function: Callable[..., None]) -> _Parser:
    """Return the parser of a step's options."""
    doc = inspect.getdoc(function) or ""
    described = dict(_DESCRIBED.findall(doc))
    about = _DESCRIBED.sub("", doc).strip()
    form = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog=name, description=about, formatter_class=form, allow_abbrev=False)
    for option, parameter in inspect.signature(function, eval_str=True).parameters.items():
        keywords: dict[str, Any] = {"required": True}
        if parameter.default is not parameter.empty:
            keywords = {"default": parameter.default}
        help = " ".join(described.get(option, "").split()).replace("%", "%%")
        parser.add_argument(flag(option), help=help, **keywords, **_words(parameter.annotation))
    return parser


def flag(option: str) -> str:
    """Return how an option is written: ``--n-samples``."""
    return f"--{option.replace('_', '-')}"


def _words(annotation: Any) -> dict[str, Any]:
    """Return how argparse reads an option of a type."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is dict:
        return {"nargs": "*", "action": _NamedPaths, "metavar": "NAME=PATH"}
    if origin is list:
        return {"nargs": "*", **_words(parts[0])}
    if origin is Annotated:
        return {**_words(parts[0]), "type": _at_least(*parts)}
    if origin is Literal:
        return {"choices": parts}
    if NoneType in parts:
        return {"nargs": "?", **_words(next(part for part in parts if part is not NoneType))}
    return {"type": annotation}


def _at_least(kind: Callable[[str], Any], bound: Any) -> Callable[[str], Any]:
    def number(text: str) -> Any:
        value = kind(text)
        if value < bound.least:
            raise argparse.ArgumentTypeError(f"must be at least {bound.least}")
        return value

    number.__name__ = kind.__name__  # in argparse's message
    return number


class _NamedPaths(argparse.Action):
    """Words NAME=PATH as {name: path}."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        named = {}
        for text in values:
            name, _, path = text.partition("=")
            if not (name and path):
                raise argparse.ArgumentError(self, f"{text}: write it as NAME=PATH")
            named[name] = Path(path)
        setattr(namespace, self.dest, named)


def _used() -> str:
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(each.ru_utime + each.ru_stime for each in (own, children))
    unit = 1e6 if sys.platform == "darwin" else 1e3  # of ru_maxrss
    return USED.format(seconds, max(own.ru_maxrss, children.ru_maxrss) / unit)
