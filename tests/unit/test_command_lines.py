"""Rules name the options of their scripts in the scripts' order: inputs, parameters, outputs."""

import importlib
import re

import pytest
from checkout import ROOT

RULE = re.compile(
    r"^rule (\w+):\n    input:\n(?:[^:]|lambda wildcards:)*?"
    r'code\(\s*"(\w+)".*?^    shell:\n(.*?)(?=^\S|\Z)',
    re.MULTILINE | re.DOTALL,
)
RULES = [
    pytest.param(script, re.findall(r"(?<=[ \"])--[a-z][a-z-]*|\{\w+", shell), id=rule)
    for file in sorted((ROOT / "workflow/rules").glob("*.smk"))
    for rule, script, shell in RULE.findall(file.read_text())
]


@pytest.mark.parametrize(("script", "words"), RULES)
def test_options_stand_in_one_order(script, words):
    script = importlib.import_module(script)
    flags = [word for word in words if word.startswith("--")]
    assert flags == [flag for flag in script.main.flags if flag in flags]
    after_seed = flags[flags.index("--seed") + 1 :] if "--seed" in flags else ()
    outputs = words[words.index("{output") - 1 :] if "{output" in words else flags
    assert set(after_seed) <= set(outputs)
    assert "{input" not in outputs
