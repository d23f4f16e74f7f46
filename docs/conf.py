"""The documentation site: `make docs`. Pages are Markdown; what the code knows is generated."""

import posixpath
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "docs")]

import catalogues  # noqa: E402

import calbias  # noqa: E402

project, author = "calbias", "The calbias authors"
release = version = calbias.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"calbias {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
exclude_patterns = ["*.py"]
myst_heading_anchors = 4
autodoc_typehints = "none"  # the docstrings have the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
python_maximum_signature_line_length = 88

# Pages whose text is a file elsewhere in the project.
ELSEWHERE = {
    "workflow/configuration": "config/README.md",
    "workflow/clusters": "workflow/profiles/README.md",
    "workflow/contributing": "CONTRIBUTING.md",
    "workflow/changelog": "CHANGELOG.md",
}
GUESTS = ("evidence/", "networks/")  # folders that may be deleted
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#: ]+)(#[^)]*)?\)")


def read_source(app, page, source):
    """Put in the files from elsewhere, and let links lead to pages, or be the names of files."""
    site = app.srcdir.resolve().relative_to(ROOT).as_posix()
    path = ELSEWHERE.get(page, f"{site}/{page}.md")
    text = (ROOT / path).read_text(encoding="utf-8") if page in ELSEWHERE else source[0]
    text = _with_links(text, posixpath.dirname(path), site, posixpath.dirname(page))
    if page == "index" and site == "docs":  # the README up to its list of pages, then the contents
        first, _, _ = (ROOT / "README.md").read_text("utf-8").partition("\n## Documentation")
        text = _with_links(first, "", site, "") + text.removeprefix("# calbias\n")
    source[0] = text


def _with_links(text, folder, site, room):
    """Return a text of ``folder`` as that of a page in the folder ``room`` of a site."""
    pages = {path: f"{site}/{page}.md" for page, path in ELSEWHERE.items()}

    def rewritten(match):
        picture, words, target, anchor = match.groups(default="")
        path = posixpath.normpath(posixpath.join(folder, target))
        if not ((ROOT / path).exists() or path.startswith(GUESTS)):  # which may be deleted
            return match[0]
        if picture:
            return f"![{words}]({posixpath.relpath(path, f'{site}/{room}')})"
        page = pages.get(path, path)
        if page.startswith(f"{site}/"):
            return f"[{words}]({posixpath.relpath(page, f'{site}/{room}')}{anchor})"
        return words if "`" in words else f"{words} (`{path}`)"

    return _LINK.sub(rewritten, text)


def skip_fields(app, what, name, obj, skip, options):
    """The fields of a named tuple are described in its docstring."""
    return skip or type(obj).__name__ == "_tuplegetter"


def setup(app):
    """Connect what is above; a directive for each catalogue."""
    app.connect("source-read", read_source)
    app.connect("autodoc-skip-member", skip_fields)
    for name, directive in catalogues.DIRECTIVES.items():
        app.add_directive(name, directive)
