"""Which rule and script of the workflow make a table or a figure: read from the rule files."""

import re
from pathlib import Path
from typing import NamedTuple

from calbias.pipeline.figure_catalogue import figures

_RULE = re.compile(r"^rule (\w+):\n((?:[ \t].*\n|\n)*)", re.MULTILINE)
_OUTPUT = re.compile(r"^    output:(.*(?:\n {8}.*)*)", re.MULTILINE)
_SCRIPT = re.compile(r'program\("(\w+)"\)')
_WRITTEN = re.compile(r'tabled\("(\w+)"\)|"(results/[^"]+)"')
_JOINED = re.compile(r'"(\w+)": \[\s*f"([^"{]+\{)')


class Maker(NamedTuple):
    """A rule with its file and its script, paths relative to the project's top folder."""

    rule: str
    rule_file: str
    script: str


def table_makers(rules_dir):
    """Return {table: Maker} of the tables that the rule files in ``rules_dir`` write.

    An output is a path in quotes or ``tabled("name")``. A table that is joined from parts has the
    rule that makes the parts. A table that no rule names is left out.
    """
    texts = {path.name: path.read_text("utf-8") for path in sorted(Path(rules_dir).glob("*.smk"))}
    outputs = {}
    for name, text in texts.items():
        for rule, block in _RULE.findall(text):
            output, script = _OUTPUT.search(block), _SCRIPT.search(block)
            if output and script:
                maker = Maker(rule, f"workflow/rules/{name}", f"scripts/{script[1]}.py")
                for table, path in _WRITTEN.findall(output[1]):
                    outputs[path or f"results/tables/{table}.csv"] = maker
    makers = {}
    for text in texts.values():
        for table, part in _JOINED.findall(text):
            for path, maker in outputs.items():
                if path.startswith(part):
                    makers[table] = maker
    for path, maker in outputs.items():
        table = re.fullmatch(r"results/tables/(\w+)\.csv", path)
        if table:
            makers[table[1]] = maker
    return makers


def figure_makers():
    """Return {figure: Maker}: the rule has the figure's name, the script is its module."""
    return {
        name: Maker(
            name, "workflow/rules/figures.smk", f"scripts/calbias/figures/{entry.module}.py"
        )
        for name, entry in figures().items()
    }
