"""The package uses an excerpt that has run; a failed check takes it back."""

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import minigrad
from classroom import ROOT
from classroom.cell import pages
from minigrad import Tensor, fast
from minigrad.graph import walk
from minigrad.rules import pointwise, reductions
from minigrad.scalar import value
from minigrad.scalar.value import Value


@pytest.fixture(autouse=True)
def package_as_before():
    """After each test the package is its own again: what was kept goes, too."""
    yield
    pages._on_trial[:0], pages._kept[:] = pages._kept, []
    pages.restore()


def run_page(source, namespace=None):
    namespace = {} if namespace is None else namespace
    pages.lend(source, namespace)
    exec(source, namespace)
    pages.install(source, namespace)
    return namespace


METHOD = """\
# minigrad/scalar/value.py
class Value:
    ...
    def __add__(self, other):
        return Value(42.0)
"""


def test_a_method_is_used_by_the_package_at_once_until_it_is_restored():
    before = Value.__add__
    namespace = run_page(METHOD)
    assert Value.__add__ is not before and (Value(1.0) + 1.0).data == 42.0
    assert (1.0 - Value(1.0)).data == 0.0  # the rest of the class stays
    assert namespace["Value"] is Value
    assert pages.is_live(Value.__add__) and not pages.is_live(Value.__mul__)
    pages.restore()
    assert Value.__add__ is before and (Value(1.0) + 1.0).data == 2.0


def test_the_walk_heeds_a_page_that_notes_writes():
    page = "# minigrad/graph/saved_values.py\n"
    run_page(page + inspect.getsource(fast.plain_record_write))
    x = minigrad.ones(3, requires_grad=True)
    y = (x * x).sum()
    x.detach()[0] = 9
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_the_walk_heeds_a_page_that_hands_formulas_their_values():
    page = "# minigrad/rules/op.py\n"
    body = "def value_of(node, name, i, g):\n    return 7 * node.saved[name]\n"
    run_page(page + body)
    x = minigrad.ones(3, requires_grad=True)
    (x * x).backward(minigrad.ones(3))
    assert x.grad.tolist() == [14.0] * 3


def test_a_piece_that_has_a_faster_twin_keeps_its_name():
    names = [pages.name_of(piece) for piece in (walk.walk, pointwise.masked)]
    assert names == ["walk", "masked"]


def test_two_operations_of_one_line_are_used():
    page = "# minigrad/rules/pointwise.py\n"
    run_page(page + "sin, cos = [Op(name, np.negative) for name in ('Sin', 'Cos')]")
    assert minigrad.ones(1).sin().item() == minigrad.ones(1).cos().item() == -1


def test_restore_removes_a_method_that_the_package_does_not_have():
    run_page(
        "# minigrad/scalar/value.py\nclass Value:\n    def cube(self): return self**3\n"
    )
    assert Value(2.0).cube().data == 8.0
    pages.restore()
    assert not hasattr(Value, "cube")


def test_what_was_kept_is_what_a_later_failure_restores():
    run_page(METHOD)
    pages.keep()
    kept = Value.__add__
    for text in "Value(43.0)", "other":
        run_page(METHOD.replace("Value(42.0)", text))
        assert Value.__add__ is not kept
        pages.restore()
        assert Value.__add__ is kept and (Value(1.0) + 1.0).data == 42.0


def test_what_other_answers_have_replaced_can_be_set_aside():
    first, second = Value.__add__, Value.__mul__
    run_page(METHOD)
    pages.keep()
    other = Value.__add__
    run_page(METHOD.replace("__add__", "__mul__"))
    pages.keep()
    own = Value.__mul__
    pages.set_aside()
    assert Value.__add__ is first and Value.__mul__ is own is not second
    pages.bring_back()
    assert Value.__add__ is other and Value.__mul__ is own


def test_a_function_replaces_every_holder():
    page = "# minigrad/scalar/value.py\ndef topological_order(root):\n    return []\n"
    before = value.topological_order
    namespace = run_page(page, {"order": before, "_5": before})
    assert value.topological_order is namespace["topological_order"] is not before
    assert namespace["order"] is namespace["topological_order"]
    assert namespace["_5"] is before
    pages.restore()
    assert value.topological_order is namespace["topological_order"] is before


