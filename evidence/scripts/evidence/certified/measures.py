"""The certified measures by their definitions, in exact fractions.

A measure returns a ``Value``: the fraction, the root to take of it, and the number of bins used.
Samples are (score, label) in ascending order; a label is a Fraction, the group's mean hit where
groups of equal scores are averaged.
"""

import bisect
import itertools
import math
from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

WORKING = 80  # digits

Sample = tuple[Fraction, Fraction]
Bins = list[list[Sample]]


class Value(NamedTuple):
    """``sign(exact)·|exact|^(1/root)``."""

    exact: Fraction
    root: int = 1
    n_bins: int | None = None


def averaged(scores: list[Fraction], hits: list[int]) -> list[Sample]:
    """Return the samples in ascending order; equal scores have their mean hit."""
    groups: dict[Fraction, list[int]] = {}
    for score, hit in zip(scores, hits, strict=True):
        groups.setdefault(score, []).append(hit)
    return [
        (score, Fraction(sum(groups[score]), len(groups[score])))
        for score in sorted(groups)
        for _ in groups[score]
    ]


def in_input_order(scores: list[Fraction], hits: list[int]) -> list[Sample]:
    """Return the samples in ascending order; equal scores stay in the order of the rows."""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    return [(scores[i], Fraction(hits[i])) for i in order]


def equal_width(samples: list[Sample], b: int, edge: str = "lower") -> Bins:
    """Bins [k/b, (k+1)/b) with 1 in the last, or (k/b, (k+1)/b] with 0 in the first."""
    bins: Bins = [[] for _ in range(b)]
    for score, label in samples:
        k = math.floor(score * b) if edge == "lower" else math.ceil(score * b) - 1
        bins[min(max(k, 0), b - 1)].append((score, label))
    return [rows for rows in bins if rows]


