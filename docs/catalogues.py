"""Directives that write what the code knows: the API, the methods, figures, tables and claims."""

import ast
import csv
import inspect
import re
from functools import partial
from pathlib import Path

import jinja2
import yaml
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

import calbias
from pipeline.catalogue import caption_file, figures
from pipeline.claims.ledger import REASONS, all_claims, read_statements, statement_counts
from pipeline.guests import MAIN
from pipeline.table_schema import column_meanings, tables

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"  # of a run: its figures and verdicts are shown where they are there


def api():
    """The public names, in the groups and the order of the package's own help."""
    for names, title in re.findall(r"^    ((?:\w+, )*\w+) +(.+)$", calbias.__doc__, re.M):
        yield from heading(title[0].upper() + title[1:])
        for name in names.split(", "):
            value = getattr(calbias, name)
            kind = "class" if inspect.isclass(value) else "function"
            kind = "module" if inspect.ismodule(value) else kind
            yield f".. auto{kind}:: calbias.{name}"
            if kind == "class":
                inherits = value.__base__.__module__.startswith("calbias.")
                yield from ["   :members:", *["   :inherited-members:"] * inherits]
            yield ""


def methods(workflow, listed):
    """The text on top of each file that is an estimator, a recalibration method, or a list."""
    for title, pattern in listed:
        yield from [*heading(title), f"``{workflow.scripts.relative_to(ROOT)}/{pattern}``", ""]
        for path in sorted(workflow.scripts.glob(pattern)):
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            if path.stem == "__init__" or not text:
                continue
            yield from [f"**{path.stem}**", "", "::", ""]
            yield from [f"    {line}" for line in text.splitlines()]
            yield ""


def figure_pages(workflow):
    """Each figure with the caption of the report, for the default configuration."""
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    for name, entry in figures(workflow).items():
        caption = caption_file(workflow, name, entry).read_text(encoding="utf-8")
        yield f".. _{name}:"
        yield ""
        yield from heading(plain(f"{entry.place}: {entry.title}" if entry.place else entry.title))
        if (RESULTS / f"figures/{name}.png").exists():
            yield from [f".. image:: /../results/figures/{name}.png", f"   :alt: {entry.title}"]
            yield f"   :target: _images/{name}.png"
        yield ""
        filled_in = {"params": {"figure": name}, "config": config}
        yield from jinja2.Template(caption).render(snakemake=filled_in).splitlines()
        yield ""
        yield f"``results/figures/{name}.png`` and ``.pdf``"
        yield ""


def table_pages(workflow):
    """Each result table of a workflow, with the meaning of its columns."""
    meanings = column_meanings()
    for name, entry in tables(workflow).items():
        yield from heading(name)
        yield from [entry["caption"], "", f"Made by ``{entry['script']}``.", ""]
        rows = [(f"``{column}``", meanings[column]) for column in entry["columns"]]
        yield from list_table(
            ("column", "unit", "meaning"),
            [(column, row.get("unit", ""), row["meaning"]) for column, row in rows],
        )


def claims(workflow):
    """Each claim with its rule, and with its verdict where a run has been made."""
    verdicts = {}
    for path in (RESULTS / "tables").glob("*claims.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            verdicts |= {row["id"]: verdict_in_words(row) for row in csv.DictReader(file)}
    for claim in all_claims(*workflow.packages()):
        yield from [f".. _{claim.id}:", ""]
        yield from heading(f"{claim.id} ({claim.where})")
        yield from [plain(claim.says) + ".", ""]
        if claim.id in verdicts:
            yield from [f"Verdict of the run: **{verdicts[claim.id]}**", ""]
        yield from [f"Printed: {plain(claim.published)}", "", f"Rule: {plain(claim.rule)}", ""]
        drawn = [f":ref:`{name}`" for name in claim.figures.split() if name in figures(workflow)]
        yield from [f"Drawn in {', '.join(drawn)}.", ""] if drawn else [""]


def statements():
    """Each statement of the four texts, with what judges or shows it, or why nothing does."""
    rows = read_statements()
    counts = {**statement_counts(rows), "all": len(rows)}
    yield from list_table(("judged or shown by, or why not", "statements"), counts.items())
    for paper in dict.fromkeys(row["paper"] for row in rows):
        yield from heading(paper[0].upper() + paper[1:])
        yield from [".. list-table::", "   :header-rows: 1", "   :widths: 14 50 36", ""]
        yield from ["   * - place", "     - statement", "     - where"]
        for row in (row for row in rows if row["paper"] == paper):
            yield f"   * - {plain(row['place'])}"
            yield f"     - {plain(row['statement'])}"
            yield f"     - {where_judged(row)}"
        yield ""


def where_judged(row):
    """Return the claims, figures, tables and proof of a statement as reStructuredText."""
    parts = [
        *(f":ref:`{name} <{name}>`" for name in row["claims"].split()),
        *(f":ref:`{figures()[x].place} <{x}>`" for x in row["figures"].split() if x in figures()),
        *(f"table ``{name}``" for name in row["tables"].split()),
    ]
    words = [", ".join(parts)] if parts else []
    words += [f"proof: {plain(row['proof'])}"] if row["proof"] else []
    words += [REASONS[row["reason"]]] if row["reason"] else []
    words += [plain(row["note"])] if row["note"] else []
    return "; ".join(words)


def verdict_in_words(row):
    """Return the verdict of a row of table claims, with the models it was judged on."""
    words = row["verdict"] + (f" · {row['models']} models" if row.get("models") else "")
    return words + (f" · {row['stability']} batches" if row.get("stability") else "")


def heading(text):
    """A section's title."""
    return [text, "-" * len(text), ""]


def plain(text):
    """Text whose asterisks and bars mean nothing."""
    return re.sub(r"([*|`_\\])", r"\\\1", str(text))


def list_table(header, rows):
    """A table, first row its header; cells but the first are plain text."""
    yield from [".. list-table::", "   :header-rows: 1", ""]
    for first, *others in (header, *rows):
        yield f"   * - {first}"
        yield from (f"     - {plain(cell)}" for cell in others)
    yield ""


def directive(lines_of):
    """A directive without arguments whose content is the reStructuredText of ``lines_of()``."""

    class Catalogue(SphinxDirective):
        def run(self):
            return self.parse_text_to_nodes(
                StringList(list(lines_of()), "catalogue"), allow_section_headings=True
            )

    return Catalogue


def directives(workflow, listed):
    """Return {name: directive} of a workflow; ``listed`` are titles with patterns of files."""
    return {
        "calbias-api": directive(api),
        "calbias-methods": directive(partial(methods, workflow, listed)),
        "calbias-figures": directive(partial(figure_pages, workflow)),
        "calbias-tables": directive(partial(table_pages, workflow)),
        "calbias-claims": directive(partial(claims, workflow)),
        "calbias-statements": directive(statements),
    }


METHODS = (
    ("Estimators", "calbias/estimators/*.py"),
    ("Targets of calbias", "calbias/truth/targets.py"),
    ("Measures", "reproduction/measures.py"),
    ("Recalibration methods", "reproduction/recalibration/*.py"),
)
DIRECTIVES = directives(MAIN, METHODS)
