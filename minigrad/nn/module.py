"""Module: parameters, and what is computed with them, as one thing with parts."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from minigrad.grad_mode import no_grad
from minigrad.tensor import Tensor, kind


class Parameter(Tensor):
    """A leaf that a Module owns and an optimizer may change."""

    __slots__ = ()

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True):
        super().__init__(data.array if isinstance(data, Tensor) else data)
        self.requires_grad = requires_grad


class Module:
    """What layers and networks are: call it, and `forward` runs.

    A Parameter or a Module that becomes an attribute is found by parameters(),
    state_dict() and the like; other tensors only if registered as buffers.
    """

    def __init__(self):
        self.__dict__.update(_parameters={}, _buffers={}, _modules={}, training=True)
        self.__dict__.update(_before=OrderedDict(), _after=OrderedDict())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every module writes its own."""
        raise NotImplementedError(f"{kind(self)} is missing its forward(self, ...)")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook in self._before.values():
            changed = hook(self, args)
            args = (
                args
                if changed is None
                else changed
                if isinstance(changed, tuple)
                else (changed,)
            )
        out = self.forward(*args, **kwargs)
        for hook in self._after.values():
            changed = hook(self, args, out)
            out = out if changed is None else changed
        return out

    def register_forward_pre_hook(self, hook: Callable) -> "Removable":
        """Call hook(module, args) before forward; it may return other args."""
        return Removable(self._before, hook)

    def register_forward_hook(self, hook: Callable) -> "Removable":
        """Call hook(module, args, output) after forward; it may replace the output."""
        return Removable(self._after, hook)

    # Attributes

    def __setattr__(self, name: str, value: Any) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                f"cannot assign {name!r} before super().__init__() has been called"
            )
        tables = self._parameters, self._modules, self._buffers
        table = self._table_for(name, value)
        for other in tables:
            if other is not table:
                other.pop(name, None)
        if table is None:
            object.__setattr__(self, name, value)
        else:
            self.__dict__.pop(name, None)
            table[name] = value

    def _table_for(self, name: str, value: Any) -> dict | None:
        """Return where an attribute is kept; None for ordinary ones."""
        if isinstance(value, Parameter):
            return self._parameters
        if isinstance(value, Module):
            return self._modules
        if name in self._parameters and value is not None:
            raise TypeError(
                f"cannot assign a {kind(value)} as parameter {name!r}: make it "
                "a Parameter, or None"
            )
        for table in (self._parameters, self._modules, self._buffers):
            if name in table and (value is None or isinstance(value, Tensor)):
                return table
        return None

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_modules", "_buffers"):
            if name in self.__dict__.get(table, ()):
                return self.__dict__[table][name]
        raise AttributeError(f"{kind(self)!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._modules, self._buffers):
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    def register_buffer(self, name: str, tensor: Tensor | None) -> None:
        """Keep a tensor that is part of the state, but no parameter."""
        self._buffers[name] = tensor

    def register_parameter(self, name: str, parameter: Parameter | None) -> None:
        """Keep a parameter, or the place of one."""
        self._parameters[name] = parameter

    def add_module(self, name: str, module: "Module") -> None:
        """Keep a part under a name that may be a number."""
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
        """Yield (name, part) for the direct parts."""
        return (
            (name, part) for name, part in self._modules.items() if part is not None
        )

    def children(self) -> Iterator["Module"]:
        """Yield the direct parts."""
        return (part for _, part in self.named_children())

    def _named(self, table: str) -> Iterator:
        """Yield (name, tensor) from the tables of all parts; each tensor once."""
        seen = set()
        for prefix, module in self.named_modules():
            for name, tensor in module.__dict__[table].items():
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
        for module in self.modules():
            module.training = mode
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
        for parameter in self.parameters():
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad.detach_().zero_()

    def to(self, target: Any) -> "Module":
        """Turn all floating point parameters and buffers into a dtype, or move them."""
        for _, tensor in [*self._named("_parameters"), *self._named("_buffers")]:
            if tensor.is_floating_point() or isinstance(target, str):
                edge, grad = tensor.edge, tensor.grad
                tensor.array = tensor.detach().to(target).array
                tensor._grad = None if grad is None else grad.to(target)
                tensor.edge = edge
        return self

    def float(self) -> "Module":
        """Turn parameters and buffers into float32."""
        return self.to("float32")

    def double(self) -> "Module":
        """Turn parameters and buffers into float64."""
        return self.to("float64")

    def state_dict(self) -> dict[str, Tensor]:
        """Return all parameters and buffers by name, detached, on the same memory."""
        tensors = {}
        for prefix, module in self.named_modules():
            for table in (module._parameters, module._buffers):
                for name, tensor in table.items():
                    if tensor is not None:
                        tensors[f"{prefix}.{name}".lstrip(".")] = tensor.detach()
        return tensors

    def load_state_dict(self, state_dict: dict[str, Tensor], strict: bool = True):
        """Copy tensors from a state_dict; return the (missing, unexpected) names.

        With strict, names must agree; shapes always. Else RuntimeError lists them all,
        and nothing is changed.
        """
        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        report = [
            f"size mismatch for {name}: {state_dict[name].shape} given, "
            f"{own[name].shape} here"
            for name in own
            if name in state_dict and state_dict[name].shape != own[name].shape
        ]
        if strict and missing:
            report.insert(0, f"Missing key(s) in state_dict: {', '.join(missing)}")
        if strict and unexpected:
            report.insert(
                0, f"Unexpected key(s) in state_dict: {', '.join(unexpected)}"
            )
        if report:
            lines = "\n    ".join(report)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {kind(self)}:\n    {lines}"
            )
        with no_grad():
            for name in own:
                if name in state_dict:
                    own[name].copy_(state_dict[name])
        return missing, unexpected

    def extra_repr(self) -> str:
        """Return what stands in the brackets when a module prints."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {part!r}" for name, part in self._modules.items()]
        if not lines:
            return f"{kind(self)}({self.extra_repr()})"
        inside = "\n".join(lines).replace("\n", "\n  ")
        return f"{kind(self)}(\n  {inside}\n)"


class Removable:
    """What takes a forward hook off again."""

    def __init__(self, hooks: dict, hook: Callable):
        self._hooks = hooks
        hooks[id(self)] = hook

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        self._hooks.pop(id(self), None)
