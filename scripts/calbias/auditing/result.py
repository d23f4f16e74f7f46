"""The result of an audit, in the forms in which it is looked at."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from calbias.auditing.inputs import EVENT
from calbias.auditing.numbers import AuditNumbers
from calbias.io.axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _ORANGE, _GREY = "#0a5c7d", "#b3541e", "#9aa3ad"


class Audit(AuditNumbers):
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
    verdict : Verdict
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
    description : dict
        What was read: form, n_classes, accuracy, mean_score, brier, ties, saturation.
    warnings, notes : tuple of str
        What limits the conclusions; how the input was read.
    curve : PosteriorCurve
        The calibration curve with its band.
    bins : PictureBins
        Rows of neighbouring scores with their share of hits.
    estimates, risk, recalibration, classes : DataFrame or None
        On request, or where they apply: each estimator with its bias on these scores; the numbers
        of a risk model; what recalibration gains; classes one against the rest.
    subgroups : Subgroups or None
        With ``by``: the p-value over all segments, and their table, the clearest first.
    options : Options
    """

    def to_html(self, title: str = "a model", json_name: str = "") -> str:
        """Return the page that ``calbias audit`` writes: one file that needs no other."""
        from calbias.auditing.page import page

        return page(self, title, json_name)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw curve, band and bins on matplotlib axes, new ones by default, and return them."""
        if ax is None:
            ax = new_axes(figsize=(5.2, 5.2), layout="constrained")
        bins, curve, level = self.bins, self.curve, f"{100 * self.confidence_level:g} %"
        ax.plot([0, 1], [0, 1], color=_GREY, linewidth=1, linestyle="--", label="calibrated")
        ax.fill_between(curve.scores, curve.low, curve.high, color=_BLUE, alpha=0.2, linewidth=0)
        ax.plot(curve.scores, curve.mean, color=_BLUE, label=f"calibration curve, {level} band")
        ax.vlines(bins.mean_score, bins.low, bins.high, color=_ORANGE, linewidth=1, alpha=0.6)
        sizes = 6 + 40 * bins.n_in_bin / bins.n_in_bin.max()
        label = f"bins, {level}; area ∝ rows"
        ax.scatter(bins.mean_score, bins.mean_hit, sizes, color=_ORANGE, label=label, zorder=3)
        names = ("risk", "share of events") if self.kind == EVENT else ("score", "share of hits")
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel=names[0], ylabel=names[1])
        ax.legend(frameon=False, fontsize="small")
        return ax

    def _repr_html_(self) -> str:
        from calbias.auditing.picture import picture

        return f"<p><strong>{escape(self.sentence)}</strong></p>{picture(self)}"
