"""What drawings tell of Tensors, of networks, and of the nodes behind them."""

import re
import tracemalloc
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import minigrad
from minigrad import nn, static
from minigrad.autograd import Function
from minigrad.drawing import rendering
from minigrad.drawing.describe import Node, describe, identity
from minigrad.drawing.layout import SCISSORS, width
from minigrad.drawing.pictures import draw, draw_backward, draw_nodes

ROOT = Path(__file__).resolve().parent.parent
SVG = "{http://www.w3.org/2000/svg}"


def leaf(numbers):
    return minigrad.tensor(numbers, dtype=minigrad.float32, requires_grad=True)


def lines(drawing):
    return repr(drawing).splitlines()


def words(drawing):
    """Return all words in the picture."""
    svg = ElementTree.fromstring(rendering.to_svg(drawing.source))
    return [text.text for text in svg.iter(f"{SVG}text")]


def arrows(drawing, color):
    """Return how many arrow heads of a color are in the picture."""
    return rendering.to_svg(drawing.source).count(f'<polygon fill="{color}"')


def dotted(drawing):
    """Return how many arrows show that no gradient comes along."""
    return rendering.to_svg(drawing.source).count('stroke-dasharray="1,5"')


ORANGE, GRAY = "#bd570f", "#767676"


def affine():
    x, w, b = minigrad.tensor([1.0, 2, 3]), leaf(0.5), leaf([0.1, 0.2, 0.3])
    return x, w, b, x * w + b


def network():
    sizes = nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)
    return nn.Sequential(*sizes), minigrad.zeros(8, 2)


class Residual(nn.Module):
    """A module that computes something besides what its parts compute."""

    def __init__(self):
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(4), nn.Dropout()
        self.scale = nn.Parameter(minigrad.ones(4))

    def forward(self, x):
        return x + self.drop(self.norm(x)) * self.scale


# Tensors


def test_text_tells_what_feeds_what():
    x, w, b, y = affine()
    assert lines(draw(y)) == [
        "x = [1, 2, 3], constant",
        "w = 0.5",
        "#1 (3,) = Mul(x, w)",
        "b = [0.1, 0.2, 0.3]",
        "y = Add(#1, b) = [0.6, 1.2, 1.8]",
    ]
    y.sum().backward(retain_graph=True)
    assert lines(draw(y))[1:4] == [
        "w = 0.5, grad 6",
        "#1 (3,) = Mul(x, w)",
        "b = [0.1, 0.2, 0.3], grad [1, 1, 1]",
    ]


def test_an_intermediate_shows_what_is_still_held():
    x = leaf([1.0, 2])
    y = (x * 3).exp()
    assert "#1 (2,) = Mul(x, 3)" in lines(draw(y))
    kept = x * 3
    kept.retain_grad()
    (kept * kept).sum().backward()
    assert "kept = Mul(x, constant) = [3, 6], grad [6, 12]" in lines(draw(kept))


def test_a_leaf_that_nobody_holds_shows_its_shape():
    y = leaf([1.0, 2]).exp()
    assert lines(draw(y))[0] == "#1 (2,)"


@pytest.mark.parametrize("passes", [False, True])
def test_two_uses_are_two_arrows_each_way(passes):
    x = leaf([1.0, 2])
    y = x + x
    if passes:
        y.sum().backward()
    assert lines(draw(y))[-1] == "y = Add(x, x) = [2, 4]"
    assert arrows(draw(y), GRAY) == 2 + 1
    assert arrows(draw(y), ORANGE) == (2 + 1) * passes


def test_orange_runs_only_to_where_a_gradient_went():
    a, b = leaf([1.0, 2, 3, 4, 5]), leaf(2.0)
    y = (a * 2).sum() + b
    y.backward(inputs=[b])
    assert arrows(draw(y), ORANGE) == 2
    assert "grad 1" in words(draw(y))


def test_a_diamond_is_drawn_once():
    a = leaf(3.0)
    b = a * a
    c = b + 2 * b
    assert len(lines(draw(c))) == 4
    for _ in range(20):
        c = c * c
    assert len(lines(draw(c))) == 24


