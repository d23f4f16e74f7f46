"""The comparison with the published numbers, as a section of the ledger's page."""

from html import escape

import pandas as pd

LONG = 40  # rows from which a table is folded
HEADINGS = {
    "quantity": "Quantity",
    "model": "Model",
    "source": "Source",
    "published": "Published",
    "recomputed": "Recomputed",
    "difference": "Difference",
    "standard_error": "Standard error",
    "n_standard_errors": "Errors apart",
}
SURROGATE = "surrogate_logits"
_NUMBERS = ("published", "recomputed", "difference", "standard_error", "n_standard_errors")


CAUSES = {
    "Table 4": "Where the simulated column differs by more than its Monte Carlo error and than the "
    "printed decimals of the fits allow (tenths of a point, table tce_rounding), it is because the "
    "paper simulated from refits on the validation folds, which it does not print.",
}
CAUSES_OF_SURROGATES = {
    "Table 2": "Surrogate scores are drawn above 1/K only, as a top score is: fits to them are "
    "centred above the published parameters, by less than one standard error.",
}


def comparison_section(table):
    """Return the HTML of the table ``comparison``, a table for each place in the paper."""
    if table is None or table.empty:
        return "<p>This run recomputed no published number.</p>"
    return "\n".join(
        _place(where, rows.drop(columns="where"))
        for where, rows in table.groupby("where", sort=False)
    )


def _place(where, rows):
    rows = rows.loc[:, [column for column in HEADINGS if not rows[column].isna().all()]]
    head = "".join(
        f"<th{_class(column)}>{escape(HEADINGS[column])}</th>" for column in rows.columns
    )
    body = "\n".join(_row(row) for row in rows.to_dict("records"))
    table = (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody>'
        "</table></div>"
    )
    surrogate = rows["source"].fillna("").str.contains(SURROGATE)
    words = _count(rows[~surrogate], "")
    if surrogate.any():
        words += "; " * bool(words) + _count(rows[surrogate], " from surrogates, not comparable")
    if len(rows) > LONG:
        table = f"<details><summary>all {len(rows)} numbers</summary>{table}</details>"
    causes = [(CAUSES, not surrogate.all()), (CAUSES_OF_SURROGATES, surrogate.any())]
    told = "".join(f"<p>{escape(of[where])}</p>" for of, holds in causes if holds and where in of)
    return f"<h3>{escape(where)}</h3><p>{words}.</p>{told}{table}"


def _count(rows, what):
    """Return how many numbers there are, how many have a standard error and are within two."""
    if rows.empty:
        return ""
    words = f"{len(rows)} number{'s' * (len(rows) > 1)}{what}, "
    errors = rows.get("n_standard_errors", pd.Series(dtype=float)).dropna().abs()
    if errors.empty:
        return words + "none with a standard error"
    return (
        f"{words}{len(errors)} with a standard error, of which {int((errors <= 2).sum())} within "
        f"two and the farthest {errors.max():.1f}"
    )


def _row(row):
    whole = all(float(row[name]).is_integer() for name in ("published", "recomputed"))
    cells = (_cell(name, value, whole and name != "standard_error") for name, value in row.items())
    return "<tr>" + "".join(cells) + "</tr>"


def _cell(name, value, whole):
    if pd.isna(value):
        return "<td></td>"
    if name in _NUMBERS:
        return f'<td class="number">{number(name, value, whole)}</td>'
    return f"<td>{escape(str(value))}</td>"


def number(name, value, whole=False):
    """Return a number as text: four decimals, one for numbers of errors, a sign for differences.

    A ``whole`` number, such as a count, has no decimals; one that four decimals would show as zero
    has two significant digits.
    """
    if name == "n_standard_errors":
        return f"{value:+.1f}"
    shape = "0f" if whole else "2f" if abs(value) >= 100 else "4f"
    if 0 < abs(value) < 0.00005:
        shape = "1e"
    return f"{value:+.{shape}}" if name == "difference" else f"{value:.{shape}}"


def _class(column):
    return ' class="number"' if column in _NUMBERS else ""
