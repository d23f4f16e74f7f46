"""Every certified value of a data set, by a key that names the measure and its convention.

A key without options is what ``calbias.estimate(key, scores, hits)`` returns.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

from evidence.certify import exact
from evidence.certify.data import DataSet, top_label
from evidence.certify.exact import Value

DIGITS, WORKING = 17, 80


def values(data: DataSet) -> dict[str, dict]:
    """Return {key: record} of a data set; see ``docs/certified.md`` for the record's fields."""
    scores, hits = top_label(data)
    records: dict[str, dict] = {}

    def put(name, value, estimator=True, **options):
        key = " ".join([name, *(f"{k}={v}" for k, v in options.items())])
        assert key not in records
        records[key] = _record(name, value, options, estimator)

    by_group, by_row = exact.averaged(scores, hits), exact.in_input_order(scores, hits)
    tied = len(set(scores)) < len(scores)
    for b in data.n_bins:
        n_bins = {} if b == 15 else {"n_bins": b}
        _binned(put, by_group, by_row, b, n_bins, tied)
    _without_bins(put, by_group, tied)
    for name, bandwidth in (("skce_biased", "0.1"), ("skce_unbiased", "0.1"), ("mmce", "0.4")):
        put(name, _kernel(scores, hits, Fraction(bandwidth), name))
    n = len(scores)
    put("accuracy", Value(Fraction(sum(hits), n)), estimator=False)
    put("overconfidence", Value((sum(scores) - sum(hits)) / n), estimator=False)
    squares = sum((s - y) ** 2 for s, y in zip(scores, hits, strict=True))
    put("brier_top_label", Value(squares / n), estimator=False)
    if data.columns != ("score", "hit"):
        _of_classes(put, data)
    return records


def _binned(put, by_group, by_row, b, n_bins, tied):
    whole = {"ew": exact.equal_width(by_group, b), "em": exact.equal_mass(by_group, b)}
    for kind, bins in whole.items():
        used = len(bins) if kind == "em" and tied else b
        for norm in (1, 2):
            options = n_bins | ({} if norm == 1 else {"norm": norm})
            put(f"ece_bin_{kind}", exact.ece_bin(bins, norm)._replace(n_bins=used), **options)
            value = exact.ece_label_binned(bins, norm)._replace(n_bins=used)
            put(f"ece_label_binned_{kind}", value, **options)
        square = exact.debiased_square(bins)
        put(f"ece_debias_{kind}", Value(max(square, Fraction(0)), 2, used), **n_bins)
        put(f"ece_debias_unclipped_{kind}", Value(square, 2, used), **n_bins)
        put(f"ece_debias_squared_{kind}", Value(square, 1, used), **n_bins)
        put(f"mce_{kind}", exact.mce(bins)._replace(n_bins=used), **n_bins)
    put("tcal", exact.tcal(by_group, whole["ew"], 0), **n_bins)
    put("tcal_sun", exact.tcal(by_group, whole["ew"], 1), **n_bins)
    others = {
        ("ew", "edge", "upper"): (exact.equal_width(by_group, b, "upper"), False),
        ("em", "ties", "input_order"): (exact.equal_mass(by_row, b, whole=False), True),
        ("em", "ties", "cut"): (exact.equal_mass(by_group, b, whole=False), False),
        ("em", "quantile_edge", "lower"): (exact.quantile_bins(by_group, b, "lower"), False),
        ("em", "quantile_edge", "upper"): (exact.quantile_bins(by_group, b, "upper"), False),
    }
    for (kind, option, choice), (bins, ours) in others.items():
        for norm in (1, 2):
            options = n_bins | ({} if norm == 1 else {"norm": norm}) | {option: choice}
            put(f"ece_bin_{kind}", exact.ece_bin(bins, norm), ours, **options)
        square = max(exact.debiased_square(bins), Fraction(0))
        put(f"ece_debias_{kind}", Value(square, 2), ours, **n_bins, **{option: choice})


def _without_bins(put, samples, tied):
    for kind, make in (("ew", exact.equal_width), ("em", exact.equal_mass)):
        b = exact.cube_root(len(samples))
        bins = make(samples, b)
        used = len(bins) if kind == "em" and tied else b
        for norm in (1, 2):
            options = {} if norm == 1 else {"norm": norm}
            swept = exact.sweep(samples, make, norm)
            if kind == "em" and tied:
                swept = swept._replace(n_bins=len(make(samples, swept.n_bins)))
            put(f"ece_sweep_{kind}", swept, **options)
            value = exact.ece_bin(bins, norm)._replace(n_bins=used)
            put(f"ece_bin_cube_root_{kind}", value, **options)
    path = exact.walk(samples)
    put("ks", Value(max(map(abs, path))))
    put("ecce_r", Value(max(path) - min(path)))
    put("averaged_two_bin", exact.averaged_two_bin(samples))
    put("corp_mcb", exact.isotonic_gain(samples))
    put("smce", exact.smooth_error(samples))
    put("calib_err", exact.calib_err(samples))


def _kernel(scores, hits, bandwidth, name):
    """Return the kernel sum as a Decimal: exponentials have no exact fraction."""
    n = len(scores)
    residuals: dict[Fraction, Fraction] = {}
    for s, y in zip(scores, hits, strict=True):
        residuals[s] = residuals.get(s, Fraction(0)) + y - s
    alone = sum((y - s) ** 2 for s, y in zip(scores, hits, strict=True))
    with localcontext(prec=WORKING):
        total = Decimal(0)
        for s, r in residuals.items():
            for t, q in residuals.items():
                total += _decimal(r * q) * (-_decimal(abs(s - t) / bandwidth)).exp()
        if name == "skce_unbiased":
            return (total - _decimal(alone)) / (n * (n - 1)) if n > 1 else Decimal(0)
        return (total / n**2).sqrt() if name == "mmce" else total / n**2


def _of_classes(put, data):
    rows = [([Fraction(cell) for cell in cells], int(label)) for *cells, label in data.rows]
    n, n_classes = len(rows), len(data.columns) - 1
    brier = sum(
        (p - (k == label)) ** 2 for cells, label in rows for k, p in enumerate(cells)
    ) / Fraction(n)
    put("brier", Value(brier), estimator=False)
    for edge in ("lower", "upper"):
        errors = []
        for k in range(n_classes):
            of_class = exact.averaged([cells[k] for cells, _ in rows],
                                      [int(label == k) for _, label in rows])  # fmt: skip
            errors.append(exact.ece_bin(exact.equal_width(of_class, 15, edge), 1).exact)
        options = {} if edge == "lower" else {"edge": edge}
        put("classwise_ece", Value(sum(errors) / n_classes), estimator=False, **options)
    with localcontext(prec=WORKING):
        put("nll", -sum(_decimal(cells[label]).ln() for cells, label in rows) / n, estimator=False)


def _record(name, value, options, estimator):
    record = {"measure": name, "options": options, "calbias": estimator}
    if isinstance(value, Decimal):
        return record | {"exact": None, "root": None, "value": digits(value)}
    record |= {"exact": str(value.exact), "root": value.root, "value": digits(rooted(value))}
    return record if value.n_bins is None else record | {"n_bins": value.n_bins}


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
