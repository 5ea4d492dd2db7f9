"""Module: parameters, and what is computed with them, as one thing with parts."""

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from minigrad.array import device
from minigrad.array.dtypes import as_dtype, float32, float64
from minigrad.graph.hooks import ForwardHook
from minigrad.graph.recording import no_grad
from minigrad.graph.tensor import Tensor, kind
from minigrad.nn.loading import LOADING, Names, compared, misfits, misnamed
from minigrad.nn.utils import forget_gradients


class Parameter(Tensor):
    """A leaf that a Module owns and an optimizer may change."""

    __slots__ = ()

    def __init__(self, data: Tensor, requires_grad: bool = True):
        super().__init__(data.array if isinstance(data, Tensor) else data)
        self.requires_grad = requires_grad

    def __deepcopy__(self, memo: dict) -> "Parameter":
        twin = super().__deepcopy__(memo)
        twin.grad = None  # as PyTorch does, for a Parameter
        return twin


class Module:
    """What layers and networks are: call it, and `forward` runs.

    A Parameter or a Module that becomes an attribute is found by parameters(),
    state_dict() and the like; other tensors only if registered as buffers.
    """

    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={}, _buffers={}, training=True)
        self.__dict__.update(_before={}, _after={}, _unsaved=set())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every module writes its own."""
        raise NotImplementedError(
            f'Module [{kind(self)}] is missing the required "forward" function: '
            "write forward(self, ...) in its class"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook in list(self._before.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        out = self.forward(*args, **kwargs)
        for hook in list(self._after.values()):
            changed = hook(self, args, out)
            out = out if changed is None else changed
        return out

    def register_forward_pre_hook(self, hook: Callable) -> ForwardHook:
        """Call hook(module, args) before forward; it may return other args."""
        return ForwardHook(self._before, hook)

    def register_forward_hook(self, hook: Callable) -> ForwardHook:
        """Call hook(module, args, output) after forward; it may replace the output."""
        return ForwardHook(self._after, hook)

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
                check_may_keep(self, name, value)
                return table
        return None

    def __getattr__(self, name: str) -> Any:
        for table in TABLES:
            if name in self.__dict__.get(table, ()):
                return self.__dict__[table][name]
        raise not_there(self, name)

    def __dir__(self) -> list[str]:
        return [
            *super().__dir__(),
            *(name for table in self._tables() for name in table),
        ]

    def __delattr__(self, name: str) -> None:
        for table in self._tables():
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Keep a tensor that is no parameter, and part of state_dict if persistent."""
        self._register(self._buffers, name, tensor, Tensor)
        (self._unsaved.discard if persistent else self._unsaved.add)(name)

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Keep a parameter, or the place of one."""
        self._register(self._parameters, name, parameter, Parameter)

    def add_module(self, name: str, module: "Module | None") -> None:
        """Keep a part under a name that may be a number."""
        self._register(self._modules, name, module, Module)

    def _register(self, table: dict, name: str, value: Any, wanted: type) -> None:
        """Keep a value in a table; raise KeyError or TypeError if it cannot be."""
        if not name or "." in name:
            raise KeyError(f"name {name!r} can't be empty, and can't contain '.'")
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute {name!r} already exists")
        if value is not None and not isinstance(value, wanted):
            hint = f": write {value.__name__}()" if isinstance(value, type) else ""
            hint = ": unpack it with *" if isinstance(value, list) else hint
            if isinstance(value, FunctionType):
                hint = ": a function has a layer of its own, such as nn.ReLU()"
            raise TypeError(
                f"{getattr(value, '__name__', kind(value))} is not a "
                f"{wanted.__name__}{hint}"
            )
        table[name] = value

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

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator:
        """Yield (name, parameter): "layer.0.weight"; a shared one once."""
        return renamed(self._named("_parameters"), prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield all parameters, each once; or only this module's own."""
        return (parameter for _, parameter in self.named_parameters("", recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator:
        """Yield (name, buffer)."""
        return renamed(self._named("_buffers"), prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield all buffers; or only this module's own."""
        return (buffer for _, buffer in self.named_buffers("", recurse))

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

    def to(self, *args: Any, device: Any = None, dtype: Any = None) -> "Module":
        """Turn all floating point parameters and buffers into a dtype, or move them."""
        for target in (*args, device, dtype):
            if target is not None:
                self._to(target)
        return self

    def cpu(self) -> "Module":
        """Move all parameters and buffers to the processor's memory."""
        return self.to("cpu")

    def _to(self, target: Any) -> None:
        moves = device.is_device(target)
        if not moves and as_dtype(target).kind != "f":
            raise TypeError(
                f"Module.to only accepts floating point dtypes, but got {target}"
            )
        for _, tensor in [*self.named_parameters(), *self.named_buffers()]:
            if moves or tensor.is_floating_point():
                grad, tensor.array = tensor._grad, tensor.detach().to(target).array
                tensor._grad = None if grad is None else grad.to(target)

    def float(self) -> "Module":
        """Turn parameters and buffers into float32."""
        return self.to(float32)

    def double(self) -> "Module":
        """Turn parameters and buffers into float64."""
        return self.to(float64)

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Return all parameters and buffers by name, detached, on the same memory."""
        saved = {k: t for k, t in self._buffers.items() if k not in self._unsaved}
        own = (self._parameters | saved).items()
        state = {prefix + name: t.detach() for name, t in own if t is not None}
        for name, part in self._modules.items():
            if part is not None:
                state |= part.state_dict(f"{prefix}{name}.")
        return state

    def load_state_dict(self, state_dict: dict, strict: bool = True) -> "Names":
        """Copy tensors from a state_dict; return the missing and unexpected names.

        With strict, names must agree; shapes always. Else RuntimeError lists them all,
        and nothing is changed.
        """
        own = self.state_dict()
        names = compared(own, state_dict)
        wrong = [*misnamed(names if strict else ()), *misfits(own, state_dict)]
        if wrong:
            raise RuntimeError("\n    ".join([LOADING.format(kind(self)), *wrong]))
        with no_grad():
            for name in own:
                if name in state_dict:
                    own[name].copy_(state_dict[name])
        return names

    def extra_repr(self) -> str:
        """Return what stands in the brackets when a module prints."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {part!r}" for name, part in self._modules.items()]
        extra = self.extra_repr()
        if not lines:
            return f"{kind(self)}({extra})"
        inside = "\n".join([extra, *lines] if extra else lines).replace("\n", "\n  ")
        return f"{kind(self)}(\n  {inside}\n)"


def renamed(pairs: Iterator, prefix: str, recurse: bool) -> Iterator:
    """Yield (name, tensor) with a prefix, of all parts or of the whole itself only."""
    for name, tensor in pairs:
        if recurse or "." not in name:
            yield f"{prefix}.{name}".lstrip("."), tensor


def check_replaces(name: str, value: Any, wanted: type) -> None:
    """Raise TypeError unless `value` may stand where a `wanted` was kept."""
    if value is not None and not isinstance(value, wanted):
        hint = ". To change its numbers only, write to it under no_grad()"
        raise TypeError(
            f"cannot assign {kind(value)} as {WHAT[wanted]} {name!r}: it has to be a "
            f"{wanted.__name__}, or None{hint * isinstance(value, Tensor)}"
        )


def not_there(module: Module, name: str) -> AttributeError:
    """Return the error for an attribute that a module lacks."""
    begun = "_parameters" in module.__dict__
    hint = "" if begun else ": its __init__ did not call super().__init__()"
    return AttributeError(f"{kind(module)!r} object has no attribute {name!r}{hint}")


def check_may_keep(module: Module, name: str, value: Any) -> None:
    """Raise unless there is a table to keep `value`, and nothing that would hide it."""
    if "_parameters" not in module.__dict__:
        what = "module" if isinstance(value, Module) else "parameters"
        raise AttributeError(
            f"cannot assign {what} before Module.__init__() call: the __init__ of "
            f"{kind(module)} has to begin with super().__init__()"
        )
    if hasattr(type(module), name):
        raise KeyError(f"attribute {name!r} already exists, in {kind(module)} itself")


TABLES = {"_parameters": Parameter, "_modules": Module, "_buffers": Tensor}
WHAT = {Parameter: "parameter", Module: "child module", Tensor: "buffer"}
