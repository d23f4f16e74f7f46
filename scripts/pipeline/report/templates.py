"""The templates of a run's pages."""

import jinja2

from pipeline import CHECKOUT

TEMPLATES = CHECKOUT / "workflow/report"


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
