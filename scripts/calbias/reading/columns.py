"""Which columns of a table hold the scores, the hits or labels, the classes and the clusters.

Names count in any capitalisation. The usual ones are ``score`` with ``hit`` (1 where the prediction
was correct), ``score`` with ``label`` and ``prediction``, ``label`` with ``score`` (the probability
of label 1, an event), and ``label`` with a column per class. Scikit-learn's ``y_true``, ``y_prob``
and ``y_pred`` are a label, an event's probability and a prediction.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from calbias.defaults import FORMS
from calbias.errors import InputError, did_you_mean
from calbias.reading.output_file import Place

SCORE = ("score", "scores", "confidence", "conf")
EVENT = (
    *("y_prob", "y_score", "y_proba", "y_pred_proba", "prob", "proba", "probability", "risk"),
    *("predicted_probability", "predicted_risk", "p_event"),
)  # fmt: skip
HIT = ("hit", "hits", "correct", "is_correct")
LABEL = ("label", "labels", "y_true", "true_label", "target", "outcome")
PREDICTION = ("prediction", "predictions", "predicted", "y_pred", "predicted_label")
FOLD = ("fold", "split", "set", "subset")
_ONE_HOT = re.compile(r"label_(\d+)")
_NUMBERED = re.compile(r"(.*?)(\d+)")
_IDS = re.compile(
    "(^|_)(id|ids|uuid|patient|subject|user|customer|client|question|item|game|match|session|"
    "document|author|speaker|image|video|case|cluster|family|hospital|site|benchmark|dataset)s?($|_)"
)
BINARY, FRACTIONS, WORDS, FOLD_WORDS = "binary", "fractions", "words", "words for folds"
"""Kinds of columns: 0 and 1 alone, or yes and no; other numbers in [0, 1]; and texts."""
DROP = "drop"
"""The value of ``missing`` for empty cells."""
FEWEST_IDS = 10
"""Fewer values, such as of five benchmarks, are too few clusters by themselves."""


@dataclass(frozen=True)
class Columns:
    """The columns that a user names: of score, hit, label, prediction and clusters of rows.

    Several columns of clusters, such as benchmark and question, are one identifier together.
    ``event`` is the label whose probability is judged. ``missing`` are the values of rows to leave
    out: ``drop`` stands for an empty score or outcome, any other text or number for itself.
    ``values`` is one of ``calbias.reading.forms.FORMS``, or None where the values show it. ``rows``
    is COLUMN=VALUE, the rows to judge.
    """

    score: str | None = None
    hit: str | None = None
    label: str | None = None
    prediction: str | None = None
    cluster: Sequence[str] = field(default=())
    event: str | None = None
    missing: Sequence[str] = field(default=())
    values: str | None = None
    rows: str | None = None

    def __post_init__(self) -> None:
        for name in ("cluster", "missing"):
            value = getattr(self, name)
            several = (value,) if isinstance(value, str) else tuple(map(str, value or ()))
            object.__setattr__(self, name, several)
        if self.values is not None and self.values not in FORMS:
            raise InputError(f"values must be one of {', '.join(FORMS)}, not {self.values!r:.60}")
        if self.rows is not None and "=" not in self.rows:
            raise InputError(f"--rows {self.rows!r:.60} needs COLUMN=VALUE, such as split=test")
        if self.hit and (self.label or self.prediction):
            raise InputError("--hit stands for --label with --prediction: name it alone")
        if self.event is not None and (self.hit or self.prediction):
            raise InputError("--event names a value of the column --label: name no other outcome")
        if self.prediction and not self.label:
            raise InputError("--prediction needs --label: name the column of the true classes too")


class Roles(NamedTuple):
    """The names of the columns by what they hold; ``others`` are neither read nor named."""

    form: str | None  # scores, event, or None: label and classes
    score: str | None = None
    hit: str | None = None
    label: str | None = None
    prediction: str | None = None
    fold: str | None = None
    one_hot: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    note: str = ""


def roles_of(
    names: list[str], columns: Columns, location: Place, kind_of: Callable[[str], str]
) -> Roles:
    """Return the Roles of the columns of a table; InputError where they are no model's outputs.

    A name alone makes no role: a score has numbers, a fold has words for folds, by ``kind_of``.
    Next to a score the only column that is BINARY is the label of an event.
    """
    columns = replace(
        columns,
        **{
            role: name and looked_up_column(name, names, location.file)
            for role in ("score", "hit", "label", "prediction")
            for name in [getattr(columns, role)]
        },
    )
    by_name = _by_name(names, columns, location, kind_of)
    roles = _of_scores(by_name, columns.event is not None, names, kind_of)
    if roles is None:
        _validate_classes(by_name, names, location, kind_of)
        roles = Roles(None, label=by_name.label, fold=by_name.fold, one_hot=by_name.one_hot)
    used = {*roles[1:6], *roles.one_hot}
    return roles._replace(others=tuple(name for name in names if name not in used))


def _by_name(
    names: list[str], columns: Columns, location: Place, kind_of: Callable[[str], str]
) -> Roles:
    """Return every column that the user names, or that has the name of a role.

    The form is that of the score's name.
    """
    chosen = {columns.score, columns.hit, columns.label, columns.prediction} - {None}
    free = [name for name in names if name not in chosen]
    numbers = [name for name in free if kind_of(name) not in (WORDS, FOLD_WORDS)]
    score = columns.score or _named(numbers, SCORE, location)
    event = None if score else _named(numbers, EVENT, location)
    if not (score or event):  # of words, which the reader will name
        score = _named(free, SCORE, location)
    # a synonym of hit counts only together with a score
    hits = HIT if score or event else HIT[:1]
    hit = columns.hit or (None if columns.label else _named(free, hits, location))
    label = columns.label or (None if columns.hit else _named(free, LABEL, location))
    prediction = columns.prediction
    if not (prediction or columns.hit or columns.label):
        prediction = _named(free, PREDICTION, location)
    folds = [name for name in free if columns.rows is None and kind_of(name) == FOLD_WORDS]
    one_hot = in_class_order([name for name in free if _ONE_HOT.fullmatch(name)])
    return Roles(
        "event" if event else "scores", score or event, hit, label, prediction,
        _named(folds, FOLD, location), (*one_hot,),
    )  # fmt: skip


def _of_scores(
    by_name: Roles, is_event: bool, names: list[str], kind_of: Callable[[str], str]
) -> Roles | None:
    """Return the Roles of scores with hits, of predictions, or of an event; None without them."""
    roles = by_name._replace(one_hot=())
    event = roles._replace(form="event", hit=None, prediction=None)
    if roles.score is None:
        return None
    if roles.label and is_event:
        return event
    if roles.hit:
        return roles._replace(form="scores", label=None, prediction=None)
    if roles.label and roles.prediction and roles.form == "scores":
        return roles
    if roles.label:
        return event
    binary = [name for name in names if name not in roles[1:6] and kind_of(name) == BINARY]
    if len(binary) != 1:
        return None
    note = (
        f"column {binary[0]}, the only other one of 0 and 1, is read as the label of an event; "
        f"where 1 is a correct prediction give --hit {quote(binary[0])}"
    )
    return event._replace(label=binary[0], note=note)


def _validate_classes(
    roles: Roles, names: list[str], location: Place, kind_of: Callable[[str], str]
) -> None:
    """Raise InputError, with what would do, where there are no labels with classes either."""
    is_incomplete = roles.score or roles.hit or bool(roles.label) == bool(roles.one_hot)
    # a label and one column of fractions are no classes, whatever stands beside them
    if (is_incomplete or roles.label) and (options := _options(names, kind_of)):
        raise location.error(
            f"columns {listed(names)}: name the score and the outcome, such as {options}"
        )
    if is_incomplete:
        raise location.error(
            "needs a column label (or label_0, label_1, …) and one per class; score and hit (1 "
            "where the prediction was correct); score, label and prediction; or label and score "
            f"(the probability of label 1); found {listed(names)}; the first line names the "
            "columns, or name them with --score and --hit or --label"
        )


def _options(names: Sequence[str], kind_of: Callable[[str], str]) -> str:
    """Return options that name the one column of FRACTIONS and the one that is BINARY, if so."""
    names_of_kind = {kind: [n for n in names if kind_of(n) == kind] for kind in (BINARY, FRACTIONS)}
    if any(len(each) != 1 for each in names_of_kind.values()):
        return ""
    [[outcome], [score]] = names_of_kind.values()
    hit, score = f"--hit {quote(outcome)}", f"--score {quote(score)}"
    if _plain(outcome) in HIT:
        return f"{score} {hit}"
    return f"{score} --label {quote(outcome)}, or {hit} where 1 is a correct prediction"


def _named(names: Sequence[str], synonyms: Sequence[str], location: Place) -> str | None:
    """Return the column that has the first of these names; exact ones first."""
    same_names: dict[str, list[str]] = {}
    for name in names:
        same_names.setdefault(_plain(name), []).append(name)
    for wanted in synonyms:
        same = same_names.get(wanted, [])
        if wanted in same:
            return wanted
        if len(same) > 1:
            raise location.error(f"columns {' and '.join(same)} are both a {wanted}; rename one")
        if same:
            return same[0]
    return None


def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.strip()).casefold()


def score_column(names: Sequence[str], location: Place) -> str:
    """Return the column of scores by its name, in a table without outcomes."""
    name = _named(names, SCORE, location) or _named(names, EVENT, location)
    if name is None:
        raise location.error(
            f"no column is named as scores are; name it by --score, one of {listed(names)}"
        )
    return name


def looked_up_column(name: str, names: Sequence[str], path: Path | str) -> str:
    """Return a column's name as the table has it; InputError, with the nearest, if it has none."""
    if name not in names:
        same = [other for other in names if other.casefold() == name.casefold()]
        if len(same) != 1:
            raise InputError(f"{path}: there is no column {name!r}. {did_you_mean(name, names)}")
        name = same[0]
    return name


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return the first names, with an ellipsis for the others."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def in_class_order(names: list[str]) -> list[str]:
    """Return names in the order of the numbers that they end in, where those count the classes."""
    numbered = [match for name in names if (match := _NUMBERED.fullmatch(name))]
    numbers = [int(match[2]) for match in numbered]
    if len(numbers) < len(names) or not _count(numbers):
        return names
    return [name for _, name in sorted(zip(numbers, names, strict=True))]


def numbered_alike(names: list[str]) -> list[str]:
    """Return the names, two or more, of one text and a number that counts from 0 or 1; else []."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        if match := _NUMBERED.fullmatch(name):
            groups.setdefault(match[1], []).append((int(match[2]), name))
    largest = max(groups.values(), key=len, default=[])
    if len(largest) < 2 or not _count([number for number, _ in largest]):
        return []
    return [name for _, name in sorted(largest)]


def _count(numbers: Sequence[int]) -> bool:
    start = min(numbers, default=0)
    return start <= 1 and sorted(numbers) == list(range(start, start + len(numbers)))


def looks_like_ids(name: str, cells: list, is_text: bool) -> bool:
    """Return whether values repeat like ids of patients or questions: by name, or many texts."""
    n_distinct = len({*cells} - {None})
    if not 1 < n_distinct <= len(cells) / 2:
        return False
    return bool(_IDS.search(_plain(name))) or (is_text and n_distinct >= FEWEST_IDS)
