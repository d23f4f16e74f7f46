"""What the pages of a run share: templates, badges of verdicts, and figures as links to files."""

import jinja2

from pipeline import CHECKOUT
from pipeline.catalogue import figures as figure_catalogue
from pipeline.claims.verdicts import Verdict

TEMPLATES = CHECKOUT / "workflow/report"
VERDICT_WORDS = {  # its symbol, what it means
    "reproduced": ("✓", "the rule's strict condition holds"),
    "approximate": ("≈", "it holds in part, or within a looser tolerance"),
    "not_reproduced": ("✗", "it fails; the note names the cause where it is known"),
    "needs_real_logits": (
        "…", "it rests on the outputs of the paper's models, which this run did not have in full; "
        "snakemake with --configfile config/real_logits.yaml downloads them",
    ),
    "not_judged": ("–", "this run did not compute what the rule compares"),
}  # fmt: skip


def template(name):
    """Return a page's template; a name that it uses and nobody gives is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)


def badge(name):
    """Return {name, symbol, words} of a verdict: no page shows it by its colour alone."""
    return {"name": name, "symbol": VERDICT_WORDS[name][0], "words": Verdict(name).words}


def shown_figures(names):
    """Return [{name, place, title}] of the figures among ``names``, in papers' order.

    ``names`` are {figure: path of its PNG}; pages link to ``figures/NAME.png``.
    """
    return [
        {"name": name, "place": entry.place, "title": entry.title}
        for name, entry in figure_catalogue().items()
        if name in names
    ]
