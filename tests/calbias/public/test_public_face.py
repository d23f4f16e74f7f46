"""The public names, README and docs: documented, typed, and their examples run."""

import ast
import doctest
import importlib
import inspect
import os
import pydoc
import re
import subprocess
from collections import Counter
from functools import partial

import numpy as np
import pytest
import yaml
from checkout import ROOT
from command import python
from refusals import refuses

import calbias
from calbias.command import main
from calbias.errors import InputError
from calbias.estimation.registry import FOLDER
from calbias.io.python_files import PACKAGE, SCRIPTS, code_files
from calbias.reading.checks import as_top_label

NAMES = [*calbias._MODULES]
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(calbias, name))]
P = [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]


def test_importing_loads_nothing_heavy_and_lists_every_name():
    python(
        "import sys, calbias; assert set(calbias._MODULES) < set(dir(calbias)); "
        "assert not {'numpy', 'numba', 'scipy', 'pandas'} & set(sys.modules)"
    )


def test_help_is_one_page():
    lines = pydoc.render_doc(calbias, renderer=pydoc.plaintext).splitlines()
    assert len(lines) <= 80
    assert len(NAMES) <= 25


def test_every_module_of_the_wheel_is_reached_from_a_public_name():
    modules = [*calbias._MODULES.values(), "calbias.sklearn", "calbias.__main__"]
    files = [SCRIPTS.joinpath(*module.split(".")).with_suffix(".py") for module in modules]
    reached = set(code_files(*files, *FOLDER.glob("*.py")))
    there = {path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}
    assert there - reached == set()


