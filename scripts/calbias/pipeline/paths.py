"""Where the project's own files are, relative to the folder that Snakemake runs in."""

import os

from calbias.io.code_files import SCRIPTS, code_files


def program(name):
    """Return the path of a script."""
    return os.path.relpath(SCRIPTS / f"{name}.py")


def code(name, *more):
    """Return a script and every project file that it imports: declared inputs, so edits count."""
    return [os.path.relpath(path) for path in code_files(SCRIPTS / f"{name}.py", *more)]


def resource(name):
    """Return the path of a file in ``resources``."""
    return os.path.relpath(SCRIPTS.parent / "resources" / name)


def published(table):
    """Return the path of a table of the paper."""
    return resource(f"published/roelofs2022_{table}.csv")
