"""Snakemake's graph of rules with all figures in one box, and without ``all``.

snakemake --rulegraph dot | PYTHONPATH=scripts python docs/rule_graph.py | tred |
    dot -Tsvg -o docs/pictures/rules.svg
"""

import re
import sys

from pipeline.catalogue import figures

STYLE = (
    'graph [margin=0, nodesep=0.15, ranksep=0.3]; edge [color="#808080", arrowsize=0.6]; '
    'node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif", fontsize=11, '
    'height=0.3, color="#4477aa", margin="0.1,0.03"];'
)


def fold(graph):
    """Return the edges of a graph of rules in Graphviz's language, pairs of names, folded."""
    rules = dict(re.findall(r'(\d+)\[label = "(\w+)"', graph))
    drawn = {*rules.values()} & {*figures()}
    names = {key: f"{len(drawn)} figures" if rule in drawn else rule for key, rule in rules.items()}
    edges = {(names[a], names[b]) for a, b in re.findall(r"(\d+) -> (\d+)", graph)}
    return sorted(edge for edge in edges if "all" not in edge)


if __name__ == "__main__":
    lines = "\n".join(f'"{start}" -> "{end}";' for start, end in fold(sys.stdin.read()))
    print(f"digraph rules {{\n{STYLE}\n{lines}\n}}")
