"""The course as a map: which chapter needs which, what is passed, what is next.

It is our own SVG, because Graphviz would put 30 chapters, most of which need the one
before, into a single row.
"""

import base64
from collections.abc import Collection
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import Any

ROW = 7  # chapters side by side
WIDTH, HEIGHT = 106, 56  # of a box, in pixels
ACROSS, DOWN = 125, 94  # from one box to the next
# The colors are those of all graphs of the course
STYLE = """<style>
text { font: 12px Helvetica, Arial, sans-serif; text-anchor: middle; fill: #333333; }
.small { font-size: 10px; fill: #595959; }
path { fill: none; stroke: #767676; stroke-width: 1.4; marker-end: url(#tip); }
.aside { stroke-dasharray: 2 3; }
rect { fill: #F0F0F0; stroke: #767676; rx: 6px; }
.optional { stroke: #595959; stroke-width: 1.6; stroke-dasharray: 5 4; }
.passed { fill: #D6E8F5; stroke: #0072B2; }
.next { fill: #FFE2CC; stroke: #BD570F; stroke-width: 2.5; }
.bar { fill: #0072B2; stroke: none; rx: 2px; }
.ground { stroke: none; }
</style>"""
GROUND = 2  # pixels of a box around its dashes, which a dark page would hide
TIP = """<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6"
markerHeight="6" orient="auto"><path d="M0 0L10 5L0 10z" style="fill: #767676; stroke:
none; marker-end: none"/></marker></defs>"""


@dataclass
class Stop:
    """A chapter on the map, and the known results of its exercises."""

    number: int
    slug: str
    title: str
    question: str = ""
    minutes: int = 0
    needs: list[int] = field(default_factory=list)
    optional: bool = False
    exercises: dict[str, str] = field(default_factory=dict)  # by number: its title
    passed: Collection[str] = ()  # of their numbers
    wrong: Collection[str] = ()  # as the last check of the answer that is there found
    begun: bool = False  # some blank of it is filled in

    @property
    def share(self) -> float:
        """The share of its exercises that are passed, from 0 to 1."""
        return len(self.passed) / len(self.exercises) if self.exercises else 0.0

    @property
    def left(self) -> float:
        """About how many minutes it still takes, by its exercises."""
        return self.minutes * (1 - self.share)


def stop_of(number: int, slug: str, about: dict[str, Any]) -> Stop:
    """Return the stop of a chapter, from its notebooks' metadata."""
    exercises = about.get("exercises", {})
    titles = {name: str(each.get("title", "")) for name, each in exercises.items()}
    known = {
        key: about[key] for key in ("title", "question", "minutes") if key in about
    }
    optional = about.get("track", "core") != "core"
    needs = [need for need in about.get("needs", []) if isinstance(need, int)]
    stop = Stop(number, slug, known.pop("title", slug), **known)
    stop.needs, stop.optional, stop.exercises = needs, optional, titles
    return stop


def next_exercise(stops: list[Stop]) -> tuple[Stop, str] | None:
    """Return the chapter and the number of the next exercise, or None at the end.

    It is in the first chapter begun and not all passed, else in one after the last one
    begun, else in one before it. Optional chapters come last, unless they were begun.
    """
    last = max((n for n, stop in enumerate(stops) if stop.begun), default=0)
    turned = sorted([*stops[last:], *stops[:last]], key=lambda stop: stop.optional)
    for stop in [*(stop for stop in stops if stop.begun), *turned]:
        for name in stop.exercises:
            if name not in stop.passed:
                return stop, name
    return None


