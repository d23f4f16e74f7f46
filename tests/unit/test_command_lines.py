"""Rules name the options of their scripts in the scripts' order: inputs, parameters, outputs."""

import importlib
import re

import pytest
from checkout import ROOT

RULE = re.compile(r"^rule (\w+):.*?^    shell:\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
RULES = [
    (rule, re.findall(r"(?<=[ \"])--[a-z][a-z-]*|\{\w+", shell))
    for file in sorted((ROOT / "workflow/rules").glob("*.smk"))
    for rule, shell in re.findall(
        r"^rule (\w+):.*?^    shell:\n(.*?)(?=^\S|\Z)", file.read_text(), re.M | re.S
    )
]
SCRIPT_OF_RULE = {"join_parts": "join_tables"}


@pytest.mark.parametrize(("rule", "words"), RULES, ids=[rule for rule, _ in RULES])
def test_options_stand_in_one_order(rule, words):
    script = importlib.import_module(SCRIPT_OF_RULE.get(rule, rule))
    flags = [word for word in words if word.startswith("--")]
    assert flags == [flag for flag in script.main.flags if flag in flags]
    after_seed = flags[flags.index("--seed") + 1 :] if "--seed" in flags else ()
    outputs = words[words.index("{output") - 1 :] if "{output" in words else flags
    assert set(after_seed) <= set(outputs)
    assert "{input" not in outputs
