"""Module: parameters, and what is computed with them, as one thing with parts."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from minigrad.array import device
from minigrad.array.dtypes import as_dtype, float32, float64
from minigrad.errors import kind
from minigrad.graph.hooks import RemovableHandle
from minigrad.graph.recording import no_grad
from minigrad.graph.tensor import Tensor


class Parameter(Tensor):
    """A leaf that a Module owns and an optimizer may change."""

    __slots__ = ()

    def __init__(self, data: Tensor, requires_grad: bool = True):
        super().__init__(data.array if isinstance(data, Tensor) else data)
        self.requires_grad = requires_grad

    def __deepcopy__(self, memo: dict) -> "Parameter":
        twin = super().__deepcopy__(memo)
        twin.grad = None  # a copied model starts without gradients
        return twin


class Names(NamedTuple):
    """The names in which a model and a state_dict differ."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        same = not any(self)
        return "<All keys matched successfully>" if same else f"Names{tuple(self)}"


class Module:
    """What layers and networks are: call it, and `forward` runs.

    A Parameter or a Module that becomes an attribute is found by parameters(),
    state_dict() and the like; other tensors only if registered as buffers.
    """

    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={}, _buffers={}, training=True)
        self.__dict__["_forward_hooks"] = {}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every module writes its own."""
        raise NotImplementedError(
            f'Module [{kind(self)}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = self.forward(*args, **kwargs)
        for hook in list(self._forward_hooks.values()):
            changed = hook(self, args, out)
            out = out if changed is None else changed
        return out

    def register_forward_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, args, output) after forward; it may replace the output."""
        key = object()
        self._forward_hooks[key] = hook
        return RemovableHandle(lambda: self._forward_hooks.pop(key, None))

    # Attributes

    def __setattr__(self, name: str, value: Any) -> None:
        table = self._table_for(name, value)
        for other in self._tables():
            if other is not table:
                other.pop(name, None)
        if table is None:
            object.__setattr__(self, name, value)
        else:
            self.__dict__.pop(name, None)
            table[name] = value

    def _tables(self) -> list[dict]:
        """Return where parameters, parts and buffers are kept."""
        return [self.__dict__.get(table, {}) for table in TABLES]

    def _table_for(self, name: str, value: Any) -> dict | None:
        """Return where an attribute is kept; None for ordinary ones."""
        for table, wanted in zip(self._tables(), TABLES.values()):
            if name in table:
                check_replaces(name, value, wanted)
                return table
            if wanted is not Tensor and isinstance(value, wanted):
                check_begun(self)
                return table
        return None

    def __getattr__(self, name: str) -> Any:
        for table in self._tables():
            if name in table:
                return table[name]
        check_begun(self)
        raise AttributeError(f"{kind(self)!r} object has no attribute {name!r}")

    def register_buffer(self, name: str, tensor: Tensor | None) -> None:
        """Keep a tensor that is no parameter, but part of state_dict."""
        self._buffers[name] = tensor

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Keep a parameter, or the place of one."""
        self._parameters[name] = parameter

    def add_module(self, name: str, module: "Module | None") -> None:
        """Keep a part under a name that may be a number."""
        if not isinstance(module, Module | None):
            raise TypeError(
                f"{module} is not a Module: a layer is made by a call, such as "
                "nn.ReLU(), and a list of layers is unpacked with *"
            )
        self._modules[name] = module

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

    def named_children(self) -> Iterator:
        """Yield (name, part) for the direct parts, each once."""
        seen = {None}
        for name, part in self._modules.items():
            if part not in seen:
                seen.add(part)
                yield name, part

    def children(self) -> Iterator["Module"]:
        """Yield the direct parts."""
        return (part for _, part in self.named_children())

    def _named(self, table: str) -> Iterator:
        """Yield (name, tensor) from the tables of all parts; each tensor once."""
        seen = set()
        for prefix, module in self.named_modules():
            for name, tensor in getattr(module, table).items():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield f"{prefix}.{name}".lstrip("."), tensor

    def named_parameters(self) -> Iterator:
        """Yield (name, parameter): "layer.0.weight"; a shared one once."""
        return self._named("_parameters")

    def parameters(self) -> Iterator[Parameter]:
        """Yield all parameters, each once."""
        return (parameter for _, parameter in self.named_parameters())

    def named_buffers(self) -> Iterator:
        """Yield (name, buffer)."""
        return self._named("_buffers")

    def buffers(self) -> Iterator[Tensor]:
        """Yield all buffers."""
        return (buffer for _, buffer in self.named_buffers())

    def apply(self, function: Callable) -> "Module":
        """Call function(module) for all parts, inner ones first, then for this one."""
        for part in self.children():
            part.apply(function)
        function(self)
        return self

    # State

    def train(self, mode: bool = True) -> "Module":
        """Switch to training: dropout drops, batch norm uses the batch."""
        if not isinstance(mode, bool):
            raise ValueError(
                f"training mode is expected to be boolean, and this is a {kind(mode)}: "
                "train() only switches, the training loop is yours to write"
            )
        self.training = mode
        for part in self.children():
            part.train(mode)
        return self

    def eval(self) -> "Module":
        """Switch to use: the opposite of train()."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> "Module":
        """Freeze (False) or thaw all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to 0."""
        forget_gradients(self.parameters(), set_to_none)

    def to(self, target: Any) -> "Module":
        """Turn floating point parameters and buffers into a dtype, or move all."""
        moves = device.is_device(target)
        if not moves and as_dtype(target).kind != "f":
            raise TypeError(f"Module.to wants a floating point dtype, but got {target}")
        for _, tensor in [*self.named_parameters(), *self.named_buffers()]:
            if tensor.dtype.kind == "f" or moves:
                grad, tensor.array = tensor._grad, tensor.detach().to(target).array
                tensor._grad = None if grad is None else grad.to(target)
        return self

    def float(self) -> "Module":
        """Turn parameters and buffers into float32."""
        return self.to(float32)

    def double(self) -> "Module":
        """Turn parameters and buffers into float64."""
        return self.to(float64)

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Return all parameters and buffers by name, detached, on the same memory."""
        own = (self._parameters | self._buffers).items()
        state = {prefix + name: t.detach() for name, t in own if t is not None}
        for name, part in self._modules.items():
            if part is not None:
                state |= part.state_dict(f"{prefix}{name}.")
        return state

    def load_state_dict(self, state_dict: dict, strict: bool = True) -> Names:
        """Copy tensors from a state_dict; return the missing and unexpected names.

        With strict, names must agree; shapes always. Else RuntimeError lists them all,
        and nothing is changed.
        """
        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        wrong = [
            f"size mismatch for {name}: {state_dict[name].shape} in the state_dict, "
            f"{own[name].shape} in the model"
            for name in own
            if name not in missing and state_dict[name].shape != own[name].shape
        ]
        for what, names in ("Unexpected", unexpected), ("Missing", missing):
            if strict and names:
                wrong = [f"{what} key(s) in state_dict: {', '.join(names)}", *wrong]
        if wrong:
            title = f"Error(s) in loading state_dict for {kind(self)}:"
            raise RuntimeError("\n    ".join([title, *wrong]))
        with no_grad():
            for name, tensor in own.items():
                if name in state_dict:
                    tensor.copy_(state_dict[name])
        return Names(missing, unexpected)

    def extra_repr(self) -> str:
        """Return what stands in the brackets when a module prints: its options."""
        shown = {n: v for n, v in vars(self).items() if n[0] != "_" and n != "training"}
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())

    def __repr__(self) -> str:
        lines = [f"({name}): {part!r}" for name, part in self._modules.items()]
        if not lines:
            return f"{kind(self)}({self.extra_repr()})"
        inside = "\n".join(lines).replace("\n", "\n  ")
        return f"{kind(self)}(\n  {inside}\n)"


TABLES = {"_parameters": Parameter, "_modules": Module, "_buffers": Tensor}
WHAT = {Parameter: "parameter", Module: "child module", Tensor: "buffer"}


def check_replaces(name: str, value: Any, wanted: type) -> None:
    """Raise TypeError unless `value` may stand where a `wanted` was kept."""
    if not isinstance(value, wanted | None):
        hint = ". To change its numbers only, write to it under no_grad()"
        raise TypeError(
            f"cannot assign {kind(value)} as {WHAT[wanted]} {name!r}: it has to be a "
            f"{wanted.__name__}, or None{hint * isinstance(value, Tensor)}"
        )


def check_begun(module: Module) -> None:
    """Raise AttributeError if a module's __init__ has not called Module's."""
    if "_parameters" not in module.__dict__:
        raise AttributeError(
            "cannot assign or find parts before Module.__init__() call: the "
            f"__init__ of {kind(module)} has to begin with super().__init__()"
        )


def forget_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Take their gradients from parameters, or set these to 0."""
    for p in parameters:
        if set_to_none:
            p._grad = None
        elif p.grad is not None:
            p.grad = p.grad.detach().zero_()
