"""The package and its environment files: what a wheel holds and needs, and that all files agree."""

import json
import re
import subprocess
import tomllib
import zipfile
from importlib.metadata import version
from shutil import copy, copytree, ignore_patterns

import pytest
import yaml
from checkout import ROOT
from command import python

import calbias
from calbias.errors import of_extra

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
# The modules of the extras: to import one raises ModuleNotFoundError.
WITHOUT_EXTRAS = """
import sys
for name in ("matplotlib", "jsonschema", "PIL", "pygments", "yaml", "requests", "snakemake",
             "statsmodels"):
    sys.modules[name] = None
"""


def test_a_wheel_holds_the_package_its_data_and_its_command(tmp_path):
    if int(version("setuptools").partition(".")[0]) < 77:  # make test has it
        pytest.skip("needs setuptools 77")
    for name in ("pyproject.toml", "README.md", "LICENSE", "resources/scores/LICENSE"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, tmp_path / name)
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
    assert "M.I. Hollemans" in texts["licenses/resources/scores/LICENSE"]  # of example.csv
    assert "calbias = calbias.command:main" in texts["entry_points.txt"]
    metadata = texts["METADATA"].splitlines()
    needed = [line.partition(": ")[2] for line in metadata if line.startswith("Requires-Dist")]
    assert [name for name in needed if "extra ==" not in name] == PROJECT["dependencies"]
    assert {f"Provides-Extra: {name}" for name in PROJECT["optional-dependencies"]} <= set(metadata)
    import calbias

    assert f"Version: {calbias.__version__}" in metadata


@pytest.mark.slow
def test_every_module_of_the_wheel_imports_outside_a_checkout(tmp_path):
    copytree(ROOT / "scripts/calbias", tmp_path / "calbias", ignore=ignore_patterns("__pycache__"))
    code = WITHOUT_EXTRAS + (
        "sys.path.insert(0, '.')\n"
        "import importlib, pkgutil, calbias\n"
        "for module in pkgutil.walk_packages(calbias.__path__, 'calbias.'):\n"
        "    importlib.import_module(module.name)\n"
        "assert 'reproduction' not in sys.modules\n"
        "print(calbias.__file__)\n"
    )
    assert str(tmp_path) in python(code, folder=tmp_path, PYTHONPATH=str(tmp_path))


