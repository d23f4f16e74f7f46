"""The predictions that come with the package: 952 photographs of snacks in 20 classes.

They are ``snacks`` of M.I. Hollemans' repository reliability-diagrams (MIT licence).
"""

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".csv")


def example() -> tuple[np.ndarray, np.ndarray]:
    """Return the scores and hits of a small classifier, to try the other functions on.

    ``calbias example`` prints them as a file.

    Returns
    -------
    scores : ndarray, shape (952,)
        The confidence in each prediction.
    hits : ndarray, shape (952,)
        1 where the prediction was correct, else 0.

    Examples
    --------
    >>> import calbias
    >>> scores, hits = calbias.example()
    >>> len(scores), int(hits.sum())
    (952, 822)
    """
    scores, labels, predictions = np.loadtxt(FILE, delimiter=",", skiprows=1).T
    return np.ascontiguousarray(scores), (labels == predictions).astype(np.uint8)