def map_svg(stops: list[Stop], now: Stop | None = None, at: str = "") -> str:
    """Return the map as SVG, with `now` marked. With `at`, boxes lead to pages."""
    rows = sorted({stop.number // ROW for stop in stops})
    places = {
        stop.number: (
            4 + ACROSS * (stop.number % ROW),
            16 + DOWN * rows.index(stop.number // ROW),
        )
        for stop in stops
    }
    arrows = [
        arrow(places[need], places[stop.number], stop.optional)
        for stop in stops
        for need in stop.needs
        if need in places
    ]
    boxes = [box(stop, *places[stop.number], stop is now, at) for stop in stops]
    width = max(x for x, _ in places.values()) + WIDTH + 4
    height = max(y for _, y in places.values()) + HEIGHT + 4
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, STYLE, TIP, *arrows, *boxes, "</svg>\n"])


def arrow(start: tuple[int, int], end: tuple[int, int], optional: bool) -> str:
    """Return an arrow between two boxes, given the upper left corner of each."""
    (x, y), (to_x, to_y) = start, end
    if y == to_y and to_x - x == ACROSS:
        way = f"M{x + WIDTH} {y + HEIGHT / 2}L{to_x - 1} {y + HEIGHT / 2}"
    elif y == to_y:  # over the boxes between
        way = (
            f"M{x + 70} {y}C{x + 90} {y - 18} {to_x + 14} {y - 18} {to_x + 34} {y - 1}"
        )
    elif x == to_x and to_y - y > DOWN:  # down, to the right of the boxes between
        x, gap, y, to_y = x + WIDTH, x + WIDTH + 10, y + HEIGHT - 10, to_y + 10
        way = f"M{x} {y}Q{gap} {y} {gap} {y + 10}V{to_y - 10}Q{gap} {to_y} {x} {to_y}"
    else:  # down, behind the boxes between
        x, to_x = x + WIDTH / 2, to_x + WIDTH / 2
        y, middle = y + HEIGHT, (DOWN - HEIGHT) / 2
        way = f"M{x} {y}C{x} {y + middle} {to_x} {to_y - middle} {to_x} {to_y - 1}"
    return f'<path class="{"aside" if optional else "way"}" d="{way}"/>'


def box(stop: Stop, x: int, y: int, is_next: bool, at: str) -> str:
    """Return the box of a chapter: number, title, minutes, a bar of what is passed."""
    looks = ["optional"] * stop.optional + ["passed"] * (stop.share == 1)
    looks += ["next"] * is_next
    look = " ".join(looks)
    middle = x + WIDTH / 2
    mark = "\N{CHECK MARK} " if stop.share == 1 else ""
    told = f"{stop.number} · {stop.title}"
    lines = wrap(told, 16)[:3]
    parts = [rect(look, x, y)]
    if stop.optional:
        parts.insert(0, rect(f"{look} ground", x, y, GROUND))
    top = y + 27 - 5 * len(lines)
    for n, line in enumerate(lines):
        parts.append(f'<text x="{middle}" y="{top + 12 * n}">{escape(line)}</text>')
    words = f"{mark}{stop.minutes} min"
    parts.append(f'<text class="small" x="{middle}" y="{y + 49}">{words}</text>')
    if 0 < stop.share < 1:
        bar = f'x="{x + 4}" y="{y + HEIGHT - 4}" width="{(WIDTH - 8) * stop.share:.0f}"'
        parts.append(f'<rect class="bar" {bar} height="3"/>')
    drawn = "".join(parts)
    return f'<a href="{at}{stop.slug}.html">{drawn}</a>' if at else drawn


def rect(look: str, x: int, y: int, more: int = 0) -> str:
    """Return the outline of a box, or one with so many pixels more on each side."""
    size = f'width="{WIDTH + 2 * more}" height="{HEIGHT + 2 * more}"'
    return f'<rect class="{look}" x="{x - more}" y="{y - more}" {size}/>'


def words(stops: list[Stop], now: Stop | None) -> str:
    """Return the map in words, for those who cannot see it."""
    needs = [
        f"{s.number} needs {', '.join(map(str, s.needs))}" for s in stops if s.needs
    ]
    passed = [str(stop.number) for stop in stops if stop.share == 1]
    parts = [f"The map of the chapters: {'; '.join(needs)}."]
    parts += [f"All exercises are passed of {', '.join(passed)}."] * bool(passed)
    parts += [f"You are at {now.number}."] if now else []
    return " ".join(parts)


def as_image(svg: str, alt: str) -> str:
    """Return a picture as HTML that JupyterLab shows, trusted or not."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'


def moving(frames: list[str], seconds: float = 2.4) -> str:
    """Return an SVG that shows one graph in DOT after the other, without a script.

    On paper, or for somebody who wants no motion, it shows the last graph.
    """
    from minigrad.drawing.graphviz_svg import to_svg

    pictures = [to_svg(source) for source in frames]
    head = pictures[0][: pictures[0].index(">") + 1]
    parts = [p[len(head) : p.rindex("</svg>")].strip() for p in pictures]
    whole, share = seconds * len(parts), 100 / len(parts)
    style = f""".frame {{
visibility: hidden; animation: turn {whole:.1f}s step-end infinite }}
@keyframes turn {{ 0% {{ visibility: visible }} {share:.3f}% {{ visibility: hidden }} }}
@media print, (prefers-reduced-motion: reduce) {{
.frame {{ animation: none }} .frame:last-child {{ visibility: visible }} }}"""
    groups = [
        f'<g class="frame" style="animation-delay: {n * seconds:.1f}s">{part}</g>'
        for n, part in enumerate(parts)
    ]
    return "\n".join([head, f"<style>{style}</style>", *groups, "</svg>\n"])
