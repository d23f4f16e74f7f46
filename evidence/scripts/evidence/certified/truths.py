"""The true errors of scenarios: closed forms in fractions, else integrals by mpmath, 40 digits.

The integral of |c − T(c)|^p over a Beta distribution is split at 1/2, at its kinks and where
c = T(c), with u = c^α below 1/2 and u = (1 − c)^β above, so that no power is infinite at an end.
Both c and 1 − c are passed on: a score next to 1 keeps its distance.
"""

from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from mpmath import mp, mpf

from evidence.certified.measures import Value

PRECISION = 40
_GRID = 2000  # steps in which crossings are looked for, on the log-odds from -60 to 60


class Truth(NamedTuple):
    """Beta(alpha, beta) scores with a calibration curve; numbers are decimal texts."""

    name: str
    alpha: str
    beta: str
    curve: str
    b0: str
    b1: str


def truth(scenario: Truth, norm: int) -> Value | Decimal:
    """Return the true ℓp error of a scenario, a Decimal where it has no closed form."""
    exact = _closed_form(scenario, norm)
    if exact is not None:
        return Value(exact, norm)
    with mp.workdps(PRECISION):
        return Decimal(mp.nstr(_mean(scenario, norm) ** (mpf(1) / norm), PRECISION))


def _closed_form(scenario: Truth, norm: int) -> Fraction | None:
    """Return E|c − c^d|^p in fractions: moments of a Beta distribution are ratios of products."""
    if scenario.curve == "identity":
        return Fraction(0)
    if scenario.curve != "power":
        return None
    a, total, d = Fraction(scenario.alpha), Fraction(scenario.beta), int(scenario.b1)
    total += a

    def moment(k: int) -> Fraction:
        product = Fraction(1)
        for i in range(k):
            product *= (a + i) / (total + i)
        return product

    if norm == 1:
        return moment(1) - moment(d)
    return moment(2) - 2 * moment(1 + d) + moment(2 * d)


def _mean(scenario: Truth, norm: int) -> mpf:
    alpha, beta = mpf(scenario.alpha), mpf(scenario.beta)

    def low(u: mpf) -> mpf:
        c = u ** (1 / alpha)
        return abs(gap(scenario, c, 1 - c)) ** norm * (1 - c) ** (beta - 1) / alpha

    def high(w: mpf) -> mpf:
        d = w ** (1 / beta)
        return abs(gap(scenario, 1 - d, d)) ** norm * (1 - d) ** (alpha - 1) / beta

    cuts = _crossings(scenario)
    half = mpf(1) / 2
    below = [mpf(0), *(c**alpha for c in cuts if c < half), half**alpha]
    above = [mpf(0), *((1 - c) ** beta for c in reversed(cuts) if c > half), half**beta]
    return (mp.quad(low, below) + mp.quad(high, above)) / mp.beta(alpha, beta)


def gap(scenario: Truth, c: mpf, d: mpf) -> mpf:
    """Return c − T(c) of a score c with d = 1 − c."""
    hit, miss = hit_and_miss(scenario, c, d)
    return miss - d if c > 0.5 else c - hit


def hit_and_miss(scenario: Truth, c: mpf, d: mpf) -> tuple[mpf, mpf]:
    """Return T(c) and 1 − T(c)."""
    b0, b1, name = mpf(scenario.b0), mpf(scenario.b1), scenario.curve
    if c == 0 or d == 0:
        c, d = max(c, mpf(10) ** -3000), max(d, mpf(10) ** -3000)
    if name == "wave":
        risen = b0 * mp.sin(2 * mp.pi * b1 * c) if c < 0.5 else -b0 * mp.sin(2 * mp.pi * b1 * d)
        return c + risen, d - risen
    if name == "log_log_b0_b1":
        hit = min(mp.exp(b0) * c**b1, mpf(1))
        return hit, 1 - hit
    if name == "logflip_logflip_b0_b1":
        miss = min(mp.exp(b0) * d**b1, mpf(1))
        return 1 - miss, miss
    x = {
        "logistic": lambda: b0 + b1 * c,
        "logit_logit_b0_b1": lambda: b0 + b1 * (mp.log(c) - mp.log(d)),
        "logit_logflip_b0_b1": lambda: b0 + b1 * mp.log(d),
    }[name]()
    return 1 / (1 + mp.exp(-x)), 1 / (1 + mp.exp(x))


def _crossings(scenario: Truth) -> list[mpf]:
    """Return the scores in (0, 1) where c = T(c), ascending."""

    def at(x: mpf) -> mpf:
        return gap(scenario, 1 / (1 + mp.exp(-x)), 1 / (1 + mp.exp(x)))

    xs = [mpf(120 * i + 7) / _GRID - 60 for i in range(_GRID)]
    signs = [mp.sign(at(x)) for x in xs]
    roots = []
    for a, b, s, t in zip(xs, xs[1:], signs, signs[1:], strict=False):
        if s * t < 0:
            roots.append(1 / (1 + mp.exp(-mp.findroot(at, (a, b), solver="anderson"))))
    return roots
