"""Mutants of the code that people rely on: is each noticed by the fast tests of its place?

    make mutants                                   those of the lines that differ from main
    python tests/mutants.py --sample 40 verdict    a random sample of a place
    python tests/mutants.py scripts/calbias/auditing/error/cox.py

cosmic-ray makes the mutants, by the operators in mutants.toml. Each is written into a copy of the
checkout, where the tests of its place run in a fork of this process, which has the libraries. A
mutant that passes them all survives, and is printed; the status is 1 where more than 10 % do.
Those that change nothing are listed in mutants.toml, by file and line, and do not count.
"""

import argparse
import ast
import compileall
import contextlib
import itertools
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from checkout import ROOT, copy_of_the_working_tree
from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from fork_server import LIBRARIES

CONFIGURATION = tomllib.loads(Path(__file__).with_name("mutants.toml").read_text("utf-8"))
GUESTS = sorted(path.parent.name for path in ROOT.glob("*/guest.mk"))
SCRIPTS = ["scripts", *(f"{guest}/scripts" for guest in GUESTS)]
LEAST = 0.9
SECONDS = 120  # of CPU for the tests of a mutant; one that takes longer is noticed


class Mutant(NamedTuple):
    """A file of a place with one change: the operator's k-th in it, on this line."""

    place: str
    file: str
    line: int
    operator: str
    k: int

    def text(self) -> str:
        """Return the file's text with the change; nothing where it changes no values."""
        text = (ROOT / self.file).read_text("utf-8")
        with contextlib.suppress(SyntaxError):
            mutated = mutate_code(text, plugins.get_operator(f"core/{self.operator}")(), self.k)
            return mutated if mutated and syntax(mutated) != syntax(text) else ""
        return ""


def files_of(place: str) -> list[Path]:
    """Return the files of a place."""
    patterns = CONFIGURATION["places"][place]["code"]
    pairs = itertools.product(patterns, SCRIPTS)
    return [path for pattern, folder in pairs for path in sorted((ROOT / folder).glob(pattern))]


