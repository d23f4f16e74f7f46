"""The texts of a status as codes: 0 for censored, 1 for the event, others for competing events."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def causes_of(
    texts: Sequence[str | None],
    event: str,
    censored: str | None,
    name: str,
    error: Callable[..., Exception],
    column: Sequence[str | None] = (),
) -> tuple[NDArray[np.float64], float, float]:
    """Return the codes (n,) of a status, that of the event and that of censoring.

    Numbers are codes, and words for yes and no are 1 and 0. Of other texts the event is named; of
    two the other one is censored, of more it is named too, and the rest are competing events.
    ``column`` are the cells before rows were left out: an empty one then counts as a text.

    >>> codes, *_ = causes_of(["dead", "alive", "dead"], "dead", None, "status", ValueError)
    >>> codes.tolist()
    [1.0, 0.0, 1.0]
    """
    if None in texts:
        raise error(f"column {name} is empty; give every row a status", texts.index(None))
    values = {str(text): _number(str(text)) for text in texts}
    if None not in values.values():
        codes = {text: number for text, number in values.items() if number is not None}
        named = [_number(text) for text in (event, censored or "0")]
        if None in named:
            raise error(f"column {name} has numbers: give one for the event, and one for censored")
        return np.array([codes[str(text)] for text in texts]), *map(float, named)  # type: ignore
    seen = dict.fromkeys([*texts, *column])
    texts_seen = [text for text in seen if text is not None]
    others = [text for text in texts_seen if text.casefold() != event.casefold()]
    none = [text for text in others if text.casefold() == (censored or "0").casefold()]
    if censored is None and len(others) == 1 and None not in seen:
        none = others
    if len(others) == len(texts_seen) or not none:
        option, what = ("--event", "the event")
        if len(others) < len(texts_seen):
            option, what = ("--censored", "no event")
        gaps = " and empty cells" if None in seen else ""
        raise error(
            f"column {name} has {', '.join(texts_seen[:6])}{gaps}: say by {option} which is {what}"
        )
    competing = [text for text in others if text not in none]
    codes = {text: 1.0 for text in texts_seen if text not in others} | dict.fromkeys(none, 0.0)
    codes |= {text: float(k) for k, text in enumerate(competing, start=2)}
    return np.array([codes[str(text)] for text in texts]), 1.0, 0.0


def _number(text: str) -> float | None:
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    try:
        return float(text)
    except ValueError:
        return None
