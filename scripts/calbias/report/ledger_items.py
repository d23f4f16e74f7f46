"""Fields of the ledger as lists: what was measured, item by item beside its uncertainty."""

import re
from html import escape

SAME_ORDER = ", in the same order"


def first(text):
    """Return the first of the items that semicolons set off: a field in short."""
    return text.split("; ")[0]


def listed(text):
    """Return the HTML of a field, a list where semicolons set off several items."""
    return _list(text.split("; "))


def measured_fields(measured, uncertainty):
    """Return [(heading, HTML), …] of both fields: one heading where each item has its own.

    That is where both are lists of equal length: of items set off by semicolons, or by commas after
    ``what they are: ``; a list by commas that says ``in the same order`` goes with either.
    """
    pairs = _pairs(measured, uncertainty)
    if pairs is None:
        return [("Measured", listed(measured)), ("Uncertainty", listed(uncertainty))]
    heading, items = pairs
    words = f"{escape(heading)}:" if heading else ""
    return [("Measured", words + _list(items, "<small>({})</small>"))]


def _pairs(measured, uncertainty):
    """Return (heading, [(item, its uncertainty), …]), or None where they are not item by item."""
    mine, theirs = measured.split("; "), uncertainty.split("; ")
    if len(mine) == len(theirs) > 1:
        return "", list(zip(mine, theirs, strict=True))
    what, values = _by_commas(uncertainty)
    heading = ""
    if not what.endswith(SAME_ORDER) or len(mine) == 1:
        heading, mine = _by_commas(measured)
    if len(mine) == len(values) > 1:
        what = what.removesuffix(SAME_ORDER)
        return heading, [
            (item, f"{what}: {value}") for item, value in zip(mine, values, strict=True)
        ]
    return None


def _by_commas(text):
    """Return (what, items) of ``what: item, item``; commas in brackets do not set off items."""
    what, colon, rest = text.rpartition(": ")
    return what, re.split(r", (?![^(]*\))", rest) if colon and "; " not in text else []


def _list(items, beside="{}"):
    """Return the HTML of strings, or of pairs of strings, as a list unless it is one."""
    parts = [
        escape(item)
        if isinstance(item, str)
        else f"{escape(item[0])} {beside.format(escape(item[1]))}"
        for item in items
    ]
    if len(parts) == 1:
        return parts[0]
    return "<ul>" + "".join(f"<li>{part}</li>" for part in parts) + "</ul>"
