"""What every peer's script shares: it reads the data sets, and prints values as JSON.

It runs in the peer's environment, where calbias is not installed.
"""

import json
import sys

import numpy as np


def print_values(values_of):
    """Print {data set: {quantity: value}}; ``values_of(scores, hits)`` returns one data set's.

    A quantity that the peer refuses becomes the text of its error.
    """
    with np.load(sys.argv[1]) as arrays:
        names = sorted(name.removesuffix("_scores") for name in arrays if name.endswith("_scores"))
        printed = {}
        for name in names:
            printed[name] = {}
            for quantity, compute in values_of(arrays[f"{name}_scores"], arrays[f"{name}_hits"]):
                try:
                    printed[name][quantity] = float(compute())
                except Exception as error:  # the refusal is a result
                    printed[name][quantity] = f"{type(error).__name__}: {error}".splitlines()[0]
    print(json.dumps(printed))


def two_columns(scores):
    """Return the probabilities (n, 2) of classes 0 and 1."""
    return np.column_stack([1 - scores, scores])