def test_a_page_sees_the_names_of_its_file_and_shares_its_variables():
    namespace = run_page("# minigrad/scalar/value.py\nunary = f = math.sin\n")
    assert namespace["unary"] is value.unary  # the package's variable stays the one
    assert namespace["f"] is value.math.sin
    assert namespace["Value"] is Value


def test_a_page_may_use_what_its_file_had_once():
    page = "# minigrad/graph/walk.py\n"
    page += "def sum_to(a: ndarray, b: Any) -> Iterator: return a"
    assert run_page(page)["sum_to"] is walk.sum_to


def test_other_cells_are_no_pages_and_one_of_no_file_is_named():
    header = "# minigrad/scalar/value.py"
    for source in "x = 1", "", f"# a comment\n{header}", f"{header} x":
        assert pages.page_of(source) is None
    with pytest.raises(LookupError, match="no minigrad/vale.py in the package"):
        pages.page_of("# minigrad/vale.py\n")


RULE = """\
# minigrad/rules/pointwise.py
mul = Op("Mul", np.multiply, a=lambda g, b: g * b * 10, b=lambda g, a: g * a)
"""


def slopes(f):
    x, y = (minigrad.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    f(x, y).backward()
    return x.grad.item(), y.grad.item()


def test_a_rule_is_used_by_operators_methods_and_functions_at_once():
    before = pointwise.mul
    namespace = run_page(RULE)
    assert pointwise.mul is namespace["mul"] is Tensor.__dict__["mul"] is not before
    assert pages.is_live(pointwise.mul)
    for f in (lambda x, y: x * y, Tensor.mul, minigrad.mul, pointwise.mul):
        assert slopes(f) == (30.0, 2.0)
    pages.restore()
    assert slopes(lambda x, y: x * y) == (3.0, 2.0) and not pages.is_live(pointwise.mul)


def test_a_rule_of_another_kind_takes_the_place_of_a_ufuncs():
    run_page(
        "# minigrad/rules/pointwise.py\n"
        "tanh = Op('Tanh', lambda a, twist=2.0: np.tanh(a) * twist,\n"
        "          a=lambda g, y, twist: g * twist)\n"
    )
    x = minigrad.tensor(0.5, requires_grad=True)
    x.tanh().backward()
    assert x.grad.item() == 2.0 and x.tanh(3.0).item() > 1
    pages.restore()
    x.grad = None
    x.tanh().backward()
    assert x.grad.item() == pytest.approx(1 - np.tanh(0.5) ** 2, rel=1e-6)


def test_pythons_own_functions_stay_pythons_own():
    page = "# minigrad/rules/reductions.py\n"
    namespace = run_page(f"{page}sum = Op('Sum', plain(np.add.reduce), a=spread)", {})
    assert "sum" not in namespace and "max" not in namespace
    assert pages.is_live(reductions.sum)
    assert namespace["spread"] is reductions.spread


LAYER = """\
# minigrad/nn/linear.py
class Linear(Module):
    ...
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.weight = Parameter(creation.ones(out_features, in_features))
        self.register_parameter("bias", None)
    @property
    def kind(self):
        return super().__repr__()
"""


def test_super_in_a_method_is_the_packages():
    run_page(LAYER)
    layer = minigrad.nn.Linear(2, 1)
    assert layer(minigrad.ones(1, 2)).tolist() == [[2.0]]
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    assert layer.kind.startswith("Linear(")


@pytest.mark.parametrize(
    ("plain", "prints"),
    [("", "True False"), ("1", "False False")],
    ids=["fast", "plain"],
)
def test_a_private_name_of_numpys_that_is_gone_switches_off_its_trick_alone(
    plain, prints
):
    program = """
import sys, numpy._core.umath as umath
del umath._make_extobj
import minigrad
x = minigrad.tensor([0.0, 2.0], requires_grad=True)
(x.log() + x**3).sum().backward()
assert x.grad.tolist() == [float("inf"), 12.5]
loaded = "minigrad.fast" in sys.modules
print(loaded, loaded and minigrad.rules.op.Op.__call__ is minigrad.fast.fast_call)
"""
    env = {**os.environ, "MINIGRAD_PLAIN": plain}
    command = [sys.executable, "-W", "error", "-c", program]
    told = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True)
    assert told.stdout.strip() == prints, told.stderr
