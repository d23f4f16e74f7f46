"""The data that ship in ``resources``: which files there are, and a model's folds, verified."""

import functools
import json
from pathlib import Path

from calbias.errors import looked_up
from calbias.reading.output_file import Fold
from calbias.reading.read_logits import of_logits
from pipeline import CHECKOUT
from pipeline.manifest import verify_shipped
from pipeline.pickles import read_file

RESOURCES = CHECKOUT / "resources"
MANIFEST = RESOURCES / "manifest.json"


@functools.cache
def shipped(kind: str, manifest: Path = MANIFEST) -> dict[str, dict]:
    """Return {name: entry of the manifest} of one kind.

    Kinds are ``outputs`` (all classes; two of the paper's models among them), ``scores`` and
    ``forecasts``.
    """
    entries = json.loads(manifest.read_text(encoding="utf-8"))
    return {entry["name"]: entry for entry in entries if entry["kind"] == kind}


def shipped_path(kind: str, name: str, manifest: Path = MANIFEST) -> Path:
    """Return the path of a shipped file after verifying its size and SHA-256."""
    path = manifest.parent / looked_up(kind, name, shipped(kind, manifest))["file"]
    verify_shipped(path, manifest)
    return path


@functools.cache
def shipped_folds(name: str) -> dict[str, Fold]:
    """Return {``validation``: Fold, ``test``: Fold} of a model's shipped outputs.

    ``Fold.logits`` (n, K) float32, logarithms where the file has probabilities, and
    ``Fold.labels`` (n,) int64. Models without a validation fold have ``test`` alone.
    """
    path = shipped_path("outputs", name)
    return dict(of_logits(path, read_file(path)).folds)
