"""What ``calbias.audit`` and ``calbias.compare`` return: numbers, with their page and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from calbias.auditing.audit_result import AuditNumbers, Result
from calbias.auditing.comparison.comparison_result import ComparisonNumbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Shown(Result):
    """How a notebook shows a result: its sentence and its picture."""

    def _repr_html_(self) -> str:
        from calbias.auditing.page.picture import picture

        return f"<p><strong>{escape(self.sentence)}</strong></p>{picture(self)}"


@dataclass(frozen=True, eq=False, repr=False)
class Audit(_Shown, AuditNumbers):
    """The result of ``calbias.audit``. All errors are fractions. Equal audits have equal numbers.

    Attributes
    ----------
    kind : str
        ``event`` where the scores are probabilities of an event and the hits its occurrence;
        ``top label`` where they are confidences and whether the prediction was correct.
    n : int
        The number of rows.
    error : float
        The estimate of the calibration error: ``averaged_posterior``, put into the interval.
    interval : tuple of float
        The (low, high) end of the interval of the true error.
    confidence_level : float
        Of the interval.
    norm : float
        p of the ℓp error.
    verdict : CalibrationVerdict
        The test of calibration: p-value, its parts, what is wrong, in words.
    rows_per_bin : float
        Rows of a bin of the interval, on average: see ``assumption``.
    assumption : str
        What the upper end of the interval assumes, and what it cannot hold.
    ece, noise_floor : float
        The ℓ1 ECE in ``options.n_bins`` bins of equal width, as other packages print it, and its
        mean for a calibrated model with these scores (and clusters: times the root of the design
        effect; the curve's band and the bins' limits are widened likewise).
    n_clusters, effective_n, design_effect : int, float, float or None
        With clusters: how many there are, how many independent rows they stand for, and n divided
        by that. None without.
    mean_design_effect : float or None
        The same for the mean gap, on which the clusters' common error bears more than on the shape
        of the curve. None without clusters.
    description : dict
        What was read: form, n_classes, accuracy, mean_score, brier, ties, saturation.
    warnings, notes : tuple of str
        What limits the conclusions; how the input was read.
    curve : PosteriorCurve
        The calibration curve with its band.
    bins : PictureBins
        Rows of neighbouring scores with their share of hits.
    corp : CorpDiagram
        The CORP diagram, as of ``calbias.corp_diagram``, with a band of 500 redraws of independent
        rows. None for outcomes that are right on average.
    estimates, risk, recalibration, classes : DataFrame or None
        On request, or where they apply: each estimator with its bias on these scores; the numbers
        of a risk model; what recalibration gains; classes one against the rest.
    outcome : str or None
        What the outcomes are, where they are not hits: follow-up, weights, a judge, shares.
    strata : tuple of Stratum
        Of follow-up: rows, events, censored, the least chance of being followed, mean risk, risk.
    subgroups : Subgroups or None
        With ``by``: the p-value over all segments, and their table, the clearest first.
    options : Options
    """

    def to_html(self, title: str = "a model", json_name: str = "") -> str:
        """Return the page that ``calbias audit`` writes: one file that needs no other."""
        from calbias.auditing.page.page import page

        return page(self, title, json_name)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw curve, band, bins and rows on matplotlib axes, new ones by default; return them.

        The axes show the range of the scores. Of an event the points are at most ten groups.
        ``audit.plot().figure.savefig("calibration.pdf")`` saves the figure.
        """
        from calbias.auditing.page.plot import draw, new_axes

        ax = ax or new_axes()
        draw(self, ax)
        return ax


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(_Shown, ComparisonNumbers):
    """The result of ``calbias.compare``; errors and Brier scores are fractions.

    ``difference`` of the ℓ1 errors, first less second, has the interval ``low`` to ``high``: below
    0 the first is better calibrated. ``brier_difference`` is likewise the first's less the
    second's, and ``brier_skill``, ``skill_low`` to ``skill_high``, is 1 less their ratio: the skill
    score of the first with the second as the reference forecast, None where the second's is 0.
    ``n_clusters`` is None where rows are independent. ``models`` has the error, the Brier score,
    the ``curve`` and the ``bins`` of each; ``subgroups``, with ``by``, the differences by subgroup:
    a p-value over all of them, and a table.
    """

    def to_html(self, title: str = "", json_name: str = "") -> str:
        """Return the page that ``calbias compare`` writes: one file that needs no other."""
        from calbias.auditing.page.page import comparison_page

        return comparison_page(self, title or f"{self.first} and {self.second}", json_name)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw both curves with their bands on matplotlib axes, new ones by default; return them.

        ``comparison.plot().figure.savefig("curves.pdf")`` saves the figure.
        """
        from calbias.auditing.page.plot import draw_comparison, new_axes

        ax = ax or new_axes()
        draw_comparison(self, ax)
        return ax
