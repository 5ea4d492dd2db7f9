"""The text of a plot for those who cannot see it, from the numbers that are drawn.

In every notebook that has called `speak`, this is the text of a figure, and the
alternative text of its picture. Numbers are rounded to about a fiftieth of their range,
unless all are integers, so that machines whose last digits differ give the same text.
If something was measured on a machine (times, memory), the text names only its kind. If
a curve runs over the steps of training, small differences grow. So the text has only
the beginning of the curve, and the picture has all of it. For heads and kernels after
training, for the number of right answers after it, and for rounding errors, the text
gives only the size.
"""

import html
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

MEASURED = re.compile(r"seconds?\b|megabytes?\b|\b(?:[kM]B|[mnµu]s)\b")
TRAINED = re.compile(r"\b(?:step|epoch)s?\b")
UNSURE = re.compile(r"\b(heads?|kernels?|accuracy|is right|right, of|largest error)\b")
AMOUNT = re.compile(r"\d[\d.,]*(?:e-?\d+)?(?= (?:[kM]B|[mnµu]?s)\b)")
MOST = 4  # plots of a figure, or parts of a single plot, that are told one by one
EXACT = 25  # points; for longer curves, it is told only about where the least is


def speak() -> None:
    """Let figures of this notebook say what they show. Do nothing in plain Python."""
    try:
        shell = get_ipython()  # IPython's own name for it, everywhere in a notebook
    except NameError:
        return
    shell.config.InlineBackend.figure_formats = set()  # the picture comes from here
    bundles = shell.display_formatter.mimebundle_formatter
    bundles.for_type_by_name("matplotlib.figure", "Figure", bundle)


def bundle(figure, include=None, exclude=None) -> dict[str, str] | None:
    """Return what a notebook shows of a figure: its picture, and its text."""
    from IPython.core.pylabtools import retina_figure

    alt = text = "A plot."
    with suppress(Exception):  # a strange figure gets a picture without words
        alt, text = describe(figure), describe(figure, sure=True)
    try:
        png, size = retina_figure(figure, base64=True) or (None, None)
    except Exception as reason:  # such as the user's own settings of fonts
        return {"text/plain": f"{text}\n\nNo picture: {reason}"}
    if not png:
        return None
    look = f'width="{size["width"]}" src="data:image/png;base64,{png}"'
    picture = f'<img alt="{html.escape(alt)}" {look}>'
    return {"text/html": picture, "text/plain": text}


def describe(figure, sure: bool = False) -> str:
    """Return a sentence for each plot of a figure: kind, axes, points, numbers.

    If `sure`, the sentence has only what is the same on every machine.
    """
    plots = [(ax, list(parts(ax))) for ax in figure.axes]
    plots = [(ax, found) for ax, found in plots if found]
    each = MOST if len(plots) == 1 else MOST // 2
    told = [sentence(ax, found, each, sure) for ax, found in plots]
    return " ".join(some(told, MOST)) or "An empty plot."


def some(told: list[str], most: int) -> list[str]:
    """Return the first and the last of many texts, and how many are left out."""
    if len(told) <= most:
        return told
    return [*told[: most - 1], f"({len(told) - most} more)", told[-1]]


def sentence(ax, found: list[Sequence[str]], most: int, sure: bool) -> str:
    """Return the sentence of one plot, with at most `most` of the parts `found`."""
    x, y, title = map(plain, (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()))
    words = [title and f'"{title}"', f"{y} over {x}" if x and y else x or y]
    words += ["logarithmic"] if {ax.get_xscale(), ax.get_yscale()} & {"log"} else []
    head = ", ".join(filter(None, words))
    told = ["".join(each) for each in found]
    if MEASURED.search(f"{x} {y} {title}"):
        told = [AMOUNT.sub("some", kind) for kind, *_ in found]
    elif sure and UNSURE.search(f"{x} {y} {title}"):
        told = [kind for kind, *_ in found]
    elif sure and TRAINED.search(x):
        told = ["".join(each[:2]) for each in found]
    return f"Plot{head and ' of '}{head}: {'; '.join(some(told, most))}."


def plain(label: str) -> str:
    """Return a label without its formulas' markup."""
    return re.sub(r"[$\\{}]", "", label).strip()


