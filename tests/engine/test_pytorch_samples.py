"""PyTorch's own samples of what its operations take, and refuse: the same here.

Unlike the cases in reference/, these inputs were not chosen here.
"""

import tomllib
import traceback
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import minigrad

OURS = {  # where PyTorch's samples give the arguments in another order, or no function
    "__getitem__": lambda x, i: x[i],
    "mT": lambda x: x.mT,
    "nn.functional.embedding": lambda w, i, **options: minigrad.nn.functional.embedding(
        i, w, **options
    ),
    "T": lambda x: x.T,
    "where": lambda x, condition, y: minigrad.where(condition, x, y),
}
TEXT = Path(__file__).with_suffix(".toml").read_text("utf-8")
SETS = SimpleNamespace(**tomllib.loads(TEXT))
SAMPLED = {name: set(d.split()) for d, names in SETS.samples.items() for name in names}
REFUSALS = RuntimeError, TypeError, ValueError, IndexError, NotImplementedError
USUAL = {"dilation": 1, "groups": 1, "ceil_mode": False, "return_indices": False}
USUAL |= {"device": "cpu"}
DTYPES = {}  # PyTorch's and ours
TAKES_LESS = {"nn": (*REFUSALS, OverflowError)}  # refuses some options and shapes


@pytest.fixture(scope="module", autouse=True)
def pytorch():
    """Import PyTorch and its samples when the first test runs: it takes seconds."""
    global torch, OPERATIONS, MODULES
    torch = pytest.importorskip("torch")
    pytest.importorskip("expecttest")  # PyTorch's own tests want it
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import module_db

    for name in ("float32", "float64", "int64", "bool"):
        DTYPES[getattr(torch, name)] = getattr(minigrad, name)
    every = {f"{op.name} {op.variant_test_name}".strip(): op for op in op_db}
    OPERATIONS = {
        name: op
        for name, op in every.items()
        if forms(op)
        and op.name.split(".")[-1] not in SETS.CHANCE
        and name not in SETS.LEFT_OUT
    }
    found = {info.name[3:]: info for info in module_db}
    MODULES = {n: info for n, info in found.items() if getattr(minigrad.nn, n, None)}


def refused(error):
    """Take a refusal as one; raise the error, if its words are NumPy's or Python's."""
    if any(words in str(error) for words in ("unexpected keyword", "positional arg")):
        return
    last = traceback.extract_tb(error.__traceback__)[-1]
    if "minigrad" not in last.filename or not last.line.startswith("raise"):
        raise AssertionError("words from inside") from error


class NotHere(Exception):
    """A sample wants what minigrad does not have, such as complex numbers."""


def fresh(value):
    """Return a tensor as a leaf with memory of its own, in the same strides."""
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype not in DTYPES or value.layout != torch.strided or value.ndim > 64:
        raise NotHere
    plain = value.detach().resolve_neg()
    memory = plain.untyped_storage().clone(), plain.storage_offset()
    copy = torch.empty(0, dtype=value.dtype).set_(*memory, plain.shape, plain.stride())
    return copy.requires_grad_(value.requires_grad)


def ours(value, leaves):
    """Return an argument for minigrad; note pairs of leaves in `leaves`."""
    if isinstance(value, torch.Tensor):
        mine = minigrad.from_numpy(fresh(value).detach().numpy())
        leaves.append((value, mine.requires_grad_(value.requires_grad)))
        return mine
    if isinstance(value, torch.dtype):
        if value not in DTYPES:
            raise NotHere
        return DTYPES[value]
    if isinstance(value, torch.layout | torch.memory_format | complex):
        raise NotHere
    if isinstance(value, list | tuple):
        kind = list if isinstance(value, list) else tuple
        return kind(ours(each, leaves) for each in value)
    if isinstance(value, dict):
        return {name: ours(each, leaves) for name, each in value.items()}
    return str(value) if isinstance(value, torch.device) else value


def forms(op):
    """Return the function, the method and the one in place: PyTorch's and this one."""
    function = minigrad
    for part in op.name.split("."):
        function = getattr(function, part, None)
    method = getattr(minigrad.Tensor, op.name, None)
    inplace = getattr(minigrad.Tensor, f"{op.name}_", None)
    found = [(op.op, OURS.get(op.name, function or method))]
    if op.method_variant:
        found.append((op.method_variant, method))
    if op.inplace_variant and inplace:
        found.append((of_a_copy(op.inplace_variant), of_a_copy(inplace)))
    return [(theirs, mine) for theirs, mine in found if callable(mine)]