def test_an_audit_needs_no_extra_and_the_rest_names_the_one_that_it_needs(tmp_path):
    rows = (f"{(50 + i % 50) / 100},{int(i % 3 > 0)},{i // 3}\n" for i in range(300))
    (tmp_path / "model.csv").write_text("score,hit,id\n" + "".join(rows))
    (tmp_path / "model.parquet").touch()
    code = WITHOUT_EXTRAS.replace('"PIL"', '"PIL", "numba", "llvmlite", "pyarrow", "sklearn"') + (
        "from calbias.command import main\n"
        "import calbias\n"
        "sys.stderr = sys.stdout\n"
        "main(['audit', 'model.csv', '--quiet', '--cluster', 'id'])\n"
        "assert not {'scipy.optimize', 'scipy.stats'} & {*sys.modules}  # they take half a second\n"
        "scores, hits = [0.2, 0.9, 0.7], [0, 1, 1]\n"
        "scenario = calbias.Scenario('s', 1.0, 1.0, calbias.Curve('identity'))\n"
        "calbias.reliability_diagram(scores, hits), calbias.Sketch().add(scores, hits)\n"
        "calbias.Monitor(0.01).update(scores, hits), calbias.estimate('ks', scores, hits)\n"
        "s, y = [k / 99 for k in range(99)], [k % 2 for k in range(99)]\n"
        "repr(calbias.Recalibrator('platt').fit(s, y).set_params(seed=1).predict(s))\n"
        "import calbias.auditing.compare, calbias.auditing.planning.plan\n"
        "for call in (lambda: calbias.audit(scores, hits).plot(),\n"
        "             lambda: calbias.estimate('kde', scores, hits),\n"
        "             lambda: calbias.simulate(scenario, 10),\n"
        "             lambda: main(['audit', 'model.parquet'])):\n"
        "    try:\n"
        "        call()\n"
        "    except (calbias.InputError, SystemExit) as error:\n"
        "        print(error)\n"
        "help(calbias)\n"
        "help(calbias.bias)\n"
    )
    said = python(code, folder=tmp_path)
    assert "ECE" in said
    assert "a picture needs matplotlib: pip install matplotlib" in said
    assert said.count("class-wise error needs numba: pip install numba") >= 3
    assert "Help on function bias" in said
    assert "error: a Parquet file needs pyarrow: pip install pyarrow" in said
    assert "<svg" in (tmp_path / "model.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "raise ImportError('built for\\nNumPy 1')",
            "not load here .built for NumPy 1.: pip",
        ),
        ("import not_there_at_all", "does not load here .No module named 'not_there_at_all'"),
        ("raise SystemError('initialization')", "does not load here .initialization"),
    ],
)
def test_an_extra_that_does_not_load_is_one_line(tmp_path, monkeypatch, text, message):
    """Such as a pyarrow that was built for another NumPy, which pip installs by itself."""
    (tmp_path / "broken_extra.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(calbias.InputError, match=message):
        of_extra("a Parquet file", "broken_extra.parquet")


def locked(name):
    """{package: version for Python 3.11} of a lock file."""
    versions = {}
    for line in (ROOT / "envs" / name).read_text().splitlines():
        match = re.match(r"([a-z0-9._-]+)==([^ ;\\]+)\s*(;[^\\]*)?", line)
        if match and ">= '3.12'" not in (match[3] or ""):
            versions[match[1]] = match[2]
    return versions


def wanted_by_the_pipeline():
    """The package's dependencies with those of its extras."""
    extras = PROJECT["optional-dependencies"].values()
    wanted = {*PROJECT["dependencies"], *(name for extra in extras for name in extra)}
    return sorted(name.partition(">=")[0] for name in wanted)


def test_conda_environment_has_the_locked_versions():
    environment = yaml.safe_load((ROOT / "envs/environment.yaml").read_text())
    pins = dict(line.split("=") for line in environment["dependencies"])
    assert pins.pop("python") == "3.11"
    lock = locked("requirements.lock")
    assert pins == {name: lock[name] for name in wanted_by_the_pipeline()}


def test_development_lock_extends_the_runtime_lock():
    runtime, development = locked("requirements.lock"), locked("requirements-dev.lock")
    assert {name: development.get(name) for name in runtime} == runtime
    assert set(GROUPS["dev"]) <= set(development)


@pytest.mark.parametrize("path", sorted((ROOT / "envs").glob("*.lock")), ids=lambda path: path.name)
def test_every_package_is_locked_with_hashes_and_no_host(path):
    text = path.read_text()
    blocks = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text


def test_files_for_citation_and_archives_say_the_same():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    codemeta = json.loads((ROOT / "codemeta.json").read_text())
    said = {name: codemeta[name] for name in ("license", "name", "description", "keywords")}
    assert said == {
        "license": f"https://spdx.org/licenses/{citation['license']}",
        "name": citation["title"].partition(":")[0],
        "description": PROJECT["description"],
        "keywords": citation["keywords"],
    }
    assert (codemeta["name"], citation["license"]) == (PROJECT["name"], PROJECT["license"])
    authors = [author["name"] for author in citation["authors"]]
    assert [author["name"] for author in codemeta["author"]] == authors
    assert codemeta["runtimePlatform"].split()[1] == PROJECT["requires-python"].strip(">=")
    assert set(codemeta["softwareRequirements"]) <= set(wanted_by_the_pipeline())


def test_the_snakemake_workflow_catalog_lists_it():
    """The catalog's published conditions for standardized usage, where files can show them."""
    for name in ("workflow/Snakefile", "config/README.md", "LICENSE"):
        assert (ROOT / name).stat().st_size > 0, name
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text("utf-8"))["usage"]
    assert {*usage["mandatory-flags"]} == {"desc", "flags"}
    rules = "".join(path.read_text("utf-8") for path in (ROOT / "workflow/rules").rglob("*.smk"))
    stated = usage["software-stack-deployment"]
    assert stated == {"conda": "conda:" in rules, "report": "report(" in rules}
    # small enough to be cloned by a job: far below what its hosts refuse for one file
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    paths = [ROOT / name for name in files.stdout.decode().split("\0") if name]
    assert max((path.stat().st_size for path in paths if path.exists()), default=0) < 50e6


def test_pip_resolves_nothing_beyond_the_lock():
    text = (ROOT / "Makefile").read_text()
    [options] = re.findall("^EXACTLY := -m pip install (.*)$", text, re.MULTILINE)
    assert {"--no-deps", "--no-build-isolation", "--require-hashes"} <= {*options.split()}
    assert "-m pip check" in text
