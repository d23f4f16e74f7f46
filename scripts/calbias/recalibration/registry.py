"""The recalibration methods by name: a file of ``methods/`` lists its names in VARIANTS.

A file defines ``fit(logits, labels, **options)``, where VARIANTS gives the options of each name
({} for the file's own name without VARIANTS). ``fit`` takes the validation fold and returns an
object with ``predict(logits)``: logits (m, K) whose softmax are the recalibrated probabilities, or,
from a method that recalibrates one score alone, that score (m,). A file without ``fit`` defines
``fit_binary``, see ``calbias.recalibration.binary``: it is fitted to one class against the rest, or
with the option ``top_label_only`` to the top label's score, and the classes keep their order.
"""

import importlib
from functools import partial
from pathlib import Path

from calbias.errors import looked_up, validate_defines
from calbias.estimation.registry import estimator_options, known_estimators

FOLDER = Path(__file__).parent / "methods"


def known_methods():
    """Return {name: path} of every method, without importing any."""
    return known_estimators((FOLDER,))


def load_method(method):
    """Return ``fit(logits, labels, **more options)``; InputError for an unknown name."""
    path = looked_up("method", method, known_methods())
    module = importlib.import_module(f"calbias.recalibration.methods.{path.stem}")
    form = "fit(logits, labels) or fit_binary(scores, hits)"
    validate_defines(path, vars(module), ["fit", "fit_binary"], form)
    fit = getattr(module, "fit", None)
    if fit is None:
        from calbias.recalibration.binary import fit_classes  # Snakemake imports no NumPy

        fit = partial(fit_classes, module.fit_binary)
    return partial(fit, **estimator_options(method, path))
