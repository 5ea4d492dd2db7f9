"""Drawings of Tensors and networks: sizes, memory, refusals; no trace is left."""

import re
import tracemalloc

import numpy as np
import pytest

import minigrad
from minigrad import nn, static
from minigrad.drawing import graphviz_svg
from minigrad.drawing.dot import width
from minigrad.drawing.draw import draw, draw_backward, draw_nodes
from minigrad.models import GPT
from minigrad.scalar.value import Value
from tests.engine.test_sessions import Residual, leaf, lines, network, words


def test_every_text_has_room():
    x, w = leaf(np.ones((2, 3))), leaf([0.5, 1 / 3, 1e-9])
    loss = nn.functional.binary_cross_entropy_with_logits(x * w, minigrad.ones(2, 3))
    model, data = network()
    sources = draw(loss).source, draw_nodes(loss).source, draw(model, data).source
    boxes = re.findall(r'label=("[^"]+"|\w+).* width=([0-9.]+)', "".join(sources))
    assert len(boxes) > 15
    for label, room in boxes:
        fields = re.split(r"\||\\n", re.sub('<.> |[{}"]', "", label))
        assert max(map(width, fields)) <= float(room) + 0.005, label


def test_the_same_bytes_each_time():
    def pictures():
        minigrad.manual_seed(0)
        model, x = network()
        y = model(x).sum()
        y.backward(retain_graph=True)
        drawings = draw(y), draw(model, x), draw_nodes(y)
        return [d._repr_mimebundle_() for d in drawings]

    junk = [minigrad.ones(i) for i in range(100)]
    assert pictures() == pictures() and junk
    assert not any(" at 0x" in bundle["text/plain"] for bundle in pictures())


def test_wrong_uses_are_told():
    model, x = network()
    with pytest.raises(TypeError, match="a Value or a Tensor, not.*Sequential"):
        draw(model)
    with pytest.raises(TypeError, match="asks for the numbers of"):
        draw_backward(static.variable(1.0) * 2)
    with pytest.raises(ValueError, match="only one element"):
        draw_backward(model(x))
    with pytest.raises(TypeError, match="draw_nodes needs a grad_fn"):
        draw_nodes(leaf(1.0))
    with pytest.raises(TypeError, match="saved=True is for results"):
        draw(model, x, saved=True)
    with pytest.raises(TypeError, match="draw_backward shows a Value or a Tensor"):
        draw_backward((x * leaf(2.0)).grad_fn)


def test_a_film_shows_up_to_64_numbers_as_a_heat_map():
    x, w = minigrad.tensor([[1.0, -2], [0.5, 0], [0, 3]]), leaf(np.ones((2, 3)))
    y = x @ w
    loss = (y * minigrad.tensor([[1.0, 0, 0], [0, -2, 0], [0, 0, 0.5]])).sum()
    film = draw_backward(loss, x=x, w=w, y=y, loss=loss)
    loss.backward()
    svgs = [graphviz_svg.to_svg(source) for source in film.sources]
    cells = [re.findall(r'<rect [^>]*fill="rgb\((.*?)\)"', svg) for svg in svgs]
    assert [len(each) for each in cells][:2] == [0, 9] and len(cells[-1]) == 9 + 9 + 6
    of_w = w.grad.numpy().ravel()
    for g, color in zip(of_w, cells[-1]):  # its box is the first
        red, _, blue = map(int, color.split(","))
        assert ((red < blue), (red > blue)) == (g > 0, g < 0)
    assert min(of_w) == -2 and cells[-1][of_w.argmin()] == "213, 94, 0"
    assert len({re.search("<svg[^>]*", svg)[0] for svg in svgs}) == 1
    assert not re.search("[\ue000-\uf8ff]", "".join([*svgs, repr(film)]))
    large = draw_backward((leaf(np.ones((2, 33))) * 1).sum())
    assert "<rect" not in graphviz_svg.to_svg(large.source)
    for odd in (
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.full((2, 3), np.inf),
        np.full((2, 3), np.nan),
    ):
        x = leaf(odd)
        assert "to x (now" in repr(draw_backward((x * x).sum(), x=x))


def test_what_backward_keeps_is_told_and_is_what_memory_says():
    def network():
        x = minigrad.ones(300, 400)  # float32
        w = leaf(np.ones((400, 50), np.float32))
        return ((x @ w).tanh().exp() + 1).sum(), x, w

    network()
    tracemalloc.start()
    loss, x, w = network()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    told = lines(draw(loss, saved=True, x=x, w=w, loss=loss))
    assert told[-1] == "kept for backward: 600,000 B"  # x, and tanh's and exp's
    assert [line.rpartition("keeps ")[2] for line in told if "keeps" in line] == [
        *("a 480,000 B", "y 60,000 B", "y 60,000 B", "nothing", "nothing")
    ]
    assert "kept for backward: 600,000 B" in words(draw(loss, saved=True))
    assert abs(held - w.array.nbytes - 600_000) < 60_000
    loss.backward()
    after = lines(draw(loss, saved=True))
    assert sum("keeps nothing any more" in line for line in after) == 3
    assert after[-1] == "kept for backward: 0 B"
    for other in (w, minigrad.ones(2), Value(2.0) * 3):  # which have no node
        assert lines(draw(other, saved=True))[-1] == "kept for backward: 0 B"


def test_drawing_a_network_changes_nothing():
    block, x = Residual(), minigrad.ones(3, 4)
    block.norm.requires_grad_(False)
    edges = [p.edge for p in block.parameters()]
    state = {name: t.numpy().copy() for name, t in block.state_dict().items()}
    minigrad.manual_seed(1)
    draw(block, x)
    after = minigrad.rand(3).tolist()
    minigrad.manual_seed(1)
    assert after == minigrad.rand(3).tolist()
    assert [p.edge for p in block.parameters()] == edges and not x.requires_grad
    for name, tensor in block.state_dict().items():
        assert (tensor.numpy() == state[name]).all()
    assert not any("forward" in vars(m) for m in block.modules())


def test_a_network_that_fails_is_as_it_was():
    model, _ = network()
    model.requires_grad_(False)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        draw(model, minigrad.ones(8, 3))
    assert not any(p.requires_grad for p in model.parameters())
    assert not any("forward" in vars(m) for m in model.modules())


def test_a_model_with_a_list_of_modules_is_drawn():
    picture = draw(GPT(5, 4, width=8, layers=2, heads=2), minigrad.tensor([[0, 1]]))
    for i in range(2):
        assert f"= blocks.{i}: Block(" in repr(picture)
    assert "text/html" in picture._repr_mimebundle_()