def mutants_of(place: str, path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a file, without those of lines that only concern looks."""
    text = path.read_text("utf-8")
    nodes, lines = list(ast_nodes(get_ast(text))), text.splitlines()
    options = CONFIGURATION["places"][place]
    looks, without = options.get("looks", "$^"), options.get("without", ())
    for operator in (name for name in CONFIGURATION["operators"] if name not in without):
        change = plugins.get_operator(f"core/{operator}")()
        places = (start for node in nodes for start, _ in change.mutation_positions(node))
        for k, (line, _) in enumerate(places):
            if not re.search(looks, lines[line - 1]):
                yield Mutant(place, str(path.relative_to(ROOT)), line, operator, k)


def syntax(text: str) -> str:
    """Return the syntax tree without annotations and checks of zip, as text."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [each for each in node.keywords if each.arg != "strict"]
        for field in {"annotation", "returns"} & set(node._fields):
            setattr(node, field, None)
    return ast.dump(tree)


def prepare() -> None:
    """Make the copy in which a worker of the pool runs tests, go there, and forget the original."""
    os.chdir(tempfile.mkdtemp())
    copy_of_the_working_tree(Path.cwd())
    compileall.compile_dir("scripts", quiet=1)
    os.environ["NUMBA_CACHE_DIR"] = str(ROOT / "scripts/calbias/__pycache__")
    os.environ.pop("PYTHONPATH", None)
    ours = [ROOT / folder for folder in ("scripts", "tests", *GUESTS)]
    sys.path[:] = [x for x in sys.path if not any(Path(x or ".").is_relative_to(y) for y in ours)]
    for name in ("checkout", "fork_client", "fork_server"):
        del sys.modules[name]


def passes(place: str, file: str = "", text: str = "") -> bool:
    """Return whether the tests of a place pass, with a file changed to this text."""
    path, before = Path(file), ""
    if file:
        before = path.read_text("utf-8")
        path.write_text(text, "utf-8")
    try:
        child = os.fork()
        if child == 0:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            test(CONFIGURATION["places"][place]["tests"])
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
        signal.alarm(10 * SECONDS)  # one that waits, on a machine that others use too
        status = os.waitpid(child, 0)[1]
        signal.alarm(0)
        return status == 0
    finally:
        if file:
            path.write_text(before, "utf-8")


def test(patterns: list[str]) -> None:
    """Run the fast tests of these files in this process and end it with their status."""
    import pytest

    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    pairs = itertools.product(patterns, ("tests", *(f"{guest}/tests" for guest in GUESTS)))
    files = (path for name, folder in pairs for path in sorted(Path(folder).rglob(name)))
    tests = dict.fromkeys(map(str, files))  # in the order of the patterns
    sys.dont_write_bytecode = True  # a mutant of the same size and second would be taken for it
    words = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    os._exit(int(pytest.main([*words, *tests])) and 1)


def lines_that_differ(base: str) -> dict[str, set[int]]:
    """Return {file: numbers of its lines} that a branch does not have."""
    command = ["git", "diff", "-U0", "--no-color", base, "--", *SCRIPTS]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines: dict[str, set[int]] = {}
    for row in text.splitlines():
        if row.startswith("+++ b/"):
            of_file = lines.setdefault(row.removeprefix("+++ b/"), set())
        elif found := re.match(r"@@ .*\+(\d+)(?:,(\d+))? @@", row):
            of_file.update(range(int(found[1]), int(found[1]) + int(found[2] or 1)))
    return lines


def chosen(options: argparse.Namespace) -> list[tuple[Mutant, str]]:
    """Return the mutants that are asked for with their texts, without those that change nothing."""
    lines, same = lines_that_differ(options.since) if options.since else None, CONFIGURATION["same"]
    found: list[tuple[Mutant, str]] = []
    for place in CONFIGURATION["places"]:
        of_place = [
            mutant
            for path in files_of(place)
            if not options.what or {place, str(path.relative_to(ROOT))} & set(options.what)
            for mutant in mutants_of(place, path)
            if lines is None or mutant.line in lines.get(mutant.file, ())
        ]
        random.Random(options.seed).shuffle(of_place)
        texts = ((mutant, mutant.text()) for mutant in of_place)
        new = (
            pair for pair in texts if pair[1] and changed(*pair) not in same.get(pair[0].file, {})
        )
        found += itertools.islice(new, options.sample)
    return found


def changed(mutant: Mutant, text: str) -> str:
    """Return the line that is changed, as it is in the mutant."""
    return text.splitlines()[mutant.line - 1].strip()


def main() -> int:
    """Print the survivors, and the share that is noticed of each place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", help="places of mutants.toml, or files; default: all")
    parser.add_argument("--since", help="only lines that differ from this commit")
    parser.add_argument("--sample", type=int, help="so many mutants of each place")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    options = parser.parse_args()
    mutants = chosen(options)
    for name in (*LIBRARIES, "hypothesis", "pytest"):
        if not name.startswith("snakemake"):  # which no test of a place needs
            import_module(name)
    places = list(dict.fromkeys(mutant.place for mutant, _ in mutants))
    status = 0
    with ProcessPoolExecutor(options.cores, get_context("fork"), prepare) as pool:
        for place, passed in zip(places, pool.map(passes, places), strict=True):
            if not passed:
                parser.error(f"the tests of {place} fail without a mutant")
        columns = zip(*((mutant.place, mutant.file, text) for mutant, text in mutants), strict=True)
        survived = dict(zip(mutants, pool.map(passes, *columns), strict=True)) if mutants else {}
    for place in places:
        of_place = {pair: passed for pair, passed in survived.items() if pair[0].place == place}
        left = [pair for pair, passed in of_place.items() if passed]
        for mutant, text in sorted(left):
            print(f"{mutant.file}:{mutant.line}: {changed(mutant, text)}")
        print(f"{place}: {len(of_place) - len(left)} of {len(of_place)} noticed", flush=True)
        status |= len(left) > (1 - LEAST) * len(of_place)
    return status


if __name__ == "__main__":
    sys.exit(main())
