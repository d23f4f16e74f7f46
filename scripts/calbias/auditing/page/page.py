"""One self-contained HTML page of an audit, with a picture of its subgroups as SVG."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calbias.auditing.audit_result import AuditNumbers
from calbias.auditing.data import EVENT
from calbias.auditing.page.advice import (
    recalibration_code,
    recalibration_commands,
    things_to_do,
    validation_rows,
)
from calbias.auditing.page.picture import picture
from calbias.auditing.subgroups.subgroup_lines import COLUMNS as LINES
from calbias.auditing.subgroups.subgroups import BEYOND, Subgroups
from calbias.auditing.verdict.words import HEIGHT, PARTS
from calbias.defaults import p_digits
from calbias.io.outputs import GENERATOR

if TYPE_CHECKING:
    import jinja2
    import pandas as pd

    from calbias.auditing.comparison.board import Board
    from calbias.auditing.comparison.comparison_result import ComparisonNumbers

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
    "gain": ("Fall", "fine"), "gain_low": ("Low", "fine"), "gain_high": ("High", "fine"),
    "helps": ("Helps", "text"),
    "finding": ("Finding", "text"), "statistic": ("Statistic", "number"),
    "coverage": ("Coverage of the interval", "text"), "also": ("Elsewhere", "text"),
    "part": ("Looks for", "text"), "segment": ("Subgroup", "text"), "gap": ("Gap", "points"),
    "fault": ("Fault", "text"), "rows_needed": ("Rows needed", "count"),
    "others_gap": ("Gap of the others", "points"), "apart": ("Differs", "text"),
    "difference_p_value": ("p of the difference", "p"),
    "shift": ("Calibration in the large", "fraction"),
    "shift_low": ("Low", "fraction"), "shift_high": ("High", "fraction"),
    "slope": ("Slope", "fraction"), "slope_low": ("Low", "fraction"),
    "slope_high": ("High", "fraction"),
    "lowest_score": ("From", "number"), "highest_score": ("to", "number"),
    "mean_hit": ("Share of hits", "points"), "n_in_bin": ("Rows", "count"),
    "lowest": ("From", "number"), "highest": ("to", "number"), "rows": ("Rows", "count"),
    "events": ("Events", "count"), "others": ("Competing", "count"),
    "censored": ("Censored before", "count"), "followed": ("Followed", "points"),
    "risk": ("Observed risk", "points"), "judged": ("Judged", "text"),
    "gap_first": ("Gap, first", "points"), "gap_second": ("Gap, second", "points"),
    "first": ("First", "text"), "second": ("Second", "text"), "model": ("Model", "text"),
    "brier": ("Brier score", "points"),
    "difference": ("Difference", "points"), "better": ("Better", "text"),
}  # fmt: skip


def page(audit: AuditNumbers, title: str, json_name: str = "") -> str:
    """Return the page of an Audit as a text, which names the file of its numbers if given."""
    heading = f"Calibration audit of {title}"
    return rendered("page.html.j2", "audit", heading, **parts_of(audit), json_name=json_name)


def parts_of(audit: AuditNumbers) -> dict[str, Any]:
    """Return what the template of an audit fills in, alone or as a part of another page."""
    is_event = audit.kind == EVENT
    words = of_events if is_event else str
    sought = {name: words(text) for name, text in PARTS.items()}
    tables = {name: _shown(name, table) for name, table in audit.tables().items()}
    if audit.subgroups:
        table = audit.subgroups.table
        hidden = (*LINES, *(() if audit.subgroups.is_shared else BEYOND))
        judged = [name for name in table if name not in hidden]
        tables["subgroups"] = _with_headings(table[judged].to_dict("records"))
        if is_event:
            line_rows = table[["segment", "n", *LINES]].to_dict("records")
            tables["subgroup_lines"] = _with_headings(line_rows)
    parts = [
        {"part": sought[part.name], "statistic": part.statistic, "p_value": part.p_value}
        for part in audit.verdict.parts
    ]
    names = ("lowest_score", "highest_score", "n_in_bin", "mean_score", "mean_hit", "low", "high")
    rows = zip(*(getattr(audit.bins, name) for name in names), strict=True)
    tables["parts"] = _with_headings(parts)
    if audit.strata:
        tables["strata"] = _with_headings([stratum._asdict() for stratum in audit.strata])
    tables["bins"] = _with_headings([dict(zip(names, row, strict=True)) for row in rows])
    for table in tables.values() if is_event else ():
        table["columns"] = [(key, of_events(head), form) for key, head, form in table["columns"]]
    percent = dict(zip(("error", "low", "high", "ece", "floor"), audit.in_percent, strict=True))
    return {
        "audit": audit,
        "is_event": is_event,
        "percent": percent,
        "picture": picture(audit, "caption"),
        "corp_picture": audit.corp and picture(audit, "corp-caption", audit.corp),
        "subgroups_picture": audit.subgroups
        and subgroups_picture(audit.subgroups, "subgroups-caption", words("score")),
        "most_shown": MOST,
        "words": words,
        "to_do": things_to_do(audit),
        "code": recalibration_code(audit),
        "commands": recalibration_commands(audit),
        "validation_rows": validation_rows(audit),
        "tables": tables,
    }


def comparison_page(comparison: ComparisonNumbers, title: str, json_name: str = "") -> str:
    """Return the page of a Comparison as a text, which names the file of its numbers if given."""
    tables = {"measures": _shown("measures", comparison.tables()["measures"])}
    has_point_at_end = False
    subgroups = comparison.subgroups
    if subgroups:
        columns = ("segment", "n", "gap_first", "gap_second", "difference", "low", "high",
                   "p_value", "better")  # fmt: skip
        tables["subgroups"] = _with_headings(subgroups.table[[*columns]].to_dict("records"))
        distances = subgroups.table[["low", "high"]].sub(subgroups.table["difference"], axis=0)
        has_point_at_end = bool((distances.abs() < _CLOSE).any(axis=None))
        names = {"gap_first": comparison.first, "gap_second": comparison.second}
        tables["subgroups"]["columns"] = [
            (key, f"Gap, {names[key]}" if key in names else head, form)
            for key, head, form in tables["subgroups"]["columns"]
        ]
    return rendered(
        "comparison.html.j2",
        "compare",
        f"Comparison of {title}",
        comparison=comparison,
        is_event=comparison.kind == EVENT,
        picture=picture(comparison, "caption"),
        has_point_at_end=has_point_at_end,
        subgroups_picture=subgroups and len(subgroups.table) and gaps_picture(
            subgroups.table.rename(columns={"difference": "gap"})
            .assign(noise_floor=0.0, is_bad=subgroups.table["better"] != ""),
            (f"{comparison.first} better", f"{comparison.second} better"),
            "subgroups-caption",
        ),
        most_shown=MOST,
        tables=tables,
        json_name=json_name,
    )  # fmt: skip


def board_page(board: Board, json_name: str = "") -> str:
    """Return the page of a Board as a text, which names the file of its numbers if given."""
    pairs = board.table()
    names = pairs["first"] + " less " + pairs["second"]
    rows = [
        {"model": each.name, "error": each.error.value, "low": each.error.low,
         "high": each.error.high, "brier": each.brier.value}
        for each in board.models
    ]  # fmt: skip
    subgroups = board.subgroups()
    tables = {"models": _with_headings(rows), "pairs": _with_headings(pairs.to_dict("records"))}
    if subgroups is not None:
        tables["subgroups"] = _with_headings(subgroups.to_dict("records"))
    gaps = pairs.assign(gap=pairs["difference"], segment=names, n=board.n, noise_floor=0.0)
    return rendered(
        "board.html.j2",
        "compare",
        f"Comparison of {len(board.models)} models",
        board=board,
        level=f"{100 * board.options.confidence_level:g}",
        picture=gaps_picture(
            gaps.assign(is_bad=pairs["better"] != ""),
            ("first better", "second better"),
            "pairs-caption",
        ),
        tables=tables,
        n_pairs=len(pairs),
        json_name=json_name,
    )


def rendered(content: str, command: str, heading: str, **context: Any) -> str:
    """Return a command's page: the file ``content`` within the frame that all pages have."""
    import calbias

    frame = {"heading": heading, "content": content, "cell": cell, "version": calbias.__version__}
    frame["generator"] = GENERATOR.format(command)
    return _environment().get_template("base.html.j2").render(frame | context)


