"""What a figure shows, as lines of text: words, ticks, points and the looks that tell them apart.

Sizes, widths, margins and positions of legends are no part of it; limits are where they are set. A
panel that differs from an earlier one only in its numbers is recorded by its title.
"""

import re
from itertools import groupby
from operator import itemgetter

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Patch, StepPatch
from matplotlib.text import Annotation
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter

NUMBER = re.compile(r"(?<=[ (])-?\d[\d.e+-]*(?=[ ;|]|$)")
MOST = 40  # points of a line that are told one by one; of a longer one every eighth part


def facts(figure):
    """Return the lines of a Figure: its note, each visible panel, the legends."""
    note = figure.get_suptitle()
    panels = [axes for axes in figure.axes if axes.get_visible()]
    lines = [f"note: {part}" for part in note.split("\n") if part]
    shapes = []
    for place, axes in enumerate(panels):
        content = [*_words(axes), *(_artists(axes) if axes.get_label() != "<colorbar>" else [])]
        texts = [line for line in content if line.startswith("  text")]
        titles = [line for line in content if line.startswith("  title")]
        shapes.append([NUMBER.sub("#", x) for x in content if x not in titles] + texts)
        first = shapes.index(shapes[-1])
        like = f", like {first}" * (first < place)
        lines.append(f"panel {place}{_at(axes)}{_shared(axes, panels)}{like}")
        lines += content if first == place else titles
    legends = [*figure.legends, *(axes.get_legend() for axes in panels if axes.get_legend())]
    for part in figure.subfigs:
        lines += [f"part: {text.get_text()}" for text in part.findobj(_is_title)]
    for legend in legends:
        pairs = zip(legend.get_texts(), map(_look, legend.legend_handles), strict=True)
        words = [f"{text.get_text()} {look}".replace(" at 1", "") for text, look in pairs]
        lines.append(f"legend: {' | '.join(words)}")
    return [line.replace("\n", " / ") for line in lines]


def _is_title(artist):
    return hasattr(artist, "get_text") and artist is getattr(artist.figure, "_suptitle", None)


def _at(axes):
    """Return the place in a grid of several panels."""
    place = axes.get_subplotspec()
    rows, columns, first, _ = place.get_geometry() if place else (1, 1, 0, 0)
    return f" at {first} of {rows} x {columns}" * (rows * columns > 1)


def _shared(axes, panels):
    """Return with which earlier panel an axis is shared."""
    words = ""
    for name in "xy":
        shared = getattr(axes, f"get_shared_{name}_axes")()
        first = next(
            k for k, other in enumerate(panels) if other is axes or shared.joined(other, axes)
        )
        words += f", {name} of {first}" * (panels[first] is not axes)
    return words


def _words(axes):
    """Yield title, and of each axis its label, scale, ticks and limits as far as they are set."""
    if title := axes.get_title("left") or axes.get_title():
        yield f"  title: {title}"
    for name in "xy":
        axis = getattr(axes, f"{name}axis")
        words = [axis.get_label().get_text(), axis.get_scale() * (axis.get_scale() != "linear")]
        if isinstance(axis.get_major_locator(), FixedLocator):
            places = axis.get_major_locator().locs
            formatter = axis.get_major_formatter()
            if isinstance(formatter, FixedFormatter | FuncFormatter):
                texts = [formatter(x, k) for k, x in enumerate(places)]
                words.append(
                    "ticks "
                    + "; ".join(
                        f"{_number(x)} {text}" for x, text in zip(places, texts, strict=True)
                    )
                )
            else:
                words.append("ticks " + " ".join(map(_number, places)))
        if not getattr(axes, f"get_autoscale{name}_on")():
            words.append("from {} to {}".format(*map(_number, getattr(axes, f"get_{name}lim")())))
        if not axis.get_tick_params().get("labelleft", True):
            words.append("no numbers")
        if any(words):
            yield f"  {name}: {', '.join(filter(None, words))}"


def _artists(axes):
    """Yield lines, areas, bars, patches, images and texts of a panel; neighbours that look alike
    are one line."""
    found = [(f"line {_look(line)}", _points(line.get_xydata())) for line in axes.lines]
    for group in axes.collections:
        kind = "bars" if isinstance(group, LineCollection) else "area"
        colours = group.get_edgecolor() if kind == "bars" else group.get_facecolor()
        colour = to_hex(colours[0]) if len(colours) else "none"
        found += [(f"{kind} {colour}", _points(path.vertices)) for path in group.get_paths()]
    found += [(f"patch {_face(patch)}", _corners(patch)) for patch in axes.patches]
    for image in axes.images:
        low, high = map(_number, image.get_clim())
        rows = [" ".join(map(_number, row)) for row in image.get_array().filled(np.nan)]
        found += [(f"image {image.get_cmap().name} {low} to {high}", row) for row in rows]
    texts = [text for text in axes.texts if text.get_text()]
    found += [(f"text {to_hex(text.get_color())}", _placed(text)) for text in texts]
    for look, some in groupby(found, itemgetter(0)):
        yield f"  {look}: {' | '.join(points for _, points in some)}"


def _face(patch):
    return to_hex(patch.get_facecolor()) if patch.get_fill() else "empty"


def _corners(patch):
    if isinstance(patch, StepPatch):
        return _points(patch.get_path().vertices)
    return _points(patch.get_path().get_extents(patch.get_patch_transform()).get_points())


def _placed(text):
    place = text.xy if isinstance(text, Annotation) else text.get_position()
    return f"{text.get_text()} @ {_points([place])}"


def _look(artist):
    """Return colour, marker, its face and the pattern of a line."""
    if isinstance(artist, Patch):
        return to_hex(artist.get_facecolor())
    if not hasattr(artist, "get_marker"):  # an errorbar's lines
        colours = artist.get_colors() if hasattr(artist, "get_colors") else artist.get_edgecolor()
        return to_hex(colours[0]) if len(colours) else "none"
    words = [to_hex(artist.get_color())]
    if artist.get_marker() not in ("None", None, "", " "):
        words.append(f"{artist.get_marker()}{to_hex(artist.get_markerfacecolor())}")
        marked = artist.get_markevery()
        words += [f"at {' '.join(map(str, marked))}"] if isinstance(marked, list) else []
    style, pattern = artist.get_linestyle(), artist._unscaled_dash_pattern
    words.append("-" if style == "-" else "" if style == "None" else str(pattern[1]))
    return " ".join(filter(None, words))


def _points(points):
    every = np.asarray(points, float)
    some = every if len(every) < MOST else every[:: len(every) // 8]
    return "; ".join(" ".join(map(_number, point)) for point in some)


def _number(value):
    return f"{value + 0.0:.4g}"