def test_constants_are_named_shown_or_forgotten():
    x, k, table = leaf([1.0, 2]), minigrad.tensor(3.0), minigrad.ones(7, 2)
    assert lines(draw(k * x))[0] == "k = 3, constant"
    assert lines(draw(2 * x))[-1].endswith("Mul(x, 2) = [2, 4]")
    assert lines(draw(x + 1))[-1].endswith("Add(x, constant) = [2, 3]")
    assert "table (7, 2), constant" in lines(draw(x * table))
    assert lines(draw(x * minigrad.ones(9, 2)))[-1].endswith("Mul(x, (9, 2))")
    cut = ["[1, 2], constant, cut off from x", "#1 = Mul(x, [1, 2]) = [1, 4]"]
    assert lines(draw(x * x.detach()))[1:] == cut


def test_scissors_show_what_a_constant_was_cut_off_from():
    x = leaf(3.0)
    square = x * x
    fixed = square.detach()
    y = x * fixed
    y.backward(retain_graph=True)
    assert lines(draw(y)) == [
        "x = 3, grad 9",
        "square = Mul(x, x) = 9",
        "fixed = 9, constant, cut off from square",
        "y = Mul(x, fixed) = 27",
    ]
    assert words(draw(y)).count(SCISSORS) == 1
    assert arrows(draw(y), ORANGE) == 2  # to y and around the scissors, not across
    assert lines(draw(fixed))[-1] == "fixed = 9, constant, cut off from square"
    assert SCISSORS not in words(draw(y, x=x))  # nobody knows the square


def test_each_use_of_a_number_is_a_box_but_a_named_one_is_shared():
    x, k = leaf(1.0), minigrad.tensor(3.0)
    assert words(draw(2 * x + 2 * x)).count("2") == 2
    assert words(draw(k * x + k * x)).count("k = 3") == 1


def test_an_argument_that_was_left_out_is_no_constant():
    x, weight = minigrad.ones(4, 3), leaf(np.ones((2, 3)))
    y = nn.functional.linear(x, weight)
    assert lines(draw(y))[-1] == "y (4, 2) = Mm(x, weight)"


def test_parameters_have_dotted_names():
    model, x = network()
    model[0].requires_grad_(False)
    text = lines(draw(model(x)))
    assert "model.2.weight (1, 16)" in text and text[1].startswith("model.2.bias = [")
    loss = nn.functional.mse_loss(model[2](leaf(np.ones((8, 16)))), minigrad.ones(8, 1))
    assert "net.weight" in repr(draw(loss, net=model[2]))


def test_several_outputs_and_lists_of_inputs():
    x = leaf([1.0, 2])
    a, b = x.unbind()
    assert lines(draw(a * b))[1:3] == ["a = Unbind(x) = 1", "b = Unbind(x) = 2"]
    assert "Cat(x, x)" in repr(draw(minigrad.cat([x, minigrad.ones(3), x])))