def test_the_stub_has_the_same_names_from_the_same_modules():
    tree = ast.parse((ROOT / "scripts/calbias/__init__.pyi").read_text("utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    stub = {alias.name: node.module for node in imports for alias in node.names}
    assert stub == calbias._MODULES


def test_every_example_in_the_tool_runs():
    files = [path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text("utf-8")]
    for path in files:
        module = ".".join(path.relative_to(SCRIPTS).with_suffix("").parts)
        assert doctest.testmod(importlib.import_module(module)).failed == 0, module


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_in_the_help(name):
    value = getattr(calbias, name)
    assert re.search(rf"\b{name}\b", calbias.__doc__)
    assert value.__doc__
    if name in FUNCTIONS:
        sections = ["Returns", "Examples"]
        sections += ["Parameters", "Raises"] if inspect.signature(value).parameters else []
        for section in sections:
            assert re.search(rf"^{section}\n-+$", inspect.getdoc(value), re.MULTILINE), section
        hints = set(value.__annotations__)
        assert hints == {*inspect.signature(value).parameters, "return"}
        assert len(str(inspect.signature(value))) < 700, "hints of arrays are not spelt out"


def test_top_labels_of_logits_and_of_probabilities_agree():
    logits = np.random.default_rng(1).normal(size=(50, 4)) * 3
    labels, exp = np.arange(50) % 4, np.exp(logits)
    top = as_top_label(None, None, logits=logits, labels=labels)
    probabilities = exp / exp.sum(axis=1, keepdims=True)
    by_probabilities = as_top_label(None, None, probabilities=probabilities, labels=labels)
    assert by_probabilities == tuple(pytest.approx(column, rel=1e-9) for column in top)
    for given in (labels[:, None], np.eye(4)[labels]):
        value = calbias.estimate("kde", logits=logits, labels=given)
        assert value == calbias.estimate("kde", top.score, top.hit)


SCORES = {"scores": [0.5, 0.7, 0.9], "hits": [0, 1, 1]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": ["0.5", "0.7", "0.9"]}, "scores must be numbers, not of type <U3"),
        ({"scores": [[0.5, 0.5]] * 3}, r"scores and hits must be one-dimensional, .* \(3, 2\) and"),
        ({"scores": [], "hits": []}, "scores and hits must be one-dimensional, of one length and"),
        ({"hits": [0, 1]}, r"of one length and not empty: their shapes are \(3,\) and \(2,\)"),
        ({"scores": [0.5, float("nan"), 0.9]}, "row 1 .*: score nan .* not a finite number"),
        ({"scores": [50.0, 70.0, 90.0]}, "row 0 .*: score 50 .* not percentages"),
        ({"hits": [0.5, 0.7, 0.9]}, "row 0 .*: hit 0.5 .* give 1 for a correct prediction"),
        ({"hits": None}, "scores go with hits: give these$"),
        ({"hits": None, "labels": [0, 1, 1]}, "scores go with hits: give these instead of labels"),
        ({"scores": None}, "give scores, logits or probabilities, one of them: none given"),
        ({"probabilities": P}, "one of them: scores and probabilities given"),
        ({"n_bins": True}, "n_bins must be a whole number .*, not True"),
    ],
)
@pytest.mark.parametrize("function", ["estimate", "audit", "reliability_diagram"])
def test_bad_scores_and_hits_are_refused_in_a_line(function, arguments, message):
    names = ["kde"] if function == "estimate" else []
    with pytest.raises(InputError, match=message):
        getattr(calbias, function)(*names, **{**SCORES, **arguments})


test_bad_outputs_are_refused_in_a_line = refuses(
    partial(calbias.estimate, "kde", probabilities=P, labels=[0, 1, 1]),
    ({"labels": [1, 2, 2]}, r"labels are counted from 1 \(1 to 2\); subtract 1"),
    ({"labels": [0, 1]}, "3 rows of logits but 2 labels"),
    ({"labels": [0, 0.5, 1]}, "row 1 .*label 0.5 is not a class number"),
    ({"labels": None}, "probabilities go with labels: give these"),
    ({"probabilities": [0.7, 0.8, 0.6]}, r"shape \(3,\); give one row per sample"),
    ({"probabilities": [[2.0, -1.0]] * 3}, "row 0 .*: 2.0 is not a probability"),
    ({"probabilities": [[0.7, 0.2]] * 3}, "row 0 .*: probabilities sum to 0.9, not 1"),
    ({"probabilities": None, "logits": [[1.0, np.inf]] * 3}, "column 1 .* is inf"),
)


test_bad_options_of_the_diagram = refuses(
    partial(calbias.reliability_diagram, **SCORES),
    ({"binning": "ew"}, "binning must be equal_width or equal_mass, no"),
    ({"confidence_level": 95}, "confidence_level must be above 0 and below 1, not"),
)


SCENARIO = calbias.Scenario("mine", 1.0, 1.0, calbias.Curve("identity"))
test_bad_simulations_are_refused_in_a_line = refuses(
    partial(calbias.bias, estimator="kde", scenario=SCENARIO, n_samples=10),
    ({"scenario": SCENARIO._replace(alpha=-1.0)}, "alpha -1.0 and beta 1.0 must be finite"),
    ({"scenario": SCENARIO._replace(curve=calbias.Curve("identitty"))}, "curve 'identitty'. Did"),
    ({"scenario": SCENARIO._replace(curve=calbias.Curve("power", b1=np.nan))}, "b0 0.0 and b1 nan"),
    ({"n_samples": 0}, "n_samples must be a whole number of at least 1, not 0"),
    ({"replicates": 1}, "replicates must be a whole number of at least 2, not 1"),
    ({"estimator": "kdee"}, "unknown estimator 'kdee'"),
)
test_an_error_of_a_bad_scenario_is_refused_too = refuses(
    calbias.true_calibration_error, (SCENARIO._replace(beta=0.0), "alpha 1.0 and beta 0.0 must be")
)
test_samples_of_a_bad_scenario_are_refused_too = refuses(
    calbias.simulate, (SCENARIO._replace(beta=0.0), 10, "alpha 1.0 and beta 0.0 must be")
)


def test_bias_is_that_of_the_target():
    scenario = SCENARIO._replace(curve=calbias.Curve("power", b1=2.0))
    rooted = calbias.bias("kde", scenario, 2000, replicates=20, norm=2)
    unrooted = calbias.bias("kde_unrooted", scenario, 2000, replicates=20, norm=2)
    assert unrooted.truth == pytest.approx(rooted.truth**2)
    assert abs(unrooted.bias) < 0.1 * unrooted.truth


PAGES = [
    *sorted(set(ROOT.glob("*.md")) - {ROOT / "CHANGELOG.md"}),  # names what is gone
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / "config/README.md", ROOT / "workflow/profiles/README.md"),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_code_is_valid_and_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    if page.name != "limits.md" or os.environ.get("CALBIAS_NIGHTLY"):  # that one simulates
        assert doctest.DocTestRunner().run(test).failed == 0
    for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        if language == "python" and ">>>" not in code:
            ast.parse(code)
        elif language == "yaml":
            assert isinstance(yaml.safe_load(code), dict | list)
    for target, anchor in re.findall(r"\]\(([^)#: ]*)(?:#([^) ]*))?\)", text):
        linked = page.parent / target if target else page
        guest = re.search(r"\b(evidence|networks)/", target)
        if guest and not (ROOT / guest[1]).exists():
            continue  # a guest workflow, which may be deleted
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"
    folders = "config|docs|envs|resources|scripts|tests|workflow"
    for path in re.findall(rf"`((?:{folders})/[^`*: ]*)`", text):
        assert (ROOT / path).exists() or "my_" in path, path


@pytest.mark.parametrize("page", ["docs/tool/start.md", "README.md"])
def test_the_first_pages_run_without_a_checkout(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text("utf-8")
    commands = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S))
    for target in re.findall(r"^make (\w+)", commands, re.MULTILINE):
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)
    for line in re.findall(r"(?:^|&& )calbias (.+?)(?= && |$)", commands, re.MULTILINE):
        arguments, _, target = line.partition(" > ")
        main(arguments.split())
        printed = capsys.readouterr().out
        if target:
            (tmp_path / target).write_text(printed)
        elif arguments.startswith("audit"):
            assert f"\n> {printed.splitlines()[0]}\n" in text
    assert (tmp_path / "example.html").is_file()
    code = "import runpy; runpy.run_module('calbias', run_name='__main__')"  # python -m calbias
    assert "calbias example > example.csv" in " ".join(python(code, "-h", folder=tmp_path).split())


