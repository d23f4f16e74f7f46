"""The ledger as a page: every claim with its verdict, and the published numbers beside ours."""

from html import escape

from calbias.claims.judgement import VERDICTS
from calbias.claims.ledger import RULES
from calbias.report.comparison_page import comparison_section
from calbias.report.ledger_items import first, listed, measured_fields
from calbias.report.ledger_pictures import picture_address
from calbias.report.ledger_style import PAGE, SYMBOLS

_MEANING = {
    "reproduced": "the rule's strict condition holds",
    "approximate": "it holds in part, or within a looser tolerance",
    "not_reproduced": "it fails; the note names the cause where it is known",
    "needs_real_logits": "rests on the real model outputs, which this run did not have in full",
    "not_judged": "this run did not compute what the rule compares",
}


def ledger_page(ledger, claims, comparison, tables, figures, pictures):
    """Return the HTML text of the page, which needs no other file.

    ``ledger`` and ``comparison`` are the tables ``claims`` and ``comparison`` (the latter may be
    None), ``claims`` the rows of ``read_claims``; ``tables`` and ``figures`` are {name: Maker} of
    ``workflow_index``; ``pictures`` {figure: path of a PNG} are put into the page. Links to other
    files are relative to ``results/``, and are plain text where the page stands elsewhere.
    """
    rests_on = {claim["id"]: claim for claim in claims}
    rows = ledger.fillna("").to_dict("records")
    counts = ledger["verdict"].value_counts()
    shown = set()
    cards = [_card(row, rests_on.get(row["id"]), tables, figures, pictures, shown) for row in rows]
    return PAGE.substitute(
        counts="\n".join(_count(name, counts.get(name, 0)) for name in VERDICTS),
        rows="\n".join(_line(row) for row in rows),
        cards="\n".join(cards),
        comparison=comparison_section(comparison),
    )


def _count(verdict, number):
    if not number and verdict == "not_judged":
        return ""
    return (
        f"<tr><td>{badge(verdict)}</td><td>{number}</td><td>{escape(_MEANING[verdict])}</td></tr>"
    )


def badge(verdict):
    """Return a verdict as a coloured word with its symbol."""
    symbol, words = SYMBOLS.get(verdict, "?"), verdict.replace("_", " ")
    return f'<span class="badge {escape(verdict)}">{symbol}&nbsp;{escape(words)}</span>'


def _line(row):
    return (
        f'<tr><td><a href="#{escape(row["id"])}">{escape(row["id"])}</a></td>'
        f"<td>{escape(row['where'])}</td><td>{escape(row['claim'])}</td>"
        f"<td>{escape(first(row['published']))}</td><td>{escape(first(row['measured']))}</td>"
        f"<td>{badge(row['verdict'])}</td></tr>"
    )


def _card(row, claim, tables, figures, pictures, shown):
    fields = [
        ("Published", escape(row["published"])),
        *measured_fields(row["measured"], row["uncertainty"]),
        ("Rule", escape(row["rule"])),
        ("Source", f"<code>{escape(row['source'])}</code>" if row["source"] else ""),
        ("Note", listed(row["note"])),
        ("Rests on", _rests_on(row["id"], claim, tables, figures, pictures)),
    ]
    items = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in fields if text)
    names = claim["figures"].split() if claim else []
    opened = "".join(_picture(name, pictures, shown) for name in names if name in pictures)
    return (
        f'<article id="{escape(row["id"])}"><h3>{escape(row["id"])} '
        f"<small>{escape(row['where'])}</small> {badge(row['verdict'])}</h3>"
        f"<p>{escape(row['claim'])}.</p><dl>{items}</dl>{opened}</article>"
    )


def _rests_on(claim_id, claim, tables, figures, pictures):
    lines = []
    for name in claim["figures"].split() if claim else []:
        inside = f'<a class="picture" href="#{escape(name)}"><code>{escape(name)}</code></a>'
        link = inside if name in pictures else _link(f"figures/{name}.png", name)
        lines.append(f"figure {link}{_made(figures.get(name))}")
    for name in claim["tables"].split() if claim else []:
        made = _made(tables.get(name))
        lines.append(f"table {_link(f'tables/{name}.csv', f'{name}.csv')}{made}")
    if claim_id in RULES:
        judge = RULES[claim_id].judge
        path = f"scripts/{judge.__module__.replace('.', '/')}.py"
        lines.append(f"decided by <code>{judge.__name__}</code> in {_link(f'../{path}', path)}")
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>" if lines else ""


def _made(maker):
    if maker is None:
        return ""
    return (
        f", rule <code>{escape(maker.rule)}</code> in "
        f"{_link(f'../{maker.rule_file}', maker.rule_file)}, "
        f"{_link(f'../{maker.script}', maker.script)}"
    )


def _link(target, text):
    return f'<a class="file" href="{escape(target)}"><code>{escape(text)}</code></a>'


def _picture(name, pictures, shown):
    """Return a figure that opens on a click; nothing where it is in the page already."""
    if name in shown:
        return ""
    shown.add(name)
    return (
        f'<details id="{escape(name)}"><summary>{escape(name)}</summary>'
        f'<img alt="{escape(name)}" src="{picture_address(pictures[name])}"></details>'
    )
