"""Module: Parameters and the code that uses them, as one object with parts."""

from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping

from minigrad.array.dtypes import as_dtype, float64
from minigrad.errors import expect, kind
from minigrad.graph.recording import no_grad
from minigrad.graph.tensor import Tensor


class Parameter(Tensor):
    """A leaf that a Module owns and an optimizer may change."""

    __slots__ = ()

    def __init__(self, data: Tensor, requires_grad: bool = True):
        super().__init__(data.array if isinstance(data, Tensor) else data)
        self.requires_grad = requires_grad

    def __deepcopy__(self, memo: dict) -> "Parameter":
        return Parameter(self.detach().clone(), self.requires_grad)  # without its grad


# The names in which a model and a state_dict differ
Names = namedtuple("Names", "missing_keys unexpected_keys")


class Module:
    """The base class of layers and networks. A call runs `forward`.

    A Parameter or a Module that becomes an attribute is found by parameters(),
    state_dict() and the like. Other tensors are found only if they are registered as
    buffers.
    """

    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={}, _buffers={}, training=True)

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    # Attributes

    def __setattr__(self, name: str, value) -> None:
        for table, wanted in TABLES.items():
            belongs = isinstance(value, wanted) and wanted is not Tensor
            if belongs or name in self.__dict__.get(table, {}):
                return self._keep(table, name, value)
        object.__setattr__(self, name, value)

    def _keep(self, table: str, name: str, value) -> None:
        """Put a parameter, a part or a buffer into its table, and into no other."""
        if not isinstance(value, TABLES[table] | None):
            what = f"cannot assign {kind(value)} as {table[1:-1]} {name!r}"
            raise TypeError(f"{what}: it has to be a {TABLES[table].__name__}, or None")
        for other in self.__dict__, *(getattr(self, t) for t in TABLES if t != table):
            other.pop(name, None)
        getattr(self, table)[name] = value

    def __delattr__(self, name: str) -> None:
        getattr(self, name)  # which raises AttributeError where there is none
        for table in self.__dict__, *(getattr(self, t) for t in TABLES):
            table.pop(name, None)

    def __getattr__(self, name: str):
        if name in TABLES:
            raise AttributeError("cannot assign or find parts before super().__init__")
        for table in TABLES:
            if name in getattr(self, table):
                return getattr(self, table)[name]
        raise AttributeError(f"{kind(self)!r} object has no attribute {name!r}")

    def register_buffer(self, name: str, tensor: Tensor | None) -> None:
        """Keep a tensor that is not a parameter, but belongs to the state_dict."""
        self._keep("_buffers", name, tensor)

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Keep a parameter. None reserves the name, as for a layer without a bias."""
        self._keep("_parameters", name, parameter)

    # Walking through the parts

    def named_modules(self, prefix: str = "", seen: set | None = None) -> Iterator:
        """Yield (name, module) for this module and all of its parts, each once."""
        seen = set() if seen is None else seen
        if id(self) in seen:
            return
        seen.add(id(self))
        yield prefix, self
        for name, part in self._modules.items():
            if part is not None:
                yield from part.named_modules(f"{prefix}.{name}".lstrip("."), seen)

    def modules(self) -> Iterator["Module"]:
        """Yield this module and all of its parts, each once."""
        return (module for _, module in self.named_modules())

    def children(self) -> Iterator["Module"]:
        """Yield the direct parts, each once."""
        parts = dict.fromkeys(self._modules.values())
        return (part for part in parts if part is not None)

    def _named(self, table: str) -> Iterator:
        """Yield (name, tensor) from the tables of all parts, each tensor once."""
        seen = set()
        for prefix, module in self.named_modules():
            for name, tensor in getattr(module, table).items():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield f"{prefix}.{name}".lstrip("."), tensor

    def named_parameters(self) -> Iterator:
        """Yield (name, parameter), such as "layer.0.weight", each parameter once."""
        return self._named("_parameters")

    def parameters(self) -> Iterator[Parameter]:
        """Yield all parameters, each once."""
        return (parameter for _, parameter in self.named_parameters())

    def named_buffers(self) -> Iterator:
        """Yield (name, buffer)."""
        return self._named("_buffers")

    # State

    def train(self, mode: bool = True) -> "Module":
        """Switch to training mode: dropout drops, and batch norm uses the batch."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for part in self.children():
            part.train(mode)
        return self

    def eval(self) -> "Module":
        """Switch to eval mode, the opposite of train()."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> "Module":
        """Freeze (False) or thaw all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients to None, or to 0."""
        forget_gradients(self.parameters(), set_to_none)

    def to(self, dtype) -> "Module":
        """Convert floating point parameters and buffers to a dtype."""
        floats = as_dtype(dtype).kind == "f"
        expect(floats, "Module.to needs a floating point dtype", dtype, error=TypeError)
        for _, tensor in [*self.named_parameters(), *self.named_buffers()]:
            if tensor.dtype.kind == "f":
                grad, tensor.array = tensor._grad, tensor.detach().to(dtype).array
                tensor._grad = None if grad is None else grad.to(dtype)
        return self

    def double(self) -> "Module":
        """Convert floating point parameters and buffers to float64."""
        return self.to(float64)

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Return all parameters and buffers by name, detached, sharing their memory."""
        own = (self._parameters | self._buffers).items()
        state = {prefix + name: t.detach() for name, t in own if t is not None}
        for name, part in self._modules.items():
            if part is not None:
                state |= part.state_dict(f"{prefix}{name}.")
        return state

    def load_state_dict(self, state_dict: dict, strict: bool = True) -> Names:
        """Copy tensors from a state_dict. Return the missing and unexpected names.

        Shapes must always agree, and so must names if `strict` is true. If they do
        not, a RuntimeError lists all problems, and nothing is changed.
        """
        expect(isinstance(state_dict, Mapping), "expected a dict", state_dict)
        own = self.state_dict()
        shared = [name for name in own if name in state_dict]
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        wrong = []
        for name in shared:
            new, here = state_dict[name], own[name].shape
            if not isinstance(new, Tensor):
                wrong.append(f"expected a Tensor for {name}, but got {kind(new)}")
            elif new.shape != here:
                wrong.append(f"size mismatch for {name}: {new.shape}, but {here}")
        if strict and missing + unexpected:
            wrong.append(f"Missing key(s) in state_dict: {missing}")
            wrong.append(f"Unexpected key(s) in state_dict: {unexpected}")
        if wrong:
            title = f"Error(s) in loading state_dict for {kind(self)}:"
            raise RuntimeError("\n    ".join([title, *wrong]))
        with no_grad():
            for name in shared:
                own[name].copy_(state_dict[name])
        return Names(missing, unexpected)

    def __repr__(self) -> str:
        lines = [f"({name}): {part!r}" for name, part in self._modules.items()]
        if lines:
            inside = "\n".join(lines).replace("\n", "\n  ")
            return f"{kind(self)}(\n  {inside}\n)"
        own = {n: v for n, v in vars(self).items() if n[0] != "_" and n != "training"}
        return f"{kind(self)}({', '.join(f'{n}={v!r}' for n, v in own.items())})"


TABLES = {"_parameters": Parameter, "_modules": Module, "_buffers": Tensor}


def forget_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Set the gradients of parameters to None, or to 0."""
    for p in parameters:
        if p._grad is not None:
            p.grad = None if set_to_none else p.grad.detach().zero_()
