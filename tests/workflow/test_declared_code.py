"""What a script imports when it runs is what its rule declares."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT

from calbias.io.code_files import SCRIPTS, code_files

RULES = "\n".join(path.read_text("utf-8") for path in (ROOT / "workflow/rules").glob("*.smk"))
# Import the script, then whatever its functions import later, and list the modules of the project.
RUN = """
import ast, importlib, json, sys
sys.path.insert(0, sys.argv[2])
for name in [sys.argv[1], *sys.argv[3:]]:
    importlib.import_module(name)
print(json.dumps([m.__file__ for n, m in sys.modules.items()
                  if n.split(".")[0] == "calbias" and getattr(m, "__file__", None)]))
"""


def imported(script, *later):
    command = [sys.executable, "-c", RUN, script, str(SCRIPTS), *later]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {Path(path).resolve() for path in json.loads(text)}


def late_imports(path):
    """Modules of the project that functions of a file import when they are called."""
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = [node for function in functions for node in ast.walk(function)]
    names = {node.module for node in inside if isinstance(node, ast.ImportFrom)}
    names |= {a.name for node in inside if isinstance(node, ast.Import) for a in node.names}
    return {name for name in names if name and name.startswith("calbias")}


SCRIPT_NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPT_NAMES)
def test_what_a_script_imports_is_declared(script):
    declared = set(code_files(SCRIPTS / f"{script}.py"))
    later = {name for path in declared for name in late_imports(path)}
    assert imported(script, *sorted(later)) <= declared


@pytest.mark.parametrize("script", SCRIPT_NAMES)
def test_a_rule_that_runs_a_script_declares_its_imports(script):
    runs = len(re.findall(rf'script=program\(\s*"{script}"', RULES))
    declares = len(re.findall(rf'code=(?:lambda \w+: )?code\(\s*"{script}"', RULES))
    assert runs == declares


def test_estimators_are_declared_where_they_are_loaded_by_name():
    """A script that loads estimators by name cannot import them: its rules declare their files."""
    for rule in re.split(r"\n(?=rule )", RULES):
        script = re.search(r'script=program\(\s*"(\w+)"', rule)
        if script:
            loads = SCRIPTS / "calbias/estimation/api.py" in code_files(SCRIPTS / f"{script[1]}.py")
            declares = "estimator_path(" in rule or 'calbias/estimators").glob(' in rule
            assert declares or not loads, rule.splitlines()[0]


def test_recalibration_methods_are_declared_where_they_are_loaded_by_name():
    for rule in re.split(r"\n(?=rule )", RULES):
        script = re.search(r'script=program\(\s*"(\w+)"', rule)
        if script:
            files = code_files(SCRIPTS / f"{script[1]}.py")
            loads = SCRIPTS / "calbias/recalibration/registry.py" in files
            assert not loads or "known_methods()" in rule, rule.splitlines()[0]


@pytest.mark.parametrize("library", ["matplotlib", "statsmodels", "pandas"])
def test_simulation_jobs_start_without_heavy_libraries(library):
    code = "import sys, simulate_replicates; print(sorted(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=SCRIPTS, capture_output=True, text=True, check=True)
    assert f"'{library}'" not in done.stdout
