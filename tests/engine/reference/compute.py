"""Computes a case of operations.txt with PyTorch or with minigrad: the same lines."""

import math
import re
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
EXTREME = [0.0, -0.0, 1.0, -1.0, 1e-6, -30.0, 80.0, math.inf, -math.inf, math.nan]
HUGE = [0.0, 1000.0, -1000.0, 30.0, -30.0, 100.0, -100.0, 5.0, 20.5, -0.5]


def cases():
    """Return the lines of operations.txt that are cases."""
    lines = (HERE / "operations.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def values(kind, shape, random):
    """Return an input."""
    n = math.prod(shape)
    if kind.startswith("i"):
        return random.randint(0, int(kind[1:]), shape, np.int64)  # Windows: int32
    if kind == "b":
        return random.rand(*shape) > 0.5
    if kind == "u":
        return random.uniform(0.05, 0.95, shape)
    if kind in ("e", "h"):
        return np.resize(EXTREME if kind == "e" else HUGE, n).reshape(shape)
    if kind == "z":
        return np.where(np.arange(n) % 2, random.standard_normal(n), 0.0).reshape(shape)
    normal = np.asarray(random.standard_normal(shape))
    return np.abs(normal) + 0.1 if kind == "p" else normal


def inputs(case):
    """Return the arrays of a case by name; they depend on nothing but its line."""
    random = np.random.RandomState(zlib.crc32(case.encode()))
    found = {}
    for part in filter(str.strip, case.partition("|")[2].split(";")):
        name, spec = part.strip().split("=")
        kind, shape = re.fullmatch(r"(i\d+:|[a-z]?)([\d,]*)", spec).groups()
        shape = tuple(int(n) for n in shape.split(",") if n)
        found[name] = values(kind.rstrip(":"), shape, random)
    return found


def plain(tensor):
    """Return a tensor of either library as an array of NumPy's."""
    return None if tensor is None else np.array(tensor.detach().clone().tolist())


def tensors_of(case, library, dtype="float64"):
    """Return the inputs of a case as tensors, by name; floats require grad."""
    given = {}
    for name, array in inputs(case).items():
        floats = array.dtype.kind == "f"
        array = array.astype(dtype) if floats else array
        given[name] = (
            library.tensor(array, requires_grad=True)
            if floats
            else library.tensor(array)
        )
    return given


def evaluated(case, library, given):
    """Return the results of a case, of the inputs given, as a list."""
    names = given | {"torch": library, "F": library.nn.functional, "inf": math.inf}
    results = eval(case.partition("|")[0], names)
    return list(results) if isinstance(results, tuple | list) else [results]


def compute(case, library, dtype):
    """Return all there is to compare: results, gradients, second derivatives ..."""
    given = tensors_of(case, library, dtype)
    results = evaluated(case, library, given)
    leaves = [x for x in given.values() if x.requires_grad]
    first, second = [], []
    flowing = [y for y in results if y.requires_grad]
    if flowing:
        first = slopes(library, flowing, leaves, create_graph=True)
    flowing = [g for g in first if g is not None and g.requires_grad]
    if flowing and dtype == "float64":
        second = slopes(library, flowing, leaves)
    name = results[0].grad_fn.name() if results[0].grad_fn else ""
    return {
        "dtypes": [str(y.dtype).removeprefix("torch.") for y in results],
        "shapes": [tuple(y.shape) for y in results],
        "name": name,
        "results": [plain(y) for y in results],
        "first": [plain(g) for g in first],
        "second": [plain(g) for g in second],
    }


def slopes(library, outputs, leaves, create_graph=False):
    """Return the gradient of the outputs, weighed by 1, 2, 3 ..., for each leaf."""
    weights = []
    for output in outputs:
        ramp = np.arange(1, output.numel() + 1).reshape(tuple(output.shape)) / 4
        weights.append(
            library.tensor(ramp.astype(str(output.dtype).removeprefix("torch.")))
        )
    return library.autograd.grad(
        outputs, leaves, weights, create_graph=create_graph, allow_unused=True
    )


# Programs of several lines


def programs():
    """Return the programs of programs.txt, by their headings."""
    text = (HERE / "programs.txt").read_text(encoding="utf-8")
    pairs = (part.split("\n", 1) for part in re.split(r"(?m)^## ", text)[1:])
    return {heading: program.strip() for heading, program in pairs}


def ran(program, library, checkpoint):
    """Run a program with a library, and return what it found, as JSON holds it."""
    space = {"torch": library, "F": library.nn.functional, "checkpoint": checkpoint}
    space |= {"math": math, "np": np}
    exec(program, space)
    return told(space["found"])


def told(value):
    """Return tensors as shapes and numbers, and what is no number as text."""
    if isinstance(value, tuple | list):
        return [told(each) for each in value]
    if hasattr(value, "detach"):
        numbers, dtype = plain(value).reshape(-1), str(value.dtype).split(".")[-1]
        about = {} if dtype == "float32" else {"dtype": dtype}
        numbers = [rounded(n) for n in numbers]
        return {"shape": list(value.shape), **about, "numbers": numbers}
    if isinstance(value, bool | float):
        return value
    return str(value).replace("torch.", "").replace("minigrad.", "")


def rounded(value):
    """Return an array as nested lists of numbers with ten digits."""
    if value is None:
        return None
    if value.ndim:
        return [rounded(part) for part in value]
    number = value.item()
    if isinstance(number, float) and math.isfinite(number):
        return float(f"{number:.10g}")
    return number
