"""A second program for the certified values: other algorithms, nothing of the generator.

Samples go into bins by comparing with edges, groups by a dictionary, isotonic fits by the min-max
formula, the smooth error by linear programming, exponentials by mpmath. Fractions throughout, but
for the linear program (float64).
"""

import csv
import itertools
from fractions import Fraction as F
from functools import cache

import numpy as np
from mpmath import mp, mpf
from scipy.optimize import linprog


def rows_of(path):
    """Return (scores, hits, class probabilities or None, labels or None) of a CSV file, exact."""
    header, *rows = csv.reader(path.open(encoding="utf-8"))
    if header == ["score", "hit"]:
        return [F(s) for s, _ in rows], [int(y) for _, y in rows], None, None
    p = [[F(cell) for cell in row[:-1]] for row in rows]
    labels = [int(row[-1]) for row in rows]
    tops = [next(k for k, x in enumerate(row) if x == max(row)) for row in p]
    return (
        [max(row) for row in p],
        [int(t == y) for t, y in zip(tops, labels, strict=True)],
        p,
        labels,
    )


def check(name, options, scores, hits):
    """Return the value of an estimator, exact or (a root, a kernel, the smooth error) a float."""
    n, norm = len(scores), options.get("norm", 1)
    b = options.get("n_bins", 15)
    if name.startswith("skce") or name == "mmce":
        return kernel(name, scores, hits)
    if name == "accuracy":
        return F(hits.count(1), n)
    if name == "overconfidence":
        return sum(s - y for s, y in zip(scores, hits, strict=True)) / n
    if name == "brier_top_label":
        return sum((1 - s if y else s) ** 2 for s, y in zip(scores, hits, strict=True)) / F(n)
    if name in ("ks", "ecce_r"):
        at = [F(0)] + [
            sum((y - s for s, y in zip(scores, hits, strict=True) if s <= cut), F(0)) / n
            for cut in set(scores)
        ]
        return max(max(at), -min(at)) if name == "ks" else max(at) - min(at)
    if name == "averaged_two_bin":
        cuts = sorted({F(0), F(1), *scores})
        middles = [(a, b, (a + b) / 2) for a, b in itertools.pairwise(cuts)]
        pairs = list(zip(scores, hits, strict=True))
        return sum(
            (b - a) * (sum(s - y for s, y in pairs if s < q) ** 2
                       + sum(s - y for s, y in pairs if s >= q) ** 2)
            for a, b, q in middles
        ) / F(n) ** 2  # fmt: skip
    if name == "corp_mcb":
        return isotonic(scores, hits)
    if name == "smce":
        return smooth(scores, hits)
    if name == "calib_err":
        return calib_err(scores, hits)
    kind = name[-2:]
    if name.startswith("tcal"):
        loss = int(name.endswith("sun"))
        total = F(0)
        for members in partition(scores, hits, "ew", b, {}):
            if len(members) > loss:
                r = [hits[i] - scores[i] for i in members]
                pairs = sum(2 * r[i] * r[j] for i in range(len(r)) for j in range(i))
                total += pairs / (len(r) - loss)
        return total / n
    if name.startswith("ece_sweep"):
        b = swept(scores, hits, kind)
    elif "cube_root" in name:
        b = min(k for k in range(1, n + 1) if k * k * k >= n)
    labels = mean_labels(scores, hits) if options.get("ties") == "cut" else [F(y) for y in hits]
    gaps, total = [], F(0)
    for members in partition(scores, hits, kind, b, options):
        size = len(members)
        y = sum(labels[i] for i in members) / size
        gap = sum(scores[i] for i in members) / size - y
        gaps.append(abs(gap))
        if "label_binned" in name:
            total += sum(abs(scores[i] - y) ** norm for i in members)
        elif "debias" not in name:
            total += size * abs(gap) ** norm
        elif size > 1:
            total += size * gap * gap - size * y * (1 - y) / (size - 1)
    total /= n
    if name.startswith("mce"):
        return max(gaps)
    if name.startswith("ece_debias_squared"):
        return total
    if name.startswith("ece_debias"):
        value = mp.sqrt(abs(exact(total))) * (1 if total >= 0 else -1)
        return value if "unclipped" in name else max(value, mpf(0))
    return total if norm == 1 else mp.sqrt(exact(total))


def exact(x):
    """Return an mpmath number of a fraction."""
    return mpf(x.numerator) / x.denominator


def mean_labels(scores, hits):
    """Return each row's mean hit over the rows of its score."""
    groups = {}
    for s, y in zip(scores, hits, strict=True):
        groups.setdefault(s, []).append(y)
    means = {s: F(sum(of_score), len(of_score)) for s, of_score in groups.items()}
    return [means[s] for s in scores]