def of_a_copy(inplace):
    return lambda x, *args, **options: inplace(x.clone(), *args, **options)


def flat(value):
    """Return all results in a list."""
    if isinstance(value, list | tuple):
        return [each for part in value for each in flat(part)]
    return [value]


def same(mine, theirs):
    if not isinstance(theirs, torch.Tensor):
        np.testing.assert_equal(mine, theirs)
        return
    numbers = theirs.detach().numpy(force=True)
    assert mine.shape == numbers.shape
    assert str(mine.dtype).removeprefix("minigrad.") == str(numbers.dtype)
    tolerance = 1e-7 if numbers.dtype == np.float64 else 1e-4
    np.testing.assert_allclose(mine.array, numbers, tolerance, tolerance)


def gradients(lib, outputs, inputs, weights, create_graph):
    options = {"allow_unused": True, "create_graph": create_graph}
    return lib.autograd.grad(outputs, inputs, weights, **options)


def check_gradients(pairs, leaves, orders):
    """Hold the gradients of outputs, pairs of both libraries', against each other."""
    pairs = [(y, mine) for y, mine in pairs if requires_grad(y)]
    leaves = [(x, mine) for x, mine in leaves if x.requires_grad]
    if not pairs or not leaves or not orders:
        return
    assert all(mine.requires_grad for _, mine in pairs)
    weights = [torch.randn(y.shape, dtype=y.dtype) for y, _ in pairs]
    (ys, mine), (xs, my_xs) = zip(*pairs), zip(*leaves)
    try:
        theirs = gradients(torch, ys, xs, weights, orders > 1)
    except RuntimeError as error:
        assert "is not implemented" in str(error)
        return
    weights = [minigrad.from_numpy(w.numpy()) for w in weights]
    found = gradients(minigrad, mine, my_xs, weights, orders > 1)
    for g, expected in zip(found, theirs):
        if g is None or expected is None:  # None and zeros mean the same
            assert all(each is None or not each.any() for each in (g, expected))
        else:
            same(g, expected)
    rest = [pair for pair in zip(theirs, found) if all(map(requires_grad, pair))]
    check_gradients(rest, leaves, orders - 1)


def requires_grad(value):
    return getattr(value, "requires_grad", False)


def left_out(op, sample):
    """Return whether a sample wants what minigrad leaves out, or what only chance says.

    It adds no two numbers without a tensor, and dropout is not drawn alike. Tensors of
    more than 100,000 numbers would only take long.
    """
    given = flat([sample.input, sample.args, list(sample.kwargs.values())])
    tensors = [isinstance(each, torch.Tensor) for each in given]
    return (
        not (any(tensors) or op.name in SETS.MAKE_TENSORS)
        or (op.name.startswith("__") and not tensors[0])
        or bool(sample.kwargs.get("dropout_p"))
        or any(each.numel() > 10**5 for each in given if isinstance(each, torch.Tensor))
    )


def compare(op, sample, orders, may_refuse=False):
    """Hold each form of an operation against PyTorch's; return how many there were."""
    for i, (theirs, mine) in enumerate(forms(op)):
        sample, leaves = sample.transform(fresh), []
        if i and not isinstance(sample.input, torch.Tensor):
            return i
        given = ours((sample.input, *sample.args), leaves)
        options = ours(sample.kwargs, leaves)
        for name in USUAL.keys() & options:
            if options[name] == USUAL[name]:  # said, though nothing is asked for
                del options[name]
        try:
            expected = theirs(sample.input, *sample.args, **sample.kwargs)
        except REFUSALS:  # a result in place has to fit
            with pytest.raises(REFUSALS):
                mine(*given, **options)
            continue
        try:
            results = flat(mine(*given, **options))
        except TAKES_LESS.get(op.name.split(".")[0], NotHere) as error:
            refused(error)
            raise NotHere from error
        except REFUSALS as error:
            if not may_refuse:
                raise
            refused(error)
            continue
        pairs = list(zip(flat(expected), results, strict=True))
        for y, found in pairs:
            same(found, y)
        check_gradients(pairs, leaves, orders)
    return i + 1