def equal_mass(samples: list[Sample], b: int, keep_groups: bool = True) -> Bins:
    """Rank i in bin floor(i·b/n); ``keep_groups``: a boundary within one goes to its nearer end."""
    n = len(samples)
    cuts = [-(-k * n // b) for k in range(b + 1)]
    if keep_groups:
        ends = [i for i in range(n + 1) if i in (0, n) or samples[i - 1][0] != samples[i][0]]
        cuts = [_nearer(ends, cut) for cut in cuts]
    return [samples[i:j] for i, j in itertools.pairwise(cuts) if j > i]


def _nearer(ends: list[int], cut: int) -> int:
    above = bisect.bisect_left(ends, cut)
    if ends[above] == cut:
        return cut
    below = ends[above - 1]
    return ends[above] if ends[above] - cut <= cut - below else below


def quantile_bins(samples: list[Sample], b: int, edge: str) -> Bins:
    """Inner edges at the quantiles k/b, linear between ranks; ``edge`` is the closed end."""
    n = len(samples)
    bins: Bins = [[] for _ in range(b)]
    edges = []
    for k in range(1, b):
        at = Fraction(k, b) * (n - 1)
        i = math.floor(at)
        j = min(i + 1, n - 1)
        edges.append(samples[i][0] + (at - i) * (samples[j][0] - samples[i][0]))
    for sample in samples:
        k = sum(e <= sample[0] if edge == "lower" else e < sample[0] for e in edges)
        bins[k].append(sample)
    return [rows for rows in bins if rows]


def _sum(terms: Iterable[Fraction]) -> Fraction:
    return sum(terms, Fraction(0))


def _means(rows: list[Sample]) -> tuple[Fraction, Fraction]:
    return _sum(s for s, _ in rows) / len(rows), _sum(y for _, y in rows) / len(rows)


def _gap(rows: list[Sample]) -> Fraction:
    return abs(_sum(s - y for s, y in rows)) / len(rows)


def _n(bins: Bins) -> int:
    return sum(len(rows) for rows in bins)


def ece_bin(bins: Bins, norm: int) -> Value:
    """(Σ n_k/n |f_k − y_k|^p)^(1/p)."""
    return Value(sum(len(rows) * _gap(rows) ** norm for rows in bins) / Fraction(_n(bins)), norm)


def ece_label_binned(bins: Bins, norm: int) -> Value:
    """(1/n Σ |s_i − y_k(i)|^p)^(1/p)."""
    total = sum(abs(s - _means(rows)[1]) ** norm for rows in bins for s, _ in rows)
    return Value(total / Fraction(_n(bins)), norm)


def debiased_square(bins: Bins) -> Fraction:
    """Σ n_k/n [(f_k − y_k)² − y_k(1 − y_k)/(n_k − 1)] over bins of two or more."""
    total = Fraction(0)
    for rows in bins:
        if len(rows) > 1:
            y = _means(rows)[1]
            total += len(rows) * (_gap(rows) ** 2 - y * (1 - y) / (len(rows) - 1))
    return total / _n(bins)


def mce(bins: Bins) -> Value:
    """max |f_k − y_k|."""
    return Value(max(_gap(rows) for rows in bins))


def sweep(
    samples: list[Sample], make_bins: Callable[[list[Sample], int], Bins], norm: int
) -> Value:
    """ECE_bin at the last b = 2, 3, …, n up to which the bins' mean labels never decrease."""
    last = 1
    for b in range(2, len(samples) + 1):
        means = [_means(rows)[1] for rows in make_bins(samples, b)]
        if any(after < before for before, after in itertools.pairwise(means)):
            break
        last = b
    bins = make_bins(samples, last)
    return ece_bin(bins, norm)._replace(n_bins=last)


def tcal(samples: list[Sample], bins: Bins, loss: int) -> Value:
    """1/n Σ_b [(Σ r)² − Σ r²]/(n_b − loss) with r = y − s; Σ r² uses that y is 0 or 1."""
    total = Fraction(0)
    for rows in bins:
        if len(rows) > loss:
            squares = _sum(s * s + y * (1 - 2 * s) for s, y in rows)
            total += (_sum(y - s for s, y in rows) ** 2 - squares) / (len(rows) - loss)
    return Value(total / len(samples))


def walk(samples: list[Sample]) -> list[Fraction]:
    """C_0 = 0 and C_k at the last sample of each group of equal scores."""
    path, total = [Fraction(0)], Fraction(0)
    for i, (s, y) in enumerate(samples):
        total += y - s
        if i + 1 == len(samples) or samples[i + 1][0] != s:
            path.append(total / len(samples))
    return path


def averaged_two_bin(samples: list[Sample]) -> Value:
    """1/n² ∫ [(Σ_{s < q} (s − y))² + (Σ_{s ≥ q} (s − y))²] dq over [0, 1]."""
    all_gaps, below, total, before = _sum(s - y for s, y in samples), *[Fraction(0)] * 3
    for s, y in samples:
        total += (s - before) * (below**2 + (all_gaps - below) ** 2)
        below, before = below + s - y, s
    total += (1 - before) * all_gaps**2
    return Value(total / Fraction(len(samples)) ** 2)


def isotonic_gain(samples: list[Sample]) -> Value:
    """Brier(s) − Brier(isotonic fit), by pooling adjacent violators."""
    blocks: list[list[Fraction]] = []  # sum of labels, size
    for _, rows in itertools.groupby(samples, key=lambda sample: sample[0]):
        labels = [y for _, y in rows]
        blocks.append([_sum(labels), Fraction(len(labels))])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            top = blocks.pop()
            blocks[-1] = [a + c for a, c in zip(blocks[-1], top, strict=True)]
    fit = [total / size for total, size in blocks for _ in range(int(size))]
    gain = sum(s * s - p * p - 2 * y * (s - p) for (s, y), p in zip(samples, fit, strict=True))
    return Value(gain / Fraction(len(samples)))


def smooth_error(samples: list[Sample]) -> Value:
    """max 1/n Σ η(s_i)(y_i − s_i) over 1-Lipschitz |η| ≤ 1.

    V(x), the best sum with η = x at the present score, is concave and linear between its points. A
    step of d to the next score replaces V(x) by its maximum over [x − d, x + d].
    """
    one = Fraction(1)
    points = [(-one, Fraction(0)), (one, Fraction(0))]
    before = samples[0][0]
    for score, rows in itertools.groupby(samples, key=lambda sample: sample[0]):
        points = _widened(points, score - before)
        before = score
        mass = sum(y - s for s, y in rows)
        points = [(x, v + mass * x) for x, v in points]
    return Value(max(v for _, v in points) / len(samples))


def _widened(points: list[Sample], d: Fraction) -> list[Sample]:
    top = max(v for _, v in points)
    first = next(i for i, (_, v) in enumerate(points) if v == top)
    last = max(i for i, (_, v) in enumerate(points) if v == top)
    moved = [(x - d, v) for x, v in points[: first + 1]] + [(x + d, v) for x, v in points[last:]]
    low, high = Fraction(-1), Fraction(1)
    kept = [(x, v) for x, v in moved if low <= x <= high]
    for end in (low, high):
        if all(x != end for x, _ in kept):
            kept.append((end, _at(moved, end)))
    return sorted(kept)


def _at(points: list[Sample], x: Fraction) -> Fraction:
    for (a, v), (b, w) in itertools.pairwise(points):
        if a <= x <= b:
            return v if a == b else v + (w - v) * (x - a) / (b - a)
    raise ValueError(x)


def calib_err(samples: list[Sample]) -> Value:
    """√(Σ 100/n gap²) over bins of 100 ranks without the last; 0 of fewer than 200 rows."""
    n = len(samples)
    bins = [samples[100 * k : 100 * (k + 1)] for k in range(max(n // 100 - 1, 0))]
    return Value(sum((Fraction(100, n) * _gap(rows) ** 2 for rows in bins), Fraction(0)), 2,
                 len(bins))  # fmt: skip


def cube_root(n: int) -> int:
    """⌈n^(1/3)⌉."""
    return next(b for b in itertools.count(1) if b**3 >= n)


class DataSet(NamedTuple):
    """A file's exact scores and hits, of the first largest class, and rows of class probabilities.

    ``values`` is {key: record}; a record has measure, options, exact, root, value and n_bins.
    """

    name: str
    scores: list[Fraction]
    hits: list[int]
    classes: list[tuple[list[Fraction], int]]
    values: dict[str, dict[str, Any]]


def value_of(measure: str, options: dict[str, Any], data: DataSet) -> Value | Decimal:
    """Return the value of a measure with its options on a data set."""
    samples, n = averaged(data.scores, data.hits), len(data.scores)
    name, _, kind = measure.rpartition("_")
    if kind in ("ew", "em"):
        return _binned(name, kind, options, samples, data)
    if measure in ("skce_biased", "skce_unbiased", "mmce"):
        return _kernel(measure, data, Fraction("0.4" if measure == "mmce" else "0.1"))
    if measure == "nll":
        with localcontext(prec=WORKING):
            return -sum((decimal_of(p[y]).ln() for p, y in data.classes), Decimal(0)) / n
    path = walk(samples)
    pairs = list(zip(data.scores, data.hits, strict=True))
    measures: dict[str, Callable[[], Value]] = {
        "tcal": lambda: tcal(samples, equal_width(samples, options.get("n_bins", 15)), 0),
        "tcal_sun": lambda: tcal(samples, equal_width(samples, options.get("n_bins", 15)), 1),
        "ks": lambda: Value(max(map(abs, path))),
        "ecce_r": lambda: Value(max(path) - min(path)),
        "averaged_two_bin": lambda: averaged_two_bin(samples),
        "corp_mcb": lambda: isotonic_gain(samples),
        "smce": lambda: smooth_error(samples),
        "calib_err": lambda: calib_err(samples),
        "accuracy": lambda: Value(Fraction(sum(data.hits), n)),
        "overconfidence": lambda: Value((_sum(data.scores) - sum(data.hits)) / n),
        "brier_top_label": lambda: Value(_sum((s - y) ** 2 for s, y in pairs) / n),
        "brier": lambda: Value(
            sum((x - (k == y)) ** 2 for p, y in data.classes for k, x in enumerate(p)) / Fraction(n)
        ),
        "classwise_ece": lambda: _classwise(data, options.get("edge", "lower")),
    }
    return measures[measure]()


def _binned(
    name: str, kind: str, options: dict[str, Any], samples: list[Sample], data: DataSet
) -> Value:
    """Return a measure of equal-width or equal-mass bins, of the convention in its options."""
    norm = options.get("norm", 1)
    make = equal_width if kind == "ew" else equal_mass
    is_cut = kind == "em" and len(set(data.scores)) < len(data.scores)
    if name == "ece_sweep":
        swept = sweep(samples, make, norm)
        return swept._replace(n_bins=len(make(samples, swept.n_bins or 1))) if is_cut else swept
    b = cube_root(len(samples)) if name == "ece_bin_cube_root" else options.get("n_bins", 15)
    match options:
        case {"edge": edge}:
            bins = equal_width(samples, b, edge)
        case {"quantile_edge": edge}:
            bins = quantile_bins(samples, b, edge)
        case {"ties": "input_order"}:
            bins = equal_mass(in_input_order(data.scores, data.hits), b, keep_groups=False)
        case {"ties": "cut"}:
            bins = equal_mass(samples, b, keep_groups=False)
        case _:
            bins = make(samples, b)
    square = debiased_square(bins)
    value = {
        "ece_bin": lambda: ece_bin(bins, norm),
        "ece_bin_cube_root": lambda: ece_bin(bins, norm),
        "ece_label_binned": lambda: ece_label_binned(bins, norm),
        "ece_debias": lambda: Value(max(square, Fraction(0)), 2),
        "ece_debias_unclipped": lambda: Value(square, 2),
        "ece_debias_squared": lambda: Value(square),
        "mce": lambda: mce(bins),
    }[name]()
    if {"edge", "quantile_edge", "ties"} & {*options}:
        return value
    return value._replace(n_bins=len(bins) if is_cut else b)


def _classwise(data: DataSet, edge: str) -> Value:
    total, n_classes = Fraction(0), len(data.classes[0][0])
    for k in range(n_classes):
        samples = averaged([p[k] for p, _ in data.classes], [int(y == k) for _, y in data.classes])
        total += ece_bin(equal_width(samples, 15, edge), 1).exact
    return Value(total / n_classes)


def _kernel(name: str, data: DataSet, bandwidth: Fraction) -> Decimal:
    """Return the kernel sum as a Decimal: exponentials have no exact fraction."""
    n, residuals, alone = len(data.scores), dict[Fraction, Fraction](), Fraction(0)
    for s, y in zip(data.scores, data.hits, strict=True):
        residuals[s] = residuals.get(s, Fraction(0)) + y - s
        alone += (y - s) ** 2
    with localcontext(prec=WORKING):
        total = Decimal(0)
        for s, r in residuals.items():
            for t, q in residuals.items():
                total += decimal_of(r * q) * (-decimal_of(abs(s - t) / bandwidth)).exp()
        if name == "skce_unbiased":
            return (total - decimal_of(alone)) / (n * (n - 1)) if n > 1 else Decimal(0)
        return (total / n**2).sqrt() if name == "mmce" else total / n**2


def decimal_of(x: Fraction) -> Decimal:
    """Return a fraction to the precision in use."""
    return Decimal(x.numerator) / Decimal(x.denominator)