@cache
def _environment() -> jinja2.Environment:
    """Return the environment of the templates: to compile them takes longer than to fill them."""
    import jinja2

    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    return jinja2.Environment(loader=loader, autoescape=True)


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
        return p_digits(value) if value >= 1e-4 else "< 0.0001"
    return {
        "points": f"{100 * value:z.2f}",
        "fine": f"{100 * value:z.3f}",
        "fraction": f"{value:z.3f}",
        "count": f"{value:,.0f}".replace(",", " "),
        "number": f"{value:.4g}",
    }[form]


MOST = 25
"""Segments shown: the clearest."""
_CLOSE = 1e-9  # gaps that are equal but for rounding
_STEPS, _MOST_TICKS, _HEIGHT = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 7, 24
_STYLE = """<style>
.cs > div { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 0 1.5rem;
  align-items: center; font-size: .85rem; line-height: 1.25; }
.cs > div > :first-child { text-align: right; overflow-wrap: anywhere; }
.cs svg { width: 100%; height: 24px; overflow: visible; display: block; }
.cs text { font: 13px system-ui, sans-serif; fill: var(--text, #1c1e21); }
.cs .axis { stroke: var(--dim, #545b68); stroke-width: 1; }
.cs .floor { fill: var(--dim, #545b68); opacity: .25; }
.cs .limits { stroke: var(--dim, #545b68); stroke-width: 2; }
.cs .gap { fill: var(--dim, #545b68); }
.cs .others { stroke: var(--text, #1c1e21); stroke-width: 2; stroke-dasharray: 2 2; }
.cs .bad .limits { stroke: var(--bad, #a3290f); } .cs .bad .gap { fill: var(--bad, #a3290f); }
@media (max-width: 40rem) { .cs > div { grid-template-columns: 1fr; padding: 0 .5rem; }
  .cs > div > :first-child { text-align: left; } }
</style>"""