def parts(ax) -> Iterator[Sequence[str]]:
    """Yield for each part of a plot its kind, its first numbers and the others."""
    logs = ax.get_xscale() == "log", ax.get_yscale() == "log"
    for line in ax.lines:
        if line.get_transform() == ax.transData:  # no mark across the whole plot
            yield series("line", line, *line.get_data(orig=False), logs)
    for group in ax.collections:
        if len(group.get_offsets()) and group.get_offset_transform() == ax.transData:
            yield series("dots", group, *np.asarray(group.get_offsets()).T, logs)
        else:
            corners = [path.vertices for path in group.get_paths() if len(path)]
            x, y = np.concatenate([*corners, np.empty((0, 2))]).T
            yield series("outline", group, x, y, logs)
    for bars in ax.containers:
        if hasattr(bars, "datavalues"):
            yield series("bars", bars, *heights(bars), logs)
    for patch in ax.patches:
        if hasattr(patch, "get_closed"):  # an outline, such as a histogram's
            yield series("outline", patch, *patch.get_xy().T, logs)
    for image in ax.images:
        yield matrix(np.asarray(image.get_array(), float))
    words = [f'"{plain(text.get_text())}"' for text in ax.texts if text.get_text()]
    if words and not ax.images:
        yield "words", " " + ", ".join(some(words, 12))


def heights(bars) -> tuple:
    """Return the positions and the heights of the bars."""
    side = 0 if bars.orientation == "vertical" else 1
    sizes = [(bar.get_width(), bar.get_height())[1 - side] for bar in bars]
    return [bar.get_center()[side] for bar in bars], sizes


def series(kind: str, artist, x, y, logs: Sequence[bool]) -> tuple:
    """Return what to say about numbers y at positions x: kind, beginning and the rest.

    `logs` tells whether x and y are drawn on a logarithmic axis.
    """
    label = str(artist.get_label())
    named = "" if not label or label.startswith("_") else f'"{plain(label)}", '
    x, y = np.asarray(x, float), np.asarray(y, float)
    if kind != "outline":  # which may have more or fewer corners on another machine
        kind += f" of {len(y)} point{'s' * (len(y) != 1)}"
    seen = np.isfinite(x) & np.isfinite(y)
    lost = f", {np.sum(~seen)} of them not finite" if not seen.all() else ""
    if not seen.any():
        return (named + kind + lost,)
    x, y = rounded(x[seen], logs[0]), rounded(y[seen], logs[1])
    if len(y) == 1:  # it is where something ends, or is best
        return named + kind, "", f" at ({x[0]:g}, {y[0]:g})"
    begin = f" from {y[0]:g} at {x[0]:g}"
    return named + kind + lost, begin, rest(x, y, len(x) <= EXACT or logs[0])


def rest(x: np.ndarray, y: np.ndarray, exact: bool) -> str:
    """Return where numbers end, and the least and the greatest on the way."""
    text = f" to {y[-1]:g} at {x[-1]:g}"
    for name, place in ("least", y.argmin()), ("greatest", y.argmax()):
        if y[place] not in (y[0], y[-1]):
            about = "" if exact else "about "
            where = x[place] if exact else coarse(x[place], np.ptp(x))[0]
            text += f", {name} {y[place]:g} at {about}{where:g}"
    return text


def matrix(numbers: np.ndarray) -> tuple[str, str]:
    """Return what to say about an image: its size, its corners and its extremes."""
    kind = f"image of {numbers.shape[0]} x {numbers.shape[1]}"
    if not np.isfinite(numbers).any():
        return kind, ", no number of it finite"
    flat = rounded(numbers.mean(axis=2) if numbers.ndim == 3 else numbers)
    text = f" from {flat[0, 0]:g} at the top left to {flat[-1, -1]:g} at the end"
    for name, place in ("least", np.nanargmin(flat)), ("greatest", np.nanargmax(flat)):
        row, column = np.unravel_index(place, flat.shape)
        text += f", {name} {flat[row, column]:g} in row {row}, column {column}"
    return kind, text


def rounded(numbers: np.ndarray, logarithmic: bool = False) -> np.ndarray:
    """Round to about a fiftieth of the largest, or on a logarithmic axis to one digit.

    On a logarithmic axis, a millionth of the largest is rounded to a power of ten,
    because it may be a rounding error. If all numbers are integers, they stay, because
    counts are the same everywhere.
    """
    whole = np.round(numbers)
    if np.isclose(numbers, whole, rtol=1e-9, atol=0).all():
        return whole + 0.0
    largest = np.nanmax(np.abs(numbers), initial=0)
    if not logarithmic:
        return coarse(numbers, largest, 50)
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = 10.0 ** np.round(np.log10(numbers))
    digits = np.array([float(f"{1.000001 * number:.0e}") for number in numbers])
    return np.where(numbers < 1e-6 * largest, powers, digits)


def coarse(numbers, width: float, steps: int = 10) -> np.ndarray:
    """Round to multiples of 1, 2 or 5 times a power of ten, near `width / steps`."""
    if not np.isfinite(width) or width == 0:
        return np.atleast_1d(numbers) + 0.0
    step = 10.0 ** math.floor(math.log10(width / steps))
    step *= next((times for times in (5, 2) if times * step <= width / steps), 1)
    decimals = max(0, -math.floor(math.log10(step)))
    whole = np.floor(np.atleast_1d(numbers) / step + 0.500001)  # a half, or nearly: up
    return np.round(whole * step, decimals) + 0.0
