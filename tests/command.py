"""Scripts called by keywords, what they write, read back, and Python in a new process."""

import importlib
import os
import subprocess
import sys

import pandas as pd
from checkout import ROOT, TABLE_2, TABLE_3

from pipeline.tables.schema import columns_of

FITS = {"beta_fits": TABLE_2, "glm_fits": TABLE_3}


def run(script, **options):
    """Run a script: ``n_samples=[50, 100]`` is ``--n-samples 50 100``, a dict once per item."""
    words = []
    for name, given in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(given, dict):
            words += [word for item in given.items() for word in (flag, "{}={}".format(*item))]
        else:
            words += [flag, *map(str, given if isinstance(given, (list, tuple)) else [given])]
    importlib.import_module(script).main(words)


def read(path):
    """Return the table that a file is called after; it must have the columns of its contract."""
    found = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    assert tuple(found.columns) == columns_of(path.stem)
    return found


def made(name, script, folder, **options):
    """Return the table ``name``, which a script writes into a folder."""
    run(script, **options, output=folder / f"{name}.csv")
    return read(folder / f"{name}.csv")


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
