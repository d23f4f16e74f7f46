"""Which columns of a table may be scores, by their names and cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from calbias.reading.class_group import OWN
from calbias.reading.columns import Columns, listed
from calbias.reading.facts import WORDS
from calbias.reading.output_file import Place
from calbias.reading.reading import Header
from calbias.reading.words import (
    CHANCE,
    CHANCE_WORDS,
    CONFIDENCE,
    CONFIDENCE_WORDS,
    LABEL,
    NO_SCORE,
    PREDICTION,
    plain,
    words_of,
)  # fmt: skip

_MOST_SCORES = 3  # without a name for a score: more are features


@dataclass(frozen=True)
class Score:
    """A column of scores: a chance of an event or class, a confidence in a prediction, or both."""

    name: str
    is_chance: bool
    is_confidence: bool
    is_admitted: bool = True


def scores_of(header: Header, columns: Columns) -> list[Score]:
    """Return the columns that may be scores: of the best convention that has some."""
    names = [name for name in header.names if name not in header.apart]
    if columns.score:
        return [_score(columns.score)]
    taken = {columns.label, columns.hit, columns.prediction}
    free = [name for name in names if name not in taken]
    exact = [name for name in free if plain(name) in {*CONFIDENCE, *CHANCE} and name.strip()]
    exact += [n for n in free if plain(n) in PREDICTION and header.facts(n).is_fraction]
    with_word = [name for name in free if _has_word(name) and header.facts(name).is_fraction]
    p_of_label = [name for name in free if _is_p_of_label(header, name, names)]
    tiers = [
        [name for name in exact if name.startswith(OWN)],
        exact,
        [*(name for name in with_word if named_outcomes(name, names)), *p_of_label],
        with_word,
    ]
    calbias_scores = [name for name in free if name.casefold() == f"{OWN}score"]
    if calbias_scores:
        kept = [_score(name) for name in exact[:1]] or [_score(calbias_scores[0])]
        return [replace(kept[0], name=calbias_scores[0])]
    for tier in tiers:
        if inside := [name for name in tier if header.facts(name).is_score]:
            percent = [name for name in exact if tier != exact and _may_be_percent(header, name)]
            return [replace(_score(n), is_admitted=not percent) for n in (*percent, *inside)]
    fractions = [name for name in free if header.facts(name).is_fraction]
    fractions = [name for name in fractions if not NO_SCORE & words_of(name)]
    offered = [
        replace(_score(name), is_admitted=False)
        for name in (fractions if len(fractions) <= _MOST_SCORES else ())
    ]
    if exact:
        are_numbers = all(header.facts(name).is_number for name in exact)
        return [*(_score(name) for name in exact), *(offered if are_numbers else ())]
    for name in [name for name in free if _has_word(name)]:
        facts = header.facts(name)
        if facts.is_number and facts.low >= 0 and 10 < facts.high <= 100:
            return [replace(_score(name), is_admitted=False)]
    return offered


def _may_be_percent(header: Header, name: str) -> bool:
    """Return whether a column is named as a chance, and is in [0, 100] and not in [0, 1]."""
    facts = header.facts(name)
    is_percent = facts.is_number and facts.low >= 0 and 1 < facts.high <= 100
    return plain(name) in CHANCE and is_percent


def _score(name: str) -> Score:
    small, words = plain(name), words_of(name)
    is_chance = small in CHANCE or bool(words & CHANCE_WORDS)
    is_confidence = small in (*CONFIDENCE, *PREDICTION) or bool(words & CONFIDENCE_WORDS)
    return Score(name, is_chance and not is_confidence, is_confidence)


def _has_word(name: str) -> bool:
    words = words_of(name)
    return bool(words & (CHANCE_WORDS | CONFIDENCE_WORDS)) and not words & NO_SCORE


def _is_p_of_label(header: Header, name: str, names: Sequence[str]) -> bool:
    """Return whether a name is p_X or X_p of a column X, or of a label X."""
    label_name = plain(name).removeprefix("p_").removesuffix("_p")
    if label_name == plain(name) or NO_SCORE & words_of(name) or not header.facts(name).is_fraction:
        return False
    labels = [n for n in names if plain(n) in LABEL or header.facts(n).kind == WORDS]
    values = {plain(value) for label in labels for value in header.facts(label).values or ()}
    return bool(named_outcomes(name, names)) or label_name in values


def named_outcomes(score: str, names: Sequence[str]) -> list[str]:
    """Return the columns that a score's name names: rain of p_rain, default of prob_default."""
    named = plain(score)
    for word in ("predicted_", "pred_"):
        named = named.removeprefix(word)
    ends = [
        named.removeprefix(f"{word}_").removesuffix(f"_{word}").removeprefix("of_")
        for word in (*CHANCE_WORDS, "p")
        if word in words_of(score)
    ]
    return [name for name in names if plain(name) in ends and name != score and plain(name)]


def score_column(names: Sequence[str], location: Place) -> str:
    """Return the column of scores by its name, in a table without outcomes."""
    scores = [name for name in names if plain(name) in {*CONFIDENCE, *CHANCE}]
    if len(scores) != 1:
        problem = (
            f"{' and '.join(scores)} are scores" if scores else "no column is named as scores are"
        )
        raise location.error(f"{problem}; name it by --score, one of {listed(names)}")
    return scores[0]
