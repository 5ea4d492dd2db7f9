"""How boxes and arrows look, in Graphviz's words, and the room that texts need."""

import re
import unicodedata

INK, GRAY, BLUE, ORANGE = "#333333", "#6B6B6B", "#0072B2", "#B84A00"
FONT = {"fontname": "Helvetica,Arial,sans-serif", "fontsize": "11", "fontcolor": INK}
GRAPH = {"rankdir": "LR", "ranksep": "0.17", "nodesep": "0.2", "bgcolor": "white"}
BOX = FONT | {"shape": "record", "color": INK, "height": "0.3", "margin": "0.06,0.03"}
ARROW = {"color": INK, "arrowsize": "0.6"}
WORDS = {"shape": "plaintext", "fontsize": "10", "width": "0", "height": "0"}
KINDS = {
    "leaf": {"style": "filled", "fillcolor": "#D6E8F5", "color": BLUE},
    "constant": {"style": "dashed", "color": GRAY, "fontcolor": GRAY},
    "result": {"style": "filled", "fillcolor": "white"},
}
ROUND = {"style": "rounded,filled", "width": "0.5"}
OPERATION = ROUND | {"fillcolor": "#F0F0F0", "color": GRAY}
GRAYED = {"style": "rounded,dashed", "color": GRAY, "fontcolor": GRAY}
NOW = {"fillcolor": "#FFE2CC", "color": ORANGE, "penwidth": "2"}
BACK = {"dir": "back", "style": "dashed", "color": ORANGE, "fontcolor": ORANGE}
CUT = {"dir": "none", "style": "dotted", "color": INK, "penwidth": "1.5", "minlen": "2"}
SCISSORS = "\N{BLACK SCISSORS}"
HIDDEN = {"style": "invis"}  # it takes the same room, so that all frames are alike


def escape(text: str) -> str:
    """Guard what Graphviz would take for an entity, or for the fields of a record."""
    safe = re.sub(r"([\\{}|<>])", r"\\\1", text.replace("&", "&amp;"))
    return safe.replace("\n", r"\n")


def width(text: str) -> float:
    """Return the inches that `text` needs in a wide font; Korean letters count twice.

    Graphviz cannot know which font a browser will take.
    """
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    wide += 0.6 * sum(letter in "mwMW" for letter in text)
    return 0.085 * (len(text) + wide) + 0.12
