"""Comparisons of biases with their Monte Carlo errors."""

from typing import NamedTuple

import numpy as np

from pipeline.claims.measurements import Measurement
from pipeline.claims.verdicts import CLEAR, FEW, RARE, Verdict
from reproduction.summaries.bias_by_group import error_of_mean


class Tally(NamedTuple):
    """How many cells clearly agree with a claim, are undecided, clearly disagree."""

    wins: int
    ties: int
    losses: int

    @property
    def cells(self):
        """The number of cells."""
        return sum(self)

    def verdict(self):
        """Return the verdict on 'consistently', as CONSISTENTLY words it."""
        most = self.wins > self.cells / 2
        return Verdict.of(
            most and self.losses <= RARE * self.cells, most and self.losses <= FEW * self.cells
        )


def tally(advantage, standard_error):
    """Return the Tally of advantages (m,), positive where a claim holds, with their errors (m,)."""
    advantage, limit = np.asarray(advantage), CLEAR * np.asarray(standard_error)
    wins, losses = int(np.sum(advantage > limit)), int(np.sum(advantage < -limit))
    return Tally(wins, advantage.size - wins - losses, losses)


def tally_measurements(name, tallies):
    """Return Measurements of {case: Tally}: the cells that clearly agree, then the others."""
    return [
        Measurement(f"{name}, cells of {t.cells} {what}", getattr(t, count), "", case)
        for what, count in (("clearly so", "wins"), ("clearly the opposite", "losses"))
        for case, t in tallies.items()
    ]


def abs_difference(bias_a, se_a, bias_b, se_b):
    """Return |a| − |b| and a bound on its error, for any correlation of a and b."""
    return np.abs(bias_a) - np.abs(bias_b), se_a + se_b


def compared_curves(curves, a, b):
    """Return |bias| of a minus that of b, and its error, by (group, n), of ``bias_by_group``."""
    of_a, of_b = (
        curves[curves["estimator"] == name].set_index(["group", "n_samples"]).sort_index()
        for name in (a, b)
    )
    columns = ["bias_percent", "bias_se_percent"]
    return abs_difference(*(x[column] for x in (of_a, of_b) for column in columns))


def mean_abs(bias, se):
    """Return {estimator: (mean |bias|, its error)} of DataFrames, least first; rows independent."""
    error = error_of_mean(se)
    means = {name: (bias[name].abs().mean(), error[name]) for name in bias.columns}
    return dict(sorted(means.items(), key=lambda item: item[1][0]))


def clearly_below(means, a, b):
    """Return whether mean |bias| of a is below that of b by more than CLEAR bounds of error."""
    difference = means[b][0] - means[a][0]
    return difference > CLEAR * (means[a][1] + means[b][1])


def unrooted_note(verdicts):
    """Return a note where the KDE without its root has another verdict; of {estimator: verdict}."""
    rooted, unrooted = ([*Verdict].index(verdicts[name]) for name in ("kde", "kde_unrooted"))
    if rooted == unrooted:
        return ""
    return (
        f"on kde_unrooted, the integral without the p-th root, the verdict is "
        f"{verdicts['kde_unrooted'].words}"
        + (": the published curves behave like that quantity" if unrooted < rooted else "")
    )
