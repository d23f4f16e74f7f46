"""The certified values: every measure of small data sets by its definition, in exact fractions.

``python scripts/evidence/certified.py`` computes the values of ``resources/certified`` again: the
data sets are the CSV files, ``values.json`` names them with the measures and their options. No code
of calbias takes part. To add a data set, add its file and its head; to add a value, its key.

A measure returns a ``Value``: the fraction, the root to take of it, and the number of bins used.
Samples are (score, label) in ascending order; a label is a Fraction, the group's mean hit where
groups of equal scores are averaged. The truths of scenarios are closed forms in fractions, else
integrals by mpmath with 40 digits: the integral of |c − T(c)|^p over a Beta distribution is split
at 1/2, at its kinks and where c = T(c), with u = c^α below 1/2 and u = (1 − c)^β above, so that no
power is infinite at an end. Both c and 1 − c are passed on: a score next to 1 keeps its distance.
"""

import bisect
import csv
import hashlib
import itertools
import json
import math
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from mpmath import mp, mpf

FOLDER = Path(__file__).parents[2] / "resources/certified"
DIGITS, WORKING, PRECISION = 17, 80, 40
_GRID = 2000  # steps in which crossings are looked for, on the log-odds from -60 to 60

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


def equal_mass(samples: list[Sample], b: int, whole: bool = True) -> Bins:
    """Rank i in bin floor(i·b/n); ``whole``: a boundary in a group moves to its nearer end."""
    n = len(samples)
    cuts = [-(-k * n // b) for k in range(b + 1)]
    if whole:
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
    n, bins = len(samples), [[] for _ in range(b)]
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


def _means(rows: list[Sample]) -> tuple[Fraction, Fraction]:
    return sum(s for s, _ in rows) / len(rows), sum(y for _, y in rows) / len(rows)


def _gap(rows: list[Sample]) -> Fraction:
    return abs(sum(s - y for s, y in rows)) / len(rows)


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


def sweep(samples: list[Sample], make_bins, norm: int) -> Value:
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
            squares = sum(s * s + y * (1 - 2 * s) for s, y in rows)
            total += (sum(y - s for s, y in rows) ** 2 - squares) / (len(rows) - loss)
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
    whole, below, total, before = sum(s - y for s, y in samples), Fraction(0), Fraction(0), 0
    for s, y in samples:
        total += (s - before) * (below**2 + (whole - below) ** 2)
        below, before = below + s - y, s
    total += (1 - before) * whole**2
    return Value(total / Fraction(len(samples)) ** 2)


def isotonic_gain(samples: list[Sample]) -> Value:
    """Brier(s) − Brier(isotonic fit), by pooling adjacent violators."""
    blocks: list[list[Fraction]] = []  # sum of labels, size
    for _, rows in itertools.groupby(samples, key=lambda sample: sample[0]):
        labels = [y for _, y in rows]
        blocks.append([sum(labels), Fraction(len(labels))])
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


def contents(folder: Path = FOLDER) -> dict[str, Any]:
    """Return ``values.json``: format, data_sets and truths."""
    known: dict[str, Any] = json.loads((folder / "values.json").read_text(encoding="utf-8"))
    return known


def data_sets(folder: Path = FOLDER) -> list[DataSet]:
    """Return all certified data sets with their values."""
    return [_read(folder / head["file"], head) for head in contents(folder)["data_sets"]]


def _read(path: Path, head: dict[str, Any]) -> DataSet:
    columns, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    cells = [([Fraction(cell) for cell in row[:-1]], int(row[-1])) for row in rows]
    classes = cells if columns[-1] == "label" else []
    scores = [max(p) for p, _ in cells]
    hits = [int(p.index(max(p)) == y) if classes else y for p, y in cells]
    return DataSet(head["name"], scores, hits, classes, head["values"])


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
            return -sum((_decimal(p[y]).ln() for p, y in data.classes), Decimal(0)) / n
    path = walk(samples)
    pairs = list(zip(data.scores, data.hits, strict=True))
    measures = {
        "tcal": lambda: tcal(samples, equal_width(samples, options.get("n_bins", 15)), 0),
        "tcal_sun": lambda: tcal(samples, equal_width(samples, options.get("n_bins", 15)), 1),
        "ks": lambda: Value(max(map(abs, path))),
        "ecce_r": lambda: Value(max(path) - min(path)),
        "averaged_two_bin": lambda: averaged_two_bin(samples),
        "corp_mcb": lambda: isotonic_gain(samples),
        "smce": lambda: smooth_error(samples),
        "calib_err": lambda: calib_err(samples),
        "accuracy": lambda: Value(Fraction(sum(data.hits), n)),
        "overconfidence": lambda: Value((sum(data.scores) - sum(data.hits)) / n),
        "brier_top_label": lambda: Value(sum((s - y) ** 2 for s, y in pairs) / n),
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
        return swept._replace(n_bins=len(make(samples, swept.n_bins))) if is_cut else swept
    b = cube_root(len(samples)) if name == "ece_bin_cube_root" else options.get("n_bins", 15)
    match options:
        case {"edge": edge}:
            bins = equal_width(samples, b, edge)
        case {"quantile_edge": edge}:
            bins = quantile_bins(samples, b, edge)
        case {"ties": "input_order"}:
            bins = equal_mass(in_input_order(data.scores, data.hits), b, whole=False)
        case {"ties": "cut"}:
            bins = equal_mass(samples, b, whole=False)
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
                total += _decimal(r * q) * (-_decimal(abs(s - t) / bandwidth)).exp()
        if name == "skce_unbiased":
            return (total - _decimal(alone)) / (n * (n - 1)) if n > 1 else Decimal(0)
        return (total / n**2).sqrt() if name == "mmce" else total / n**2


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


def _mean(scenario: Truth, norm: int):
    alpha, beta = mpf(scenario.alpha), mpf(scenario.beta)

    def low(u):
        c = u ** (1 / alpha)
        return abs(gap(scenario, c, 1 - c)) ** norm * (1 - c) ** (beta - 1) / alpha

    def high(w):
        d = w ** (1 / beta)
        return abs(gap(scenario, 1 - d, d)) ** norm * (1 - d) ** (alpha - 1) / beta

    cuts = _crossings(scenario)
    half = mpf(1) / 2
    below = [mpf(0), *(c**alpha for c in cuts if c < half), half**alpha]
    above = [mpf(0), *((1 - c) ** beta for c in reversed(cuts) if c > half), half**beta]
    return (mp.quad(low, below) + mp.quad(high, above)) / mp.beta(alpha, beta)


def gap(scenario: Truth, c, d):
    """Return c − T(c) of a score c with d = 1 − c."""
    hit, miss = hit_and_miss(scenario, c, d)
    return miss - d if c > 0.5 else c - hit


def hit_and_miss(scenario: Truth, c, d):
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


def _crossings(scenario: Truth) -> list:
    """Return the scores in (0, 1) where c = T(c), ascending."""

    def at(x):
        return gap(scenario, 1 / (1 + mp.exp(-x)), 1 / (1 + mp.exp(x)))

    xs = [mpf(120 * i + 7) / _GRID - 60 for i in range(_GRID)]
    signs = [mp.sign(at(x)) for x in xs]
    roots = []
    for a, b, s, t in zip(xs, xs[1:], signs, signs[1:], strict=False):
        if s * t < 0:
            roots.append(1 / (1 + mp.exp(-mp.findroot(at, (a, b), solver="anderson"))))
    return roots


def _numbers(value: Value | Decimal) -> dict[str, Any]:
    """Return the fields exact, root, value and n_bins of a record."""
    if isinstance(value, Decimal):
        return {"exact": None, "root": None, "value": digits(value)}
    numbers = {"exact": str(value.exact), "root": value.root, "value": digits(rooted(value))}
    return numbers if value.n_bins is None else numbers | {"n_bins": value.n_bins}


def rooted(value: Value) -> Decimal:
    """Return the value to the working precision."""
    with localcontext(prec=WORKING):
        x = _decimal(value.exact)
        return x if value.root == 1 else (abs(x).sqrt()).copy_sign(x)


def digits(value: Decimal) -> str:
    """Return a number with 17 significant digits; trailing zeros are dropped."""
    with localcontext(prec=DIGITS):
        rounded = +value
    return "0" if rounded == 0 else str(rounded.normalize())


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def computed(folder: Path = FOLDER) -> str:
    """Return the text of ``values.json`` with every value computed again, one in a line."""
    known, blocks = contents(folder), []
    for head, data in zip(known["data_sets"], data_sets(folder), strict=True):
        lines = []
        for key, record in data.values.items():
            named = {name: record[name] for name in ("measure", "options", "calbias")}
            value = value_of(record["measure"], record["options"], data)
            lines.append(f"  {json.dumps(key)}: {json.dumps(named | _numbers(value))}")
        text = json.dumps({k: v for k, v in head.items() if k != "values"}, ensure_ascii=False)
        blocks.append(text[:-1] + ', "values": {\n' + ",\n".join(lines) + "\n }}")
    truths = []
    for record in known["truths"]:
        named = {name: record[name] for name in (*Truth._fields, "norm")}
        value = truth(Truth(*(record[name] for name in Truth._fields)), record["norm"])
        truths.append(json.dumps(named | _numbers(value)))
    return (
        f'{{"format": {known["format"]}, "data_sets": [\n'
        + ",\n".join(blocks)
        + '\n], "truths": [\n'
        + ",\n".join(truths)
        + "\n]}\n"
    )


def main(folder: Path = FOLDER) -> None:
    """Write ``values.json`` and ``SHA256SUMS`` of a folder."""
    (folder / "values.json").write_text(computed(folder), encoding="utf-8", newline="\n")
    files = sorted([*folder.glob("*.csv"), folder / "values.json"], key=lambda path: path.name)
    sums = "".join(f"{hashlib.sha256(x.read_bytes()).hexdigest()}  {x.name}\n" for x in files)
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
