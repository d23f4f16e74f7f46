"""The reproduction article: templates in which every result is read or computed from tables."""

import inspect
import json
from collections import Counter
from functools import partial

import jinja2

from calbias.errors import InputError
from pipeline.claims.verdicts import Verdict
from reproduction.report import article_numbers

NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


class Results:
    """The result tables, as the templates ask for them; InputError where a number is not there."""

    def __init__(self, tables, record):
        """Take {name: DataFrame} of ``results/tables``, and the record of provenance."""
        self._tables, self.record = tables, record

    def table(self, name):
        """Return a table."""
        if name not in self._tables:
            raise InputError(f"article: there is no table {name}; make it with snakemake")
        return self._tables[name]

    def cell(self, table, column, **where):
        """Return the value of a column in the one row of a table that has these values."""
        rows = self.table(table)
        for name, value in where.items():
            rows = rows[rows[name].fillna("") == value]
        if len(rows) != 1:
            raise InputError(
                f"article: table {table} has {len(rows)} rows with {where}, where it wants one; "
                "the run or a claim has changed: edit article/article.typ.j2"
            )
        return rows[column].iloc[0]

    def value(self, id, name, case="", column="value"):
        """Return a measurement of a claim, or its ``error``, ``low`` or ``high``."""
        return self.cell("measurements", column, id=id, name=name, case=case)

    def claims(self, letter):
        """Return the rows of the claims whose id begins with a letter, a list of dicts."""
        rows = self.table("claims").fillna("").to_dict("records")
        return [row for row in rows if row["id"].startswith(letter)]

    def counts(self, letter):
        """Return {verdict: how many of these claims have it}."""
        return Counter(row["verdict"] for row in self.claims(letter))

    def validate_discussed(self, ids):
        """Raise InputError unless these are the claims of the paper that are not reproduced."""
        failed = [row["id"] for row in self.claims("R") if row["verdict"] == "not_reproduced"]
        if failed != ids.split():
            raise InputError(
                f"article: it discusses the failures {ids}, but this run has "
                f"{' '.join(failed) or 'none'}; edit article/article.typ.j2"
            )
        return ""


def render(template, results, figures):
    """Return the text of a template, a path, with the results.

    ``figures`` is the folder of the figures' PDFs, as seen from the root of the Typst project.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "fixed": fixed, "words": words, "power": power, "text": text, "span": span,
        "verdict": lambda name: Verdict(name).words,
    }  # fmt: skip
    own = {
        name: partial(function, results)
        for name, function in vars(article_numbers).items()
        if inspect.isfunction(function)
    }
    try:
        return environment.get_template(template.name).render(
            results=results, value=results.value, cell=results.cell, verdicts=Verdict,
            figure=lambda name: json.dumps(f"{figures}/{name}.pdf"),
            config=results.record["config"], record=results.record, **own,
        )  # fmt: skip
    except (jinja2.TemplateError, KeyError) as error:
        line = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
        raise InputError(f"{template}{line}: {error}") from error


def fixed(number, digits):
    """Return a number with so many decimals, and a minus sign."""
    return f"{number:.{digits}f}".replace("-", "−")


def span(numbers):
    """Return the least and greatest of whole numbers, such as 200 to 12 800."""
    return " to ".join(
        f"{number:,}".replace(",", "\u202f") for number in (min(numbers), max(numbers))
    )


def words(count):
    """Return a count in words up to twelve, in digits above."""
    return NUMBERS[int(count)] if 0 <= count < len(NUMBERS) else f"{int(count)}"


def power(number):
    """Return a small number as a power of ten, in Typst's mathematics."""
    digits, _, exponent = f"{number:.1e}".partition("e")
    return f"${digits} dot 10^({int(exponent)})$"


def text(value):
    """Return a text that Typst shows as it is."""
    return f"#{json.dumps(str(value), ensure_ascii=False)}"