def samples(op, dtype):
    """Return PyTorch's samples: for float64 and integers its longer list."""
    short = dtype == torch.float32 or op.name in SETS.CORNERS
    make = op.sample_inputs if short else op.reference_inputs
    try:
        found = list(make("cpu", dtype, requires_grad=dtype.is_floating_point))
    except ValueError:  # PyTorch's own: its longer list is for floats only
        found = list(op.sample_inputs("cpu", dtype))
    return found[:: len(found) // 100 + 1 | 1]  # odd: options come in turn


def test_the_tables_name_all_that_both_libraries_have():
    """They stand in a file, so that PyTorch is not imported to list the tests."""
    found = {}
    for name, op in OPERATIONS.items():
        dtypes = {str(d).removeprefix("torch.") for d in DTYPES if d in op.dtypes}
        found[name] = dtypes - ({"bool"} if name in SETS.HALF else set())
    errors = [name for name, op in OPERATIONS.items() if op.error_inputs_func]
    errors = [n for n in errors if n[0] != "_" and n not in SETS.TAKES_NUMBERS]
    assert {name: dtypes for name, dtypes in found.items() if dtypes} == SAMPLED
    assert sorted(errors) == SETS.ERRORS and sorted(MODULES) == SETS.MODULES


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        pytest.param(name, dtype, id=f"{name}, {dtype}")
        for dtypes, names in SETS.samples.items()
        for name in names
        for dtype in dtypes.split()
    ],
)
def test_a_sample_of_pytorchs_gives_the_same(name, dtype):
    op, dtype, done = OPERATIONS[name], getattr(torch, dtype), 0
    orders = {torch.float64: 2, torch.float32: 1}.get(dtype, 0)
    may_refuse = name in SETS.REFUSED or name.startswith("nn.")
    torch.manual_seed(0)
    for sample in samples(op, dtype):
        if not left_out(op, sample):
            try:
                with suppress(NotHere):
                    done += compare(op, sample, orders, may_refuse)
            except Exception as error:
                raise AssertionError(f"{name}: {sample.summary()}") from error
    assert done or name in SETS.ALL_LEFT_OUT


@pytest.mark.parametrize("name", SETS.ERRORS)
def test_what_pytorchs_samples_of_errors_say_is_refused(name):
    """But for questions and operators: here a number may stand on either side."""
    op = OPERATIONS[name]
    _, function = forms(op)[0]
    for error in op.error_inputs("cpu"):
        sample = error.sample_input
        try:
            given = ours((sample.input, *sample.args), [])
            options = ours(sample.kwargs, [])
        except NotHere:
            continue
        with pytest.raises((*REFUSALS, ZeroDivisionError, AttributeError)):
            print(f"{sample.summary()} gives {function(*given, **options)}")


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SETS.MODULES)
def test_a_module_of_pytorchs_samples_does_the_same(name, dtype, training):
    info, dtype = MODULES[name], getattr(torch, dtype)
    torch.manual_seed(0)
    samples = info.module_inputs_func(info, "cpu", dtype, True, training)
    for sample in samples:
        made, given = sample.constructor_input, sample.forward_input
        theirs = info.module_cls(*made.args, **made.kwargs).to(dtype)
        args, options = ours(made.args, []), ours(made.kwargs, [])
        try:
            mine = getattr(minigrad.nn, info.name[3:])(*args, **options)
        except (TypeError, NotImplementedError):  # an option that is not taken
            continue
        mine.to(DTYPES[dtype])
        state = theirs.train(training).state_dict()
        mine.train(training).load_state_dict(ours(dict(state), []))
        if given is None or "Dropout" in info.name:
            continue
        leaves = list(zip(theirs.parameters(), mine.parameters(), strict=True))
        args, options = ours(given.args, leaves), ours(given.kwargs, leaves)
        ys = theirs(*given.args, **given.kwargs)
        try:
            found = mine(*args, **options)
        except REFUSALS:
            continue
        pairs = list(zip(flat(ys), flat(found), strict=True))
        for y, each in pairs:
            same(each, y)
        check_gradients(pairs, leaves, 1)
        after = theirs.state_dict()
        assert list(mine.state_dict()) == list(after)
        for name, value in after.items():
            same(mine.state_dict()[name], value)
