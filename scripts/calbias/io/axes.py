"""Axes of matplotlib, which the extra ``plot`` installs."""

from typing import Any

from calbias.errors import InputError


def new_axes(**figure: Any) -> Any:
    """Return the axes of a new figure; InputError, with the remedy, without matplotlib."""
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise InputError("a picture needs matplotlib: pip install matplotlib") from None
    return pyplot.subplots(**figure)[1]
