"""How many entries the default run makes in a queue, by a plan with the Slurm profile."""

import re

from checkout import ROOT

from pipeline.catalogue import figures

PROFILE = ("--workflow-profile", "workflow/profiles/slurm")
RULE = r"^(?:use )?rule (?:\w+ as )?(\w+).*:\n((?:[ \n].*\n|\n)*)"


def test_the_default_run_makes_few_queue_entries(pristine):
    files = (ROOT / "workflow").rglob("*.smk")
    rules = [rule for path in files for rule in re.findall(RULE, path.read_text(), re.MULTILINE)]
    local = {*figures(), "all", *(name for name, body in rules if "localrule: True" in body)}
    plan = pristine.run("--dry-run", *PROFILE, config=None)
    single = [name for name in re.findall(r"^rule (\w+):", plan, re.MULTILINE) if name not in local]
    assert single == []
    assert len(re.findall(r"Group job \w+ ", plan)) <= 15
