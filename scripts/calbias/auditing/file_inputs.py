"""A file of a model's outputs as one sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from calbias.auditing.inputs import EVENT, Data, of_class_1, of_event
from calbias.errors import InputError
from calbias.logits import plausibility
from calbias.logits.columns import Columns
from calbias.logits.output_file import Fold
from calbias.logits.read_logits import read_outputs
from calbias.logits.top_label import TopLabel
from calbias.logits.top_label import top_label as top_label_of

_VALIDATION = "fold test is judged; recalibration is fitted on fold validation"


def read_data(
    path: Path | str,
    by: Sequence[str] = (),
    *,
    columns: Columns | None = None,
    top_label: bool = False,
) -> tuple[Data, dict[str, Any] | None]:
    """Return (Data, columns) of a file's fold ``test``; the columns (n,) are those named ``by``.

    ``path`` is a file of any format, or ``-`` for standard input; ``columns`` are those that the
    user names. With ``top_label`` the top class of two is audited, else class 1 is an event.
    """
    outputs = read_outputs(path, by, columns)
    fold = outputs.folds["test"]
    if len(fold[-1]) < 2:
        raise InputError(f"{path}: one row is too few to judge a model by: give at least two")
    warnings, notes = outputs.warnings, outputs.notes
    data = _data_of(fold, outputs.form, top_label, outputs.clusters)
    if data.kind == EVENT and not isinstance(fold, TopLabel):
        assert data.rows is not None
        warnings = (*warnings, *plausibility.of_event("test", data.rows))
    validation = outputs.folds.get("validation")
    if validation is not None and len(validation[-1]) > 1:
        validation = _data_of(validation, outputs.form, top_label)
        notes = (*notes, f"{_VALIDATION} ({validation.scored.n} rows)")
    else:
        validation = None
    data = replace(
        data, warnings=warnings, hints=outputs.hints, validation=validation,
        notes=(_in_words(data, top_label), *notes),
    )  # fmt: skip
    return data, outputs.by


def _data_of(
    fold: TopLabel | Fold, form: str | None, top_label: bool, clusters: np.ndarray | None = None
) -> Data:
    """Return the Data of a fold."""
    if isinstance(fold, TopLabel):
        if form == "event":
            return of_event(fold, top_label, form="binary", clusters=clusters)
        return Data.of(fold, clusters, form=form)
    more: dict[str, Any] = {"form": form, "logits": fold.logits, "labels": fold.labels}
    if fold.logits.shape[1] == 2 and not top_label:
        top = of_class_1(fold.logits, fold.labels, "logits")
        return of_event(top, False, clusters=clusters, **more)
    return Data.of(top_label_of(*fold), clusters, **more)


def read_model(
    path: Path | str, *, columns: Columns | None = None, top_label: bool = False
) -> tuple[np.ndarray, np.ndarray, str, np.ndarray | None]:
    """Return (scores, hits, kind, clusters) of a file, rows in its order; for ``compare``."""
    data, _ = read_data(path, columns=columns, top_label=top_label)
    assert data.rows is not None
    return data.rows.score, data.rows.hit, data.kind, data.clusters


def _in_words(data: Data, top_label: bool) -> str:
    if data.kind == EVENT:
        return (
            "two classes: the probability of class 1, an event, is audited; --top-label audits "
            "the confidence of the predicted class"
        )
    if top_label:
        return "the confidence of the predicted class is audited (--top-label)"
    return "the confidence of the predicted class is audited (hit: the prediction was correct)"
