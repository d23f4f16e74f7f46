"""The plan after a change is exact: what must run again runs, and nothing else.

Each key, list, model, estimator, experiment and published digit of the small configuration is
changed alone, and each pair of its numbers exchanged. ``plans.expected`` has the rule.
"""

import html
import re
import runpy

import plans
import pytest
from checkout import ROOT
from nightly import NEEDLESS, daily

from pipeline.catalogue import figures
from pipeline.table_schema import read_yaml

CHANGES, EXCHANGES = plans.changes(), plans.exchanges()
# Rules that may run although their outputs stay the same, with the reason; a night counts in how
# many cases they do. Other changes, as of another row of a printed table, may need another reason.
# What reads the outputs of a job that runs may run too: Snakemake plans before it knows the bytes.
MORE = {
    "read_logits": "the seed orders classes that tie, and a file may have no ties",
    "define_scenarios": "the models table may be another file with the same rows of its models",
    "draw_as_authors": "the models table may be another file with the same rows of its models",
    "compare_estimators": "reads Tables 2 and 3 whole and uses the rows of its models",
    "table1_recalibration": "reads tables whole and shows the networks with both folds",
    "simulate_replicates": "a list of n_bins in another order, or shorter; estimates are kept",
    "summarise_detection": "an estimator of the null alone has no row",
    "join_tables": "an experiment that is gone may have had no rows",
    "tabulate_true_errors": "an experiment may have no curve that the others have not",
}


@pytest.fixture(scope="module")
def base(smoke, tmp_path_factory):
    """A finished small run, and its plan."""
    checkout = smoke.copy(tmp_path_factory.mktemp("plans") / "checkout")
    (checkout / "mine").mkdir()
    return checkout, plans.plan(checkout)


def test_every_output_of_every_job_is_asked_for(base):
    """A result that is deleted is made again, whichever it is."""
    _, jobs = base
    [everything] = [job for job in jobs if job["rule"] == "all"]
    outputs = {path for job in jobs for path in job["outputs"]}
    assert outputs <= {*everything["inputs"]}
    assert not plans.planned(jobs)


def test_every_key_of_the_configuration_is_changed():
    changed = {part for name in CHANGES for part in name.split(" ")[0].split(".")}
    schema = read_yaml(ROOT / "workflow/schemas/config.schema.yaml")
    keys = {*schema["properties"], *schema["$defs"]["experiment"]["properties"]}
    assert keys - changed == {"estimator", "guests"}  # other targets, other workflows


@pytest.mark.parametrize("name", daily([*CHANGES], 6))
def test_a_change(base, name):
    checkout, before = base
    change = CHANGES[name]
    after = plans.plan(checkout, change)
    assert isinstance(after, list), after
    must, may = (plans.expected(before, after, change.edits, ancient) for ancient in (False, True))
    runs = plans.planned(after)
    assert plans.named(after, must - runs) == []
    assert plans.named(after, runs - may) == []


def test_the_start_says_what_changed(finished):
    """In a dry run, the end."""
    file = "scripts/calbias/estimators/ece_sweep.py"
    asked = ("--config", "seed=3", "--", "results/recalibration/resnet50_brier_c10.parquet")
    line = f"changed since the last run: {file}, config: seed"
    finished.append(file, "CHANGED = True\n")
    assert line in finished.run("--dry-run", *asked).splitlines()
    assert line in finished.run(*asked).splitlines()
    assert "changed since" not in finished.run("--dry-run", *asked)


@pytest.mark.parametrize("name", daily([*EXCHANGES], 3))
def test_an_exchange(base, name):
    checkout, before = base
    after = plans.plan(checkout, EXCHANGES[name])
    if isinstance(after, list):
        must, runs = plans.expected(before, after), plans.planned(after)
        assert plans.named(after, must) == plans.named(after, runs)


@pytest.fixture(scope="module")
def scratch(pristine, tmp_path_factory):
    """A checkout for runs from scratch, and what the small configuration makes in it."""
    scratch = plans.Scratch(pristine.copy(tmp_path_factory.mktemp("scratch") / "checkout"))
    (scratch.checkout / "mine").mkdir()
    return scratch, scratch.made()


@pytest.mark.nightly
@pytest.mark.parametrize("name", [*CHANGES, *EXCHANGES])
def test_what_is_left_alone_is_what_a_run_from_scratch_makes(base, scratch, name, record_property):
    if name == "download":
        pytest.skip("needs the network; test_every_key.py downloads from a mirror of its own")
    change = (CHANGES | EXCHANGES)[name]
    after = plans.plan(base[0], change)
    if isinstance(after, str):
        pytest.skip("refused")
    made, before = scratch[0].made(change), scratch[1]
    differ = {outputs for outputs, digests in made.items() if before.get(outputs) != digests}
    runs = plans.planned(after) & {*made}
    assert plans.named(after, differ - runs) == []
    files = {path for outputs in runs for path in outputs}
    needless = {
        job["rule"]
        for job in after
        if tuple(job["outputs"]) in runs - differ and not files & {*job["inputs"]}
    }
    record_property(NEEDLESS, sorted(needless))  # conftest.py counts them at the night's end
    assert needless <= {*MORE}


PROFILE = ("--workflow-profile", "workflow/profiles/slurm")
RULE = r"^(?:use )?rule (?:\w+ as )?(\w+).*:\n((?:[ \n].*\n|\n)*)"


def test_the_default_run_makes_few_queue_entries(pristine):
    files = (ROOT / "workflow").rglob("*.smk")
    rules = [rule for path in files for rule in re.findall(RULE, path.read_text(), re.MULTILINE)]
    local = {*figures(), "all", *(name for name, body in rules if "localrule: True" in body)}
    plan = pristine.run("--dry-run", *PROFILE, config=None)
    single = [name for name in re.findall(r"^rule (\w+):", plan, re.MULTILINE) if name not in local]
    assert single == []
    assert len(re.findall(r"Group job \w+ ", plan)) <= 16


def implied(edges):
    """Return the edges with all that chains of them imply."""
    while more := {(a, d) for a, b in edges for c, d in edges if b == c} - edges:
        edges = edges | more
    return edges


def test_the_picture_shows_the_rules_of_the_default_run(pristine):
    fold = runpy.run_path(str(ROOT / "docs/rule_graph.py"))["fold"]
    picture = (ROOT / "docs/pictures/rules.svg").read_text("utf-8")
    titles = map(html.unescape, re.findall("<title>(.*?)</title>", picture))
    drawn = {tuple(title.split("->")) for title in titles if "->" in title}
    assert implied(drawn) == implied({*fold(pristine.run("--rulegraph", "dot", config=None))})
