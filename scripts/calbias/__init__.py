"""Bias of calibration error estimators.

``calbias.estimate("ece_sweep_em", scores, hits)`` estimates the calibration error of a model's
scores; everything else is imported from the module that holds it.
"""

import importlib

__version__ = "0.1.0"


def __getattr__(name):
    # On first use: what a command line does not need must neither be loaded nor break it.
    if name == "estimate":
        return importlib.import_module("calbias.estimation.api").estimate
    raise AttributeError(f"module 'calbias' has no attribute {name!r}")
