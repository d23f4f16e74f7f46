"""Which project files a step needs, found as text: the digest of its rule covers what it loads."""

import ast
import json
import os
import re
from functools import cache
from pathlib import Path

import pytest
from checkout import ROOT
from command import python

from calbias.io.python_files import PACKAGE, SCRIPTS, code_files
from pipeline.step_command import step_file

pytestmark = pytest.mark.slow

RULES = "\n".join(path.read_text("utf-8") for path in (ROOT / "workflow/rules").rglob("*.smk"))
STEP_NAMES = sorted({*re.findall(r'given\(\s*"(\w+)"', RULES)})  # of a rule
STEP_NAMES = STEP_NAMES[:: 1 if os.environ.get("CALBIAS_NIGHTLY") else 8]
LOADER = SCRIPTS / "calbias/estimation/loading.py"  # of estimators, by name
DECLARED = re.compile(r"\bloaded=")  # by which a rule names their files
# what imports a study for its words alone, or audits no rows
LOADS_NONE = {"draw_estimator", "judge_estimator", "select_recalibration"}
# For each line read: import a step, then what its functions import later, and print what
# modules of the project are loaded. Each in a fork of a process that has loaded the libraries.
RUN = """
import importlib, json, os, sys
import matplotlib.figure, numba, pandas, pyarrow.parquet, scipy.interpolate, scipy.stats

for line in sys.stdin:
    if os.fork():
        if os.wait()[1]:
            sys.exit(f"failed: {line}")
        continue
    for name in json.loads(line):
        importlib.import_module(name)
    print(json.dumps([m.__file__ for n, m in sys.modules.items()
                      if n.split(".")[0] in ("calbias", "pipeline", "reproduction", "evidence")
                      and getattr(m, "__file__", None)]))
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.fixture(scope="module")
def imported():
    """{step: files of the project that it and its functions import}."""
    needed = {
        name: sorted({m for path in code_files(step_file(name)) for m in late_imports(path)})
        for name in STEP_NAMES
    }
    lines = "".join(
        json.dumps(modules) + "\n" for modules in ([module(n), *m] for n, m in needed.items())
    )
    text = python(RUN, lines=lines)
    files = [{Path(path).resolve() for path in json.loads(line)} for line in text.splitlines()]
    return dict(zip(STEP_NAMES, files, strict=True))


def module(step):
    return ".".join(step_file(step).relative_to(SCRIPTS).with_suffix("").parts)


@cache
def late_imports(path):
    """Modules of the project that functions of a file import when they are called."""
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = [node for function in functions for node in ast.walk(function)]
    names = {node.module for node in inside if isinstance(node, ast.ImportFrom)}
    names |= {a.name for node in inside if isinstance(node, ast.Import) for a in node.names}
    return {
        name
        for name in names
        if name and name.startswith(("calbias", "pipeline", "reproduction", "evidence"))
    }


@pytest.mark.parametrize("step", STEP_NAMES)
def test_what_a_step_imports_is_found(imported, step):
    assert imported[step] <= set(code_files(step_file(step)))


def test_what_is_loaded_by_name_is_declared():
    """A step that loads estimators cannot import them: its rules name their files."""
    loading = set()
    for rule in re.split(r"\n(?=rule )", RULES):
        step = re.search(r'given\(\s*"(\w+)"', rule)
        if step and LOADER in code_files(step_file(step[1])):
            loading.add(step[1])
            declared = bool(DECLARED.search(rule))
            assert declared == (step[1] not in LOADS_NONE), rule.splitlines()[0]
    assert loading > LOADS_NONE


def test_simulation_jobs_start_without_heavy_libraries():
    loaded = python(
        "import sys, reproduction.steps.simulate_replicates; print(*sys.modules)"
    ).split()
    assert not {"matplotlib", "statsmodels", "pandas"} & set(loaded)


def names(*files):
    return {str(path.relative_to(SCRIPTS)) for path in code_files(*files)}


def test_a_module_and_all_that_it_imports():
    assert names(PACKAGE / "errors.py") == {"calbias/__init__.py", "calbias/errors.py"}
    assert names(PACKAGE / "engine/sorted_batch.py") >= {
        "calbias/__init__.py", "calbias/engine/sorted_batch.py", "calbias/engine/jit.py",
        "calbias/io/python_files.py",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "import numpy\nimport calbias.reading.top_label as scores\n",
        "import numpy, calbias.reading.top_label\n",
        "def estimate():\n    from calbias.reading import (  # later\n        top_label,\n    )\n",
        "from calbias.reading \\\n    import store, \\\n    top_label\n",
        "if True: import calbias.reading.top_label; x = 1\n",
        "import numpy; from calbias.reading import(top_label)\n",
        "from calbias.reading import (\n    store,  # (its form)\n    top_label,\n)\n",
        "from calbias.reading.top_label import TopLabel\ndef (\n",  # its own job reports the error
    ],
)
def test_a_file_of_ones_own(tmp_path, text):
    mine = tmp_path / "mine.py"
    mine.write_text(text)
    assert {path.name for path in code_files(mine)} >= {"mine.py", "top_label.py", "curves.py"}


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        ("import calbias\ndef f(s, h):\n    return calbias.ece(s, h)\n", ["ece.py"]),
        ("from calbias import ece as e\n", ["ece.py"]),
        ("import numpy, calbias as cb\ncb.true_calibration_error\n", ["true_error.py"]),
        ("import calbias as cb\nf = cb\n", ["audit.py", "monitor.py"]),  # whatever it takes of it
        ("from calbias import *\n", ["audit.py", "monitor.py"]),
        # an estimator that is named at run time may be any
        ("import calbias\ncalbias.estimate\n", ["api.py", "kde.py", "ece_sweep.py"]),
    ],
)
def test_what_a_file_uses_of_the_public_names(tmp_path, text, loaded):
    mine = tmp_path / "mine.py"
    mine.write_text(text)
    reached = {path.name for path in code_files(mine)}
    assert reached >= {"mine.py", *loaded}
    assert ("kde.py" in reached) == (loaded != ["ece.py"] and loaded != ["true_error.py"])


def test_a_file_that_only_speaks_of_modules(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_bytes(b"'Scores: see calbias.reading.top_label, which you import. \xff'\n")
    assert code_files(mine) == [mine]
