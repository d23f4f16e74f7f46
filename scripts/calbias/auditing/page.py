"""One self-contained HTML page of an audit."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from calbias.auditing.advice import recalibration_code, things_to_do, validation_rows
from calbias.auditing.inputs import EVENT
from calbias.auditing.picture import picture
from calbias.auditing.result import Audit
from calbias.auditing.subgroups_picture import MOST, subgroups_picture
from calbias.io.files import GENERATOR

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {  # key: heading and form
    "estimator": ("Estimator", "text"), "method": ("Method", "text"), "name": ("Measure", "text"),
    "target": ("Target", "text"), "group": ("Group", "text"), "n": ("Rows", "count"),
    "accuracy": ("Share of hits", "points"), "mean_score": ("Mean score", "points"),
    "error": ("Error", "points"), "ece": ("ECE", "points"), "value": ("Value", "points"),
    "noise_floor": ("Noise floor", "points"), "corrected": ("Corrected", "points"),
    "curve_error": ("True error of the simulation", "points"),
    "bias": ("Bias there", "points"), "rmse": ("RMS error", "points"), "low": ("Low", "points"),
    "high": ("High", "points"), "p_value": ("p", "p"), "corrected_p_value": ("p, Holm", "p"),
    "brier_before": ("Brier before", "fine"), "brier_after": ("after", "fine"),
    "gain": ("Fall", "fine"), "gain_se": ("Standard error", "fine"), "helps": ("Helps", "text"),
    "finding": ("Finding", "text"), "statistic": ("Statistic", "number"),
    "coverage": ("Coverage of the interval", "text"), "also": ("Elsewhere", "text"),
    "part": ("Looks for", "text"), "segment": ("Subgroup", "text"), "gap": ("Gap", "points"),
    "fault": ("Fault", "text"), "rows_needed": ("Rows needed", "count"),
    "lowest_score": ("From", "number"), "highest_score": ("to", "number"),
    "mean_hit": ("Share of hits", "points"), "n_in_bin": ("Rows", "count"),
}  # fmt: skip
PARTS = {
    "level": "a shift: all scores too high or too low",
    "line": "a slope: scores too spread or not spread enough",
    "spread": "the same, by the Brier score (Spiegelhalter)",
    "shape": "a smooth error of another shape",
    "local": "an interval of scores that is wrong",
    "atoms": "a single score, shared by many rows, that is wrong",
    "certain": "misses at scores of exactly 1, or hits at exactly 0",
}


def page(audit: Audit, title: str, json_name: str = "") -> str:
    """Return the page of an Audit as a text, which names the file of its numbers if given."""
    import jinja2

    import calbias

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("calbias.auditing", "."), autoescape=True
    )
    is_event = audit.kind == EVENT
    words = of_events if is_event else str
    sought = {name: words(text) for name, text in PARTS.items()}
    tables = {name: _shown(name, table) for name, table in audit.tables().items()}
    if audit.subgroups:
        tables["subgroups"] = _with_headings(audit.subgroups.table.to_dict("records"))
    parts = [
        {"part": sought[part.name], "statistic": part.statistic, "p_value": part.p_value}
        for part in audit.verdict.parts
    ]
    names = ("lowest_score", "highest_score", "n_in_bin", "mean_score", "mean_hit", "low", "high")
    rows = zip(*(getattr(audit.bins, name) for name in names), strict=True)
    tables["parts"] = _with_headings(parts)
    tables["bins"] = _with_headings([dict(zip(names, row, strict=True)) for row in rows])
    for table in tables.values() if is_event else ():
        table["columns"] = [(key, of_events(head), form) for key, head, form in table["columns"]]
    return environment.get_template("page.html.j2").render(
        audit=audit,
        title=title,
        generator=GENERATOR,
        is_event=is_event,
        percent=dict(zip(("error", "low", "high", "ece", "floor"), audit.in_percent, strict=True)),
        picture=picture(audit, "caption"),
        subgroups_picture=audit.subgroups
        and subgroups_picture(audit.subgroups, "subgroups-caption", words("score")),
        most_shown=MOST,
        words=words,
        to_do=things_to_do(audit),
        code=recalibration_code(audit),
        validation_rows=validation_rows(audit),
        tables=tables,
        cell=cell,
        version=calbias.__version__,
        json_name=json_name,
    )


def of_events(text: str) -> str:
    """Return a text on scores and hits in the words of a risk model."""
    for score, risk in (("misses", "non-events"), ("hits", "events"), ("score", "risk")):
        text = re.sub(rf"(?<!Brier ){score}", risk, text)
    return text


def _shown(name: str, table: pd.DataFrame) -> dict[str, Any]:
    if name == "classes":  # the corrected p-value counts
        table = table.drop(columns="p_value")
    if name == "risk":
        table = table.assign(also=table.index.map(table.attrs["also"]))
    shown = table.reset_index()
    keys = [key for key in shown.columns if key in COLUMNS]
    return _with_headings(shown[keys].to_dict("records"), "fraction" if name == "risk" else None)


def _with_headings(rows: list[dict[str, Any]], form: str | None = None) -> dict[str, Any]:
    """Return the rows of a table with (key, heading, form) of its columns, ``form`` for points."""
    columns = [(key, *COLUMNS[key]) for key in (rows[0] if rows else ())]
    if form:  # not all numbers of a risk model are shares
        columns = [(key, head, form if was == "points" else was) for key, head, was in columns]
    return {"columns": columns, "rows": rows}


def cell(value: Any, form: str) -> str:
    """Return a number or a text as a cell of the given form."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if form == "text":
        return {True: "yes", False: "no"}.get(value, str(value))
    if math.isinf(value):
        return "∞"
    if form == "p":
        return f"{value:.2g}" if value >= 1e-4 else "< 0.0001"
    return {
        "points": f"{100 * value:z.2f}",
        "fine": f"{100 * value:z.3f}",
        "fraction": f"{value:z.3f}",
        "count": f"{value:,.0f}".replace(",", " "),
        "number": f"{value:.4g}",
    }[form]
