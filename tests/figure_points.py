"""Made-up tables of figures, and what figures draw of them: for tests of every figure.

A number of a toy depends on the names of its table and column alone: another column, table or
figure changes no other number.
"""

import importlib
import itertools

import numpy as np
from command import crossed
from matplotlib.container import BarContainer

from calbias.engine.seeding import stream
from pipeline.figures import style

SIZES, TWO = [200, 1000], ["ece_bin_ew", "ece_sweep_em"]
MODELS = ["resnet110_c10", "resnet_wide32_c100", "resnet152_imgnet"]
CONSTANT = {
    "source": "real_logits", "simulated_source": "simulation", "curve": "power", "b0": 0.0,
    "b1": 2.0, "beta": 0.7, "norm": 2, "glm": "logit_logit_b0_b1", "selected": True,
    "n_replicates": 1000, "n_data_sets": 100, "n_streams": 100, "nominal": 0.95, "target": "l1",
    "information_limit": np.nan,
}  # fmt: skip
BETWEEN = {  # ends of columns: of a range or of a kind
    "_se": (0.001, 0.002), "_se_percent": (0.001, 0.002), "tce_low_percent": (1, 2),
    "tce_percent": (2, 3), "tce_high_percent": (3, 4), "bias_percent": (-9, 9), "low": (0.2, 0.4),
    "coverage": (0.4, 0.6), "high": (0.6, 0.9), "_percent": (1, 9), "delay_of_90_in_100": (90, 99),
    "_delay": (30, 60), "alarms": (3, 9), "n_samples": (300, 900), "n_in_bin": (30, 60),
    "rejection_rate": (0.05, 0.15), "": (0, 1),
}  # fmt: skip
EXTRA = {0.0, 0.01, 1.0, -1.0, 100.0}  # ends of axes, and shares of one bin
FORMULA = 200  # points from which a line is a formula's
TITLES = {  # what a panel's title calls the rows that it shows
    "estimator": {"ece_bin_ew": "ECE bin, equal width", "ece_sweep_em": "ECE sweep, equal mass"},
    "scenario": {model: f"Beta({k + 1.5:g}, 0.7)" for k, model in enumerate(MODELS)},
    "n_samples": {n: f"n = {n}" for n in SIZES},
    **{column: {model: model for model in MODELS} for column in ("group", "model")},
}


def filled(stem, table, constant=CONSTANT):
    """Return a table whose measured numbers, in columns without any, are all different."""
    for column in table.columns[table.isna().all()]:
        if column in ("group", "entry"):
            table[column] = table.get("scenario", table.get("estimator"))
            continue
        end = next(end for end in BETWEEN if column.endswith(end))
        values = stream(5, stem, column).uniform(*BETWEEN[end], len(table))
        if column == "alpha":
            values = table.get("scenario", table.get("model")).map(
                dict(zip(MODELS, (1.5, 2.5, 3.5), strict=True))
            )
        integer = column.startswith(("n_", "alarms"))
        table[column] = constant.get(column, values.round() if integer else values)
    return table


def toys(keys, constant=CONSTANT):
    """Return {table: its toy} of {table: {column: values}}."""
    return {stem: filled(stem, crossed(stem, columns), constant) for stem, columns in keys.items()}


def is_shown(row, title, titles):
    """Return whether a panel of this title is about a row, or does not say."""
    stated = [
        column
        for column, words in titles.items()
        if column in row and any(word in f" {title} " for word in words.values())
    ]
    return all(titles[column].get(row[column], "?") in f" {title} " for column in stated)


def numbers_of(row, columns):
    """Return the numbers of a row, also in percent, and two standard errors beside each."""
    errors = [row[x] for x in row if x.endswith(("_se", "_se_percent"))]
    numbers = [row[x] for x in columns.split() if x in row]
    numbers += [x + 2 * sign * s for x in numbers for s in errors for sign in (-1, 1)]
    return EXTRA | {round(float(x) * scale, 6) for x in numbers for scale in (1, 100)}


def points_of(axes, derived):
    """Yield the points (k, 2) that are drawn, without references; NaN along a line across all."""
    for line in axes.lines:
        is_reference = line.get_color() == style.REFERENCE["color"] or line.get_marker() == "*"
        points = line.get_xydata().astype(float)
        if line.get_transform() is not axes.transData:
            points[:, 1 if points[0, 0] == points[-1, 0] else 0] = np.nan
        if not is_reference:
            yield points
    for bars in axes.collections:
        if not isinstance(bars, derived):
            yield from (path.vertices for path in bars.get_paths())
    for bars in axes.containers:
        for bar in bars if isinstance(bars, BarContainer) else ():
            (left, _), (right, top) = bar.get_bbox().get_points()
            yield np.array([(left, top), (right, top)])
    for image in axes.images:
        cells = image.get_array().compressed()
        yield np.c_[np.full(cells.size, np.nan), cells]


def drawn(entry, tables, **options):
    """Return a figure of the catalogue on some of these tables."""
    draw = importlib.import_module(entry.module).draw
    needed = {stem: tables[stem] for stem in entry.tables}
    return style.drawn(draw, needed, **(entry.options | options))


def changed(entry, tables, stem, change, **options):
    """Return a figure on the tables with a change of one."""
    return drawn(entry, {**tables, stem: change(tables[stem])}, **options)


def words_of(made):
    """Return all texts of a figure."""
    return [text.get_text() for text in made.findobj(lambda artist: hasattr(artist, "get_text"))]


def misplaced(made, tables, columns, derived=(), titles=TITLES):
    """Return the points that are no numbers of these columns, and how many such numbers are shown.

    ``columns`` are those along x and along y; ``derived`` are kinds of artists to leave out.
    """
    rows = [row for table in tables for row in table.to_dict("records")]
    numbers = [[numbers_of(row, names) for names in columns] for row in rows]
    shown, wrong = set(), []
    for axes in (axes for axes in made.axes if not axes.get_label()):
        title = axes.get_title("left")
        pairs = zip(rows, numbers, strict=True)
        candidates = [xy for row, xy in pairs if is_shown(row, title, titles)]
        lines = points_of(axes, derived)
        for point in itertools.chain(*(x.round(6).tolist() for x in lines if len(x) < FORMULA)):
            asked = [(value, k) for k, value in enumerate(point) if columns[k]]
            asked = [(value, k) for value, k in asked if np.isfinite(value)]
            shown |= set(asked)
            if not any(all(value in xy[k] for value, k in asked) for xy in candidates):
                wrong.append((title, point))
    values = ({(round(float(row[x]) * s, 6), k) for x in xs.split() if x in row for s in (1, 100)}
              for row in rows for k, xs in enumerate(columns))  # fmt: skip
    return wrong, len(shown & set().union(*values))