def partition(scores, hits, kind, b, options):
    """Return the full bins, lists of row numbers, lowest first."""
    n = len(scores)
    order, ends = order_and_ends(tuple(scores))
    if kind == "ew":
        upper = options.get("edge") == "upper"
        edges = [F(k, b) for k in range(1, b)]
        below = {s: sum(e < s if upper else e <= s for e in edges) for s in {*scores}}
        number = [below[s] for s in scores]
    elif closed := options.get("quantile_edge"):
        ascending = sorted(scores)
        edges = []
        for k in range(1, b):
            whole, part = divmod(k * (n - 1), b)
            step = ascending[min(whole + 1, n - 1)] - ascending[whole]
            edges.append(ascending[whole] + F(part, b) * step)
        number = [sum(e < s or (e == s and closed == "lower") for e in edges) for s in scores]
    else:
        rank = {i: r for r, i in enumerate(order)}
        number = [rank[i] * b // n for i in range(n)]
        if "ties" not in options:
            number = whole_groups(order, ends, b)
    bins = {}
    for i in order:
        bins.setdefault(number[i], []).append(i)
    return [bins[k] for k in sorted(bins)]


@cache
def order_and_ends(scores):
    """Return the rows in ascending order, and the ranks where a group begins or ends."""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    steps = (r for r in range(1, len(scores)) if scores[order[r]] != scores[order[r - 1]])
    return order, [0, *steps, len(scores)]


def whole_groups(order, ends, b):
    """Return bin numbers; each boundary inside a group moves to the end with fewer rows to pass."""
    n = len(order)
    cuts = set()
    for rank in range(1, n):
        if rank * b // n > (rank - 1) * b // n:
            cuts.add(min(ends, key=lambda end: (abs(end - rank), -end)))
    numbers = dict(zip(order, itertools.accumulate(int(r in cuts) for r in range(n)), strict=True))
    return [numbers[i] for i in range(n)]


def swept(scores, hits, kind):
    """Return the number of bins of Algorithm 1, by products of counts."""
    for b in range(2, len(scores) + 1):
        bins = partition(scores, hits, kind, b, {})
        counts = [(sum(hits[i] for i in members), len(members)) for members in bins]
        if any(h * m > g * k for (h, k), (g, m) in itertools.pairwise(counts)):
            return b - 1
    return len(scores)


def isotonic(scores, hits):
    """Return the gain of the isotonic fit, by its min-max formula."""
    points = sorted(set(scores))
    sums = {s: (sum(y for t, y in zip(scores, hits, strict=True) if t == s), scores.count(s))
            for s in points}  # fmt: skip
    hit, size = [0], [0]
    for s in points:
        hit.append(hit[-1] + sums[s][0])
        size.append(size[-1] + sums[s][1])
    k = len(points)
    least = {}  # the least mean of [i, j] over j >= at
    for i in range(k):
        lowest = None
        for at in reversed(range(i, k)):
            mean = F(hit[at + 1] - hit[i], size[at + 1] - size[i])
            lowest = mean if lowest is None else min(lowest, mean)
            least[i, at] = lowest
    fit = {s: max(least[i, at] for i in range(at + 1)) for at, s in enumerate(points)}
    pairs = list(zip(scores, hits, strict=True))
    return sum((s - y) ** 2 - (fit[s] - y) ** 2 for s, y in pairs) / F(len(pairs))


def smooth(scores, hits):
    """Return the smooth calibration error by a linear program, a float."""
    points = sorted(set(scores))
    mass = [float(sum(y - s for s, y in zip(scores, hits, strict=True) if s == point))
            for point in points]  # fmt: skip
    steps = np.diff(np.array([float(p) for p in points]))
    differences = np.diff(np.eye(len(points)), axis=0)
    result = linprog(
        -np.array(mass),
        A_ub=np.concatenate([differences, -differences]) if len(points) > 1 else None,
        b_ub=np.concatenate([steps, steps]) if len(points) > 1 else None,
        bounds=(-1, 1),
        method="highs",
    )
    return -result.fun / len(scores)


def calib_err(scores, hits):
    """Return the RMS gap over bins of 100 ranks without the last, labels averaged over groups."""
    n, labels = len(scores), mean_labels(scores, hits)
    order = sorted(range(n), key=lambda i: scores[i])
    total = F(0)
    for k in range(n // 100 - 1):
        total += sum(scores[i] - labels[i] for i in order[100 * k : 100 * k + 100]) ** 2 / 100
    return mp.sqrt(exact(total / n))


def kernel(name, scores, hits):
    """Return the mean over pairs of rows, of two rows or of any, an mpmath number."""
    n = len(scores)
    total = over_pairs(tuple(scores), tuple(hits), "0.4" if name == "mmce" else "0.1")
    if name == "skce_unbiased":
        alone = mp.fsum(exact(y - s) ** 2 for s, y in zip(scores, hits, strict=True))
        return (total - alone) / (n * (n - 1)) if n > 1 else mpf(0)
    return mp.sqrt(total / n**2) if name == "mmce" else total / n**2


@cache
def over_pairs(scores, hits, width):
    """Return the sum of products of residuals times a kernel, over pairs of distinct scores."""
    sums = {}
    for s, y in zip(scores, hits, strict=True):
        sums[s] = sums.get(s, F(0)) + y - s
    points = [(exact(s), exact(r)) for s, r in sums.items()]
    pairs = itertools.combinations(points, 2)
    off = mp.fsum(a * b * mp.exp(-abs(s - t) / mpf(width)) for (s, a), (t, b) in pairs)
    return 2 * off + mp.fsum(r * r for _, r in points)


def of_classes(name, options, p, labels):
    """Return a measure of class probabilities."""
    n, n_classes = len(p), len(p[0])
    if name == "brier":
        return (
            sum(sum(x * x for x in row) - 2 * row[y] + 1 for row, y in zip(p, labels, strict=True))
            / n
        )
    if name == "nll":
        return -mp.fsum(mp.log(exact(row[y])) for row, y in zip(p, labels, strict=True)) / n
    total = F(0)
    for k in range(n_classes):
        column, truth = [row[k] for row in p], [int(y == k) for y in labels]
        for members in partition(column, truth, "ew", 15, options):
            total += abs(sum(column[i] - truth[i] for i in members))
    return total / (n * n_classes)
