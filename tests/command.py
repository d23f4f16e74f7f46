"""Steps called by keywords, what they write, read back, and Python in a new process."""

import inspect
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
from checkout import ROOT, TABLE_2, TABLE_3

from pipeline import guests
from pipeline.step_command import main, step_function
from pipeline.table_schema import columns_of

FITS = {"beta_fits": TABLE_2, "glm_fits": TABLE_3}
COMMON = {
    "manifest": ROOT / "resources/manifest.json",
    "mirrors_file": ROOT / "resources/logits_mirrors.csv",
    "published_beta": TABLE_2,
    "published_glm": TABLE_3,
    "softmax": "exact",
    "norm": 2,
    "precision": "exact",
    "n_bins": 15,
    "bootstrap": 20,
    "curve": "fitted",
    "code": "x",
    "seed": 1,
    "shard": 0,
    "shards": 1,
}


def run(step, /, **options):
    """Run a step: ``n_samples=[50, 100]`` is ``--n-samples 50 100``, a dict NAME=PATH each.

    What a rule gives and a test does not say is COMMON, an empty list, or a file beside the others.
    """
    function, words = step_function(step), [step]
    written = [Path(path) for name, path in options.items() if name.startswith("output")]
    for name, parameter in inspect.signature(function).parameters.items():
        if name in options or parameter.default is not parameter.empty:
            continue
        if name.startswith("output"):
            options[name] = written[0].with_name(f"{name}.parquet")
        else:
            options[name] = COMMON.get(name, [])
    for name, given in options.items():
        if isinstance(given, dict):
            given = ["{}={}".format(*item) for item in given.items()]
        values = given if isinstance(given, (list, tuple)) else [given]
        words += [f"--{name.replace('_', '-')}", *map(str, values)]
    main(words)


def read(path):
    """Return the table that a file is called after; it must have the columns of its contract."""
    found = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    assert tuple(found.columns) == columns_of(path.stem)
    return found


def made(name, step, folder, **options):
    """Return the table ``name``, which a step writes into a folder."""
    run(step, **options, output=folder / f"{name}.csv")
    return read(folder / f"{name}.csv")


def crossed(name, keys, rows=None, **values):
    """Return a table of a contract: ``rows``, or one for each combination of ``keys``.

    A value is that of all rows, an array, or a function of the columns before it; the columns that
    nothing is given for are NaN.
    """
    columns = list(columns_of(name))
    rows = rows or itertools.product(*keys.values())
    table = pd.DataFrame(rows, columns=list(keys) or columns)
    return table.assign(**values).reindex(columns=columns)


def python(code, *arguments, folder=ROOT, lines=None, **environment):
    """Return what a new process prints that runs the code; it finds the scripts and calbias."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "scripts"), **environment},
        input=lines,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def guest(folder, monkeypatch, part):
    """Return the empty folder ``part`` of a guest workflow, which the test alone sees."""
    package = folder / "scripts" / f"guest_{folder.name}"
    (package / part).mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / part / "__init__.py").touch()
    monkeypatch.setattr(guests, "_WORKFLOWS", [*guests.workflows()])
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(guests, "PACKAGES", {**guests.PACKAGES})
    guests.join(folder)
    return package / part
