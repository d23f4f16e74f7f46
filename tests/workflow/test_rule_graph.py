"""The picture of the rules in docs/workflow.md is that of the default run."""

import html
import re
import runpy

from checkout import ROOT


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
