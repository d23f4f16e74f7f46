"""Where the project's own files are, relative to the folder that Snakemake runs in."""

import os

from calbias.io.code_files import SCRIPTS, code_files


def code(name, *more):
    """Return a script and then all project files that it imports: declared inputs, so edits count.

    ``more`` are files that it loads by name.
    """
    script = SCRIPTS / f"{name}.py"
    others = [path for path in code_files(script, *more) if path != script]
    return [os.path.relpath(path) for path in (script, *others)]


def resource(name):
    """Return the path of a file in ``resources``."""
    return os.path.relpath(SCRIPTS.parent / "resources" / name)


def published(table):
    """Return the path of a table of the paper."""
    return resource(f"published/roelofs2022_{table}.csv")