def test_custom_functions():
    class Cube(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            return x**n

    x = leaf([2.0])
    assert lines(draw(Cube.apply(x, 3)))[-1] == "#1 = Cube(x) = [8]"


def test_numbers_have_four_digits_and_few_are_shown():
    x = leaf([[1 / 3, 0.0], [float("inf"), -2e-9]])
    assert lines(draw(x)) == ["x = [[0.3333, 0], [inf, -2e-09]]"]
    assert lines(draw(leaf([1.0] * 5))) == ["#1 (5,)"]
    assert lines(draw(leaf([]))) == ["#1 (0,)"]
    ids, yes = minigrad.tensor([10_000_000]), minigrad.tensor(True)
    assert lines(draw(ids)) == ["ids = [10000000], constant"]
    assert lines(draw(yes)) == ["yes = True, constant"]


def test_a_wide_graph_runs_down_the_page():
    x = leaf([1.0, 2])
    y = x.exp()
    assert "rankdir=LR" in draw(y).source
    for _ in range(6):
        y = y.exp()
    assert "rankdir=TB" in draw(y).source


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


def test_too_large_a_graph_says_what_to_do():
    x = leaf(1.0)
    for _ in range(100):
        x = x.exp()
    assert "more than 80 values" in repr(draw(x)) and "draw(model, x)" in repr(draw(x))
    assert "more than 80 values" in " ".join(words(draw_nodes(x)))


@pytest.mark.parametrize("other", [[minigrad.ones(1)], np.ones(2), nn.ReLU])
def test_what_cannot_be_drawn(other):
    with pytest.raises(TypeError, match="draw shows a Value or a Tensor"):
        draw(other)


def test_wrong_uses_are_told():
    model, x = network()
    with pytest.raises(TypeError, match="a Value or a Tensor, not.*Sequential"):
        draw(model)
    with pytest.raises(TypeError, match="Tensors that have numbers"):
        draw_backward(static.variable(1.0) * 2)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        draw_backward(model(x))
    with pytest.raises(TypeError, match="draw_nodes shows what has a grad_fn"):
        draw_nodes(leaf(1.0))


def test_the_backward_pass_of_tensors_is_told_turn_by_turn():
    a, b = leaf([[1.0, 2.0, 0.5], [0.0, -1.0, 1.0]]), leaf([2.0, 0.0, -1.0])
    a.register_hook(lambda g: 10 * g)
    loss = (a * b + b).sum()
    film = draw_backward(loss, a=a, b=b, loss=loss)
    assert lines(film) == [
        "Start: nothing has come anywhere.",
        "Step 1: Sum, which made loss, is given 1 and passes (2, 3) to #2.",
        "Step 2: Add, which made #2, is given (2, 3) and passes (2, 3) to #1"
        " and [2, 2, 2] to b.",
        "Step 3: Mul, which made #1, is given (2, 3) and passes (2, 3) to a"
        " and [1, 1, 1.5] to b.",
        "Step 4: b is given [3, 3, 3.5] and adds it to its grad.",
        "Step 5: a is given (2, 3) and adds it to its grad.",
    ]
    assert len(film.sources) == 6 and (a.grad, b.grad) == (None, None)
    loss.backward()
    assert b.grad.tolist() == [3.0, 3.0, 3.5]
    with pytest.raises(RuntimeError, match="a second time"):
        draw_backward(loss)


def test_the_backward_pass_of_functions_is_told():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x, 3 * x

        @staticmethod
        def backward(ctx, g, h):
            assert not minigrad.is_grad_enabled()
            return 2 * g + 3 * h

    x = leaf([1.0, -2.0])
    one, other = Two.apply(x)
    loss = (one * other).sum()
    film = lines(draw_backward(loss, x=x, loss=loss))
    assert film[-1].startswith(f"Step {len(film) - 1}: x is given [12, -24]")
    loss.backward()
    assert x.grad.tolist() == [12.0, -24.0]


def test_a_film_shows_up_to_64_numbers_as_a_heat_map():
    x, w = minigrad.tensor([[1.0, -2], [0.5, 0], [0, 3]]), leaf(np.ones((2, 3)))
    y = x @ w
    loss = (y * minigrad.tensor([[1.0, 0, 0], [0, -2, 0], [0, 0, 0.5]])).sum()
    film = draw_backward(loss, x=x, w=w, y=y, loss=loss)
    loss.backward()
    svgs = [rendering.to_svg(source) for source in film.sources]
    cells = [re.findall(r'<rect [^>]*fill="rgb\((.*?)\)"', svg) for svg in svgs]
    assert [len(each) for each in cells][:2] == [0, 0] and len(cells[-1]) == 9 + 9 + 6
    of_w = w.grad.numpy().ravel()
    for g, color in zip(of_w, cells[-1]):  # its box is the first
        red, _, blue = map(int, color.split(","))
        assert ((red < blue), (red > blue)) == (g > 0, g < 0)
    assert min(of_w) == -2 and cells[-1][of_w.argmin()] == "213, 94, 0"
    assert len({re.search("<svg[^>]*", svg)[0] for svg in svgs}) == 1
    assert not re.search("[\ue000-\uf8ff]", "".join([*svgs, repr(film)]))
    large = draw_backward((leaf(np.ones((2, 33))) * 1).sum())
    assert "<rect" not in rendering.to_svg(large.source)
    for odd in (np.zeros((0, 3)), np.full((2, 3), np.inf), np.full((2, 3), np.nan)):
        x = leaf(odd)
        assert "x is given" in repr(draw_backward((x * x).sum(), x=x))


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
    assert told[-1] == "kept for backward: 600 kB"  # x, and the results of tanh and exp
    assert [line.rpartition("keeps ")[2] for line in told if "keeps" in line] == [
        *("a 480 kB", "y 60 kB", "y 60 kB", "nothing", "nothing")
    ]
    assert "kept for backward: 600 kB" in words(draw(loss, saved=True))
    assert abs(held - w.array.nbytes - 600_000) < 60_000
    loss.backward()
    after = lines(draw(loss, saved=True))
    assert sum("keeps nothing any more" in line for line in after) == 3
    assert after[-1] == "kept for backward: 0 B"
    for other in (w, minigrad.ones(2), 3.0):
        with pytest.raises(TypeError):
            draw(other, saved=True)


def test_another_engine_can_be_drawn():
    class Other:
        def __init__(self, *parents):
            self.parents = parents

    @describe.register
    def _(value: Other) -> Node:
        op = "Join" if value.parents else ""
        return Node("(2,)", None, op, [(parent, None) for parent in value.parents])

    a = Other()
    b = Other(a, a)
    assert lines(draw(b)) == ["a (2,)", "b (2,) = Join(a, a)"]
    assert identity(a) is a


# Networks


def test_modules_are_folded():
    model, x = network()
    assert lines(draw(model, x)) == [
        "x (8, 2), constant",
        "#1 (8, 16) = 0: Linear(x), 48 parameters",
        "#2 (8, 16) = 1: ReLU(#1)",
        "output (8, 1) = 2: Linear(#2), 17 parameters",
    ]
    found = words(draw(model, x))
    assert found.count("(8, 16)") == 2 and "#1" not in found


def test_frozen_modules_and_what_no_gradient_comes_to_are_gray():
    model, x = network()
    model[2].requires_grad_(False)
    assert "17 parameters, frozen" in lines(draw(model, x))[-1]
    assert dotted(draw(model, x)) == 1  # from the input alone
    model.requires_grad_(False)
    model[2].bias.requires_grad_(True)
    text = lines(draw(model, x))
    assert text[1].endswith("48 parameters, frozen, no grad")
    assert text[2].endswith("ReLU(#1), no grad")
    assert text[3].endswith("17 parameters")
    assert dotted(draw(model, x)) == 3 and arrows(draw(model, x), GRAY) == 4
    model[2].requires_grad_(False)
    assert lines(draw(model, x))[-1].endswith("frozen, no grad")


def test_a_constant_that_no_formula_has_saved_is_drawn():
    class Shifted(nn.Module):
        def forward(self, x):
            return x + np.ones(4, np.float32)

    x = leaf(np.ones((3, 4)))
    assert lines(draw(Shifted(), x))[1:] == ["output (3, 4) = Add(x, constant)"]


def test_what_is_computed_between_modules_is_drawn():
    block, data = Residual(), leaf(np.ones((3, 4)))
    text = lines(draw(block, data))
    assert text == [
        "data (3, 4)",
        "#1 (3, 4) = norm: BatchNorm1d(data), 8 parameters",
        "#2 (3, 4) = drop: Dropout(#1)",
        "scale = [1, 1, 1, 1]",
        "#3 (3, 4) = Mul(#2, scale)",
        "output (3, 4) = Add(data, #3)",
    ]


def test_only_outermost_modules_have_boxes():
    outer = nn.Sequential(nn.Sequential(Residual(), Residual()), nn.Identity())
    assert lines(draw(outer, minigrad.ones(3, 4))) == [
        "input (3, 4), constant",
        "#1 (3, 4) = 0: Sequential(input), 24 parameters",
        "output (3, 4) = 1: Identity(#1)",
    ]
    inside = lines(draw(outer[0], minigrad.ones(3, 4)))
    kinds = [line.split(" = ")[1][:11] for line in inside[1:]]
    assert kinds == ["0: Residual", "1: Residual"]


def test_a_module_called_twice_has_two_boxes_and_integers_are_inputs():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.gate = nn.Embedding(11, 4), nn.Linear(4, 4)

        def forward(self, tokens):
            h = self.embed(tokens)
            return self.gate(h) * self.gate(h) @ self.embed.weight.T

    text = lines(draw(Tied(), minigrad.tensor([1, 2, 3, 4, 5])))
    assert text[:4] == [
        "input (5,), constant",
        "#1 (5, 4) = embed: Embedding(input), 44 parameters",
        "#2 (5, 4) = gate: Linear(#1), 20 parameters",
        "#3 (5, 4) = gate: Linear(#1), 20 parameters",
    ]
    assert "embed.weight (11, 4)" in text


def test_names_that_users_choose_are_drawn_as_they_are():
    odd = "<b>|{x}\\N &amp; c>"
    model, x = nn.Sequential(), leaf(np.ones((1, 2)))
    setattr(model, odd, type("<Net>", (nn.Linear,), {})(2, 1))
    assert f"{odd}: <Net>" in words(draw(model, x))
    y = x * x
    assert odd in words(draw_nodes(y, **{odd: x}))
    assert f"{odd} = [[1, 1]]" in words(draw(y, **{odd: x}))


def test_arguments_by_keyword_and_what_is_written_in_place():
    class Bend(nn.Module):
        def forward(self, values):
            return values.tanh()

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.bend, self.seen, self.all = Bend(), None, []

        def forward(self, x):
            y = self.bend(values=x)
            y += x
            self.seen = y * 2
            self.all.append(self.seen)
            return self.seen

    block, x = Block(), leaf(np.ones((3, 4)))
    block(x)  # keeps a result, which cannot be copied
    assert lines(draw(block, x)) == [
        "x (3, 4)",
        "#1 (3, 4) = bend: Bend(x)",
        "#2 (3, 4) = Add(#1, x)",
        "output (3, 4) = Mul(#2, 2)",
    ]


def test_modules_with_several_inputs_and_outputs():
    """A part with several outputs has no box: its operations are drawn."""

    class Swap(nn.Module):
        def forward(self, a, b):
            return b * 1, a * 1

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.swap = Swap()

        def forward(self, a, b):
            a, b = self.swap(a, b)
            return a - b

    assert lines(draw(Both(), minigrad.ones(2), minigrad.zeros(2))) == [
        "input[1] = [0, 0], constant",
        "#1 (2,) = Mul(input[1], 1), no grad",
        "input[0] = [1, 1], constant",
        "#2 (2,) = Mul(input[0], 1), no grad",
        "output (2,) = Sub(#1, #2), no grad",
    ]
    with pytest.raises(TypeError, match="draw shows a Value or a Tensor.*tuple"):
        draw(Swap(), minigrad.ones(2), minigrad.zeros(2))


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
    assert not any(m._forward_hooks for m in block.modules())


def test_a_network_that_fails_is_as_it_was():
    model, _ = network()
    model.requires_grad_(False)
    with pytest.raises(ValueError):
        draw(model, minigrad.ones(8, 3))
    assert not any(p.requires_grad for p in model.parameters())
    assert not any(m._forward_hooks for m in model.modules())


# Nodes


def test_nodes_and_their_links():
    x, w, b = minigrad.ones(4, 2), leaf(np.ones((2, 3))), leaf([0.0, 0, 0])
    y = (x @ w + b).tanh().sum()
    assert lines(draw_nodes(y)) == [
        "SumBackward0 -> TanhBackward0",
        "TanhBackward0 -> AddBackward0",
        "AddBackward0 -> MmBackward0, AccumulateGrad of b",
        "MmBackward0 -> None, AccumulateGrad of w",
    ]
    assert repr(draw_nodes(y.grad_fn)) == repr(draw_nodes(y))
    assert words(draw_nodes(y)).count("AccumulateGrad") == 2
    assert arrows(draw_nodes(y), ORANGE) == 6


def test_nodes_of_one_name_are_told_apart():
    a = leaf(2.0)
    y = a * a * a
    assert lines(draw_nodes(y, x=a)) == [
        "MulBackward0 #1 -> MulBackward0 #2, AccumulateGrad of x",
        "MulBackward0 #2 -> AccumulateGrad of x, AccumulateGrad of x",
    ]


def test_pytorchs_nodes_can_be_drawn():
    class Theirs:
        def __init__(self, name, *targets):
            self._name, self.next_functions = name, tuple((t, 0) for t in targets)

        def name(self):
            return self._name

    root = Theirs("MulBackward0", Theirs("torch::autograd::AccumulateGrad"), None)
    assert repr(draw_nodes(root)) == "MulBackward0 -> AccumulateGrad, None"
