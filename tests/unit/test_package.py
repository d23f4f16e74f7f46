"""The package: what a wheel holds, and that estimators and audit need its own dependencies only."""

import tomllib
import zipfile
from shutil import copy, copytree, ignore_patterns

import pytest
from checkout import ROOT
from command import python

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The modules of the extras: to import one raises ModuleNotFoundError.
WITHOUT_EXTRAS = """
import sys
for name in ("matplotlib", "jsonschema", "PIL", "pygments", "yaml", "requests", "snakemake",
             "statsmodels"):
    sys.modules[name] = None
"""


def test_a_wheel_holds_the_package_its_data_and_its_command(tmp_path):
    pytest.importorskip("setuptools", minversion="77")  # make test has it
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        copy(ROOT / name, tmp_path)
    copytree(
        ROOT / "scripts/calbias",
        tmp_path / "scripts/calbias",
        ignore=ignore_patterns("__pycache__"),
    )
    build = "import setuptools.build_meta as b; print(b.build_wheel('.'))"
    wheel = zipfile.ZipFile(tmp_path / python(build, folder=tmp_path).splitlines()[-1])
    held = {name: wheel.read(name) for name in wheel.namelist()}
    package = tmp_path / "scripts/calbias"
    for path in (path for path in package.rglob("*") if path.is_file()):
        assert held.pop(f"calbias/{path.relative_to(package)}") == path.read_bytes()
    assert all(".dist-info/" in name for name in held)
    texts = {name.partition("/")[2]: text.decode() for name, text in held.items()}
    assert "calbias = calbias.command:main" in texts["entry_points.txt"]
    metadata = texts["METADATA"].splitlines()
    needed = [line.partition(": ")[2] for line in metadata if line.startswith("Requires-Dist")]
    assert [name for name in needed if "extra ==" not in name] == PROJECT["dependencies"]
    assert {"Provides-Extra: plot", "Provides-Extra: workflow"} <= set(metadata)
    import calbias

    assert f"Version: {calbias.__version__}" in metadata


def test_the_audit_and_the_estimators_need_no_extra(tmp_path):
    rows = (f"{(50 + i % 50) / 100},{int(i % 3 > 0)}\n" for i in range(300))
    (tmp_path / "model.csv").write_text("score,hit\n" + "".join(rows))
    code = WITHOUT_EXTRAS + (
        "from calbias.command import main\n"
        "import importlib, pkgutil, calbias.estimators as estimators\n"
        "for module in pkgutil.iter_modules(estimators.__path__, 'calbias.estimators.'):\n"
        "    importlib.import_module(module.name)\n"
        "main(['audit', 'model.csv', '--quiet', '--replicates', '50'])\n"
    )
    assert "ECE" in python(code, folder=tmp_path)
    assert 'pip install "calbias[plot]"' in (tmp_path / "model.html").read_text("utf-8")
