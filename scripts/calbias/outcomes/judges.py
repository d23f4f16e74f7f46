"""A judge's labels, corrected by the rows that a human labelled too.

With the judge's label J in [0, 1], the human one Y, and the chance π that a row was labelled by a
human, the outcome is J where it was not, and J + (Y − J)/π where it was: its mean given the score
is that of Y, however wrong the judge is (Robins, Rotnitzky and Zhao, *Journal of the American
Statistical Association* 1994). By default π is the share of labelled rows in a stratum of the
score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calbias.errors import InputError
from calbias.outcomes.checks import RowError, column_of, first_wrong
from calbias.outcomes.follow_up import MOST_STRATA, strata_of_scores
from calbias.outcomes.mean_outcomes import Floats, MeanOutcomes

_LABELS_PER_STRATUM, _FEWEST_LABELS, _FEW_LABELS = 20, 5, 50


def judged(
    scores: Floats,
    judge: ArrayLike,
    human: Floats,
    chance: ArrayLike | None = None,
    *,
    name: str = "judge",
    error: RowError | None = None,
) -> MeanOutcomes:
    """Return the outcomes of labels by a judge (n,) and by a human (n,), NaN where there is none.

    ``chance`` (n,) or a number is that of being labelled by a human.
    """
    values = column_of(name, judge, error)
    if values.size != scores.size:
        raise InputError(f"{name} has {values.size} rows, and the scores have {scores.size}")
    first_wrong((values < 0) | (values > 1), values, name, "give labels from 0 to 1", error)
    labelled = ~np.isnan(human)
    n_labels = int(labelled.sum())
    if n_labels < _FEWEST_LABELS:
        raise InputError(f"{n_labels} rows have a human label: give at least {_FEWEST_LABELS}")
    warnings: tuple[str, ...] = ()
    if chance is None:
        most = int(np.clip(n_labels // _LABELS_PER_STRATUM, 1, MOST_STRATA))
        stratum = strata_of_scores(scores, most)
        labels, rows = np.bincount(stratum, labelled), np.bincount(stratum)
        share = (labels / rows)[stratum]
        gone = (labels < _FEWEST_LABELS)[stratum]
        if gone.any():
            values = np.where(gone, np.nan, values)
            low, high = scores[gone].min(), scores[gone].max()
            warnings = (
                f"{gone.sum()} of {scores.size} rows are not judged: at scores from {low:.3g} to "
                f"{high:.3g} a stratum has fewer than {_FEWEST_LABELS} human labels",
            )
    else:
        share = column_of("labelled", chance, error)
        if np.ndim(chance) and share.size != scores.size:
            raise InputError(f"labelled has {share.size} rows, and the scores have {scores.size}")
        wrong = (share <= 0) | (share > 1)
        first_wrong(wrong, share, "labelled", "a chance of being labelled is in (0, 1]", error)
    outcomes = values + np.where(labelled, (np.nan_to_num(human) - values) / share, 0.0)
    rarer = int(min(np.sum(human == 1), np.sum(human == 0)))
    if rarer < _FEW_LABELS:
        warnings += (
            f"{rarer} human labels of the rarer outcome are few: the p-value is approximate below "
            f"{_FEW_LABELS}",
        )
    judged_rows = ~np.isnan(outcomes)
    mean = 100 * outcomes[judged_rows].mean()
    return MeanOutcomes(
        outcomes, labelled & (human == 1), labelled & (human == 0),
        words=f"labels of a judge, corrected by {n_labels} of a human: {mean:.3g} %",
        warnings=warnings,
    )  # fmt: skip