def anchors(page):
    """The names that GitHub and the site give to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def contents(page):
    """The pages that a page of the docs lists in its tables of contents."""
    blocks = re.findall(r"^```{toctree}(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    return [line for block in blocks for line in block.split("\n\n", 1)[1].split()]


def test_every_page_is_once_in_the_contents_of_the_site():
    docs = ROOT / "docs"
    pages = {path.with_suffix("") for path in docs.rglob("*") if path.suffix in (".md", ".rst")}
    listed = [docs / "index"]
    for path in listed:  # grows: pages below pages
        page = path.with_suffix(".md")
        listed += [path.parent / name for name in contents(page)] if page.exists() else []
    assert sorted(listed) == sorted(pages)
    entries = Counter(name.split("/")[0] for name in contents(docs / "index.md"))
    assert set(entries) == {"tool", "papers", "workflow"}
    assert max(entries.values()) <= 12  # of a part in the side bar


@pytest.mark.parametrize(
    ("page", "heading", "least"),
    [
        ("workflow/profiles/README.md", "## Faults", 14),
        ("tests/README.md", "## Promises of SECURITY.md", 7),
    ],
)
def test_every_row_of_a_table_of_tests_names_tests_that_there_are(page, heading, least):
    text = (ROOT / page).read_text("utf-8")
    lines = text[text.index(heading) + len(heading) :].partition("\n## ")[0].splitlines()
    rows = [line.rstrip("| ").split("|")[-1] for line in lines if line.startswith("| ")][1:]
    files = {path.name: path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(rows) >= least
    for row in rows:
        names = re.findall(r"test_\w+(?:\.py)?", row)
        assert names, row
        for name in names:
            assert name in files or any(f"def {name}(" in text for text in files.values()), name
