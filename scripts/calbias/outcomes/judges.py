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
_FACTOR = 3  # between the human labels and those that the chances say, at most


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
    values = column_of(name, judge, error, size=scores.size)
    first_wrong((values < 0) | (values > 1), values, name, "give labels from 0 to 1", error)
    labelled = ~np.isnan(human)
    n_labels = int(labelled.sum())
    if n_labels < _FEWEST_LABELS:
        raise InputError(f"rows with a human label: {n_labels}; give at least {_FEWEST_LABELS}")
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
        size = scores.size if np.ndim(chance) else 1
        share = np.broadcast_to(column_of("labelled", chance, error, size=size), scores.shape)
        wrong = (share <= 0) | (share > 1)
        first_wrong(wrong, share, "labelled", "a chance of being labelled is in (0, 1]", error)
        wrong = (share == 1) & ~labelled
        first_wrong(wrong, share, "labelled", "a row of this chance has a human label", error)
        if not 1 / _FACTOR <= n_labels / share.sum() <= _FACTOR:
            raise InputError(
                f"labelled: by these chances about {share.sum():.3g} rows have a human label, and "
                f"{n_labels} have one; give the chance of each row"
            )
    outcomes = values + np.where(labelled, (np.nan_to_num(human) - values) / share, 0.0)
    rarer = int(min(np.sum(human == 1), np.sum(human == 0)))
    if rarer < _FEW_LABELS:
        warnings += (
            f"human labels of the rarer outcome: {rarer}; the p-value is approximate below "
            f"{_FEW_LABELS}",
        )
    judged_rows = ~np.isnan(outcomes)
    mean = 100 * outcomes[judged_rows].mean()
    return MeanOutcomes(
        outcomes, labelled & (human == 1), labelled & (human == 0),
        words=f"labels of a judge, corrected by {n_labels} of a human: {mean:.3g} %",
        warnings=warnings,
    )  # fmt: skip