def subgroups_picture(result: Subgroups, caption_id: str = "", what: str = "score") -> str:
    """Return an element with a line for each of the clearest segments.

    ``what`` is too low or too high.
    """
    sides = f"{what} {HEIGHT[1]}", f"{what} {HEIGHT[0]}"
    return gaps_picture(result.table.assign(is_bad=result.table["apart"]), sides, caption_id)


def gaps_picture(table: pd.DataFrame, sides: tuple[str, str], caption_id: str = "") -> str:
    """Return an element with a line for each gap; ``sides`` say what is below and above 0."""
    label = f'aria-labelledby="{caption_id}"' if caption_id else 'aria-label="Gaps of subgroups"'
    lines = "\n".join(_lines(table.head(MOST), sides))
    return f'{_STYLE}<div class="cs" role="img" {label}>\n{lines}\n</div>'


def _lines(table: pd.DataFrame, sides: tuple[str, str]) -> Iterator[str]:
    """Yield a line for each segment, and one with the axis."""
    ends = table[["low", "high"]].to_numpy()
    low, high = float(ends.min()), float(ends.max())
    step = next((x for x in _STEPS if (high - low) / x <= _MOST_TICKS), _STEPS[-1])
    low, high = step * np.floor(low / step), step * np.ceil(high / step)
    high = max(high, low + step)  # gaps of two equal models

    def across(value: float) -> float:
        return round(100.0 * (min(max(value, low), high) - low) / (high - low), 2)

    def line(name: str, *values: float) -> str:
        first, last = (across(value) for value in (values[0], values[-1]))
        y1, y2 = (0, _HEIGHT) if len(values) == 1 else (_HEIGHT / 2, _HEIGHT / 2)
        return f'<line class="{name}" x1="{first}%" x2="{last}%" y1="{y1}" y2="{y2}"/>'

    for row in table.itertuples():
        first, last = across(-row.noise_floor), across(row.noise_floor)
        bad = ' class="bad"' if row.is_bad else ""
        others = getattr(row, "others_gap", math.nan)
        yield (
            f"<div{bad}><span>{escape(row.segment)}</span><svg>"
            f"<title>{escape(row.segment)}: {row.n} rows, gap {100 * row.gap:.1f} points "
            f"({100 * row.low:.1f} to {100 * row.high:.1f})</title>"
            f'<rect class="floor" x="{first}%" y="3" width="{last - first:.2f}%" height="18"/>'
            f"{line('axis', 0.0)}{line('limits', row.low, row.high)}"
            f"{'' if math.isnan(others) else line('others', others)}"
            f'<circle class="gap" cx="{across(row.gap)}%" cy="{_HEIGHT / 2}" r="4.5"/></svg></div>'
        )
    ticks = [low + k * step for k in range(round((high - low) / step) + 1)]
    texts = "".join(
        f'<text x="{across(tick)}%" y="14" text-anchor="middle">{100 * tick:z.0f}</text>'
        for tick in ticks
    )
    yield (
        f"<div><span>points; below 0 {escape(sides[0])}, above {escape(sides[1])}</span>"
        f"<svg>{texts}</svg></div>"
    )
