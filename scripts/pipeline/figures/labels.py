"""Words in figures, made from the names that the tables use."""

from collections.abc import Iterable
from typing import Any

from pipeline.figures.style import split_estimator

SCORE = "score c"
HIT_RATE = "probability of a hit"
N_SAMPLES = "number of samples n"
N_BINS = "number of bins b"
TCE = "TCE (%)"
BIAS = "bias (%)"
MEAN_ESTIMATE = "mean estimate (%)"
FAMILIES = {"kde": "KDE", "kde_unrooted": "KDE, without the root", "ks_error": "KS error"}
SCHEMES = {"em": "equal mass", "ew": "equal width"}


def family_label(family: str) -> str:
    """Return a family of estimators in words: ``ece_label_binned`` is ``ECE label-binned``."""
    if family.startswith("ece_"):
        return "ECE " + family.removeprefix("ece_").replace("_", "-")
    return FAMILIES.get(family, family.replace("_", " "))


def estimator_label(estimator: str) -> str:
    """Return an estimator in words: ``ece_sweep_em`` is ``ECE sweep, equal mass``."""
    family, scheme = split_estimator(estimator)
    return f"{family_label(family)}, {SCHEMES[scheme]}" if scheme else family_label(family)


def method_label(method: str) -> str:
    """Return a recalibration method in words: ``spline, fitted on half``."""
    return method.replace("_on_half", ", fitted on half").replace("_", " ")


def distribution_label(alpha: float, beta: float) -> str:
    """Return a score distribution as text: ``Beta(2.8, 0.05)``, or ``Uniform(0, 1)``."""
    return "Uniform(0, 1)" if alpha == beta == 1 else f"Beta({alpha:g}, {beta:g})"


def curve_label(curve: str, b1: float | None = None) -> str:
    """Return a calibration curve as text; ``b1`` is the exponent of a power curve."""
    if curve == "power":
        return f"$T(c) = c^{{{b1:g}}}$"
    if curve == "identity":
        return "$T(c) = c$"
    return "$T(c)$ " + curve.replace("_", " ")


def scenario_label(row: Any) -> str:
    """Return a row of the scenarios table as text: its score distribution and its curve."""
    return f"{distribution_label(row.alpha, row.beta)}, {curve_label(row.curve, row.b1)}"


def source_label(sources: Iterable[str]) -> str:
    """Return the sources of the data as text, in the order given and without repeats."""
    return ", ".join(str(name).replace("_", " ") for name in dict.fromkeys(sources))


def counted(number: float, word: str) -> str:
    """Return ``number`` with thin spaces between thousands, and the word that it counts."""
    return f"{number:,.0f}".replace(",", "\u2009") + f" {word}"


def span(numbers: Iterable[float]) -> str:
    """Return the numbers as text: one if they are all equal, else the least and the greatest."""
    low, high = (counted(n, "").strip() for n in (min(numbers), max(numbers)))
    return low if low == high else f"{low}–{high}"
