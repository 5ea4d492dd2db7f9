"""Optimizers, with the formulas of torch.optim."""

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minigrad.graph import saved_values
from minigrad.graph.recording import enable_grad
from minigrad.graph.tensor import Tensor, kind
from minigrad.nn.utils import forget_gradients


class Optimizer:
    """Steps for groups of parameters, each group with options of its own.

    `parameters` are tensors, or dicts {"params": tensors, option: value ...}.
    """

    def __init__(self, parameters: Iterable, defaults: dict[str, Any]):
        self.defaults, self.param_groups = defaults, []
        self.state = defaultdict(dict)  # what is remembered of each parameter
        if isinstance(parameters, Tensor) or not hasattr(parameters, "__iter__"):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of "
                f"Tensors or dicts, such as model.parameters(), not a "
                f"{kind(parameters)}"
            )
        groups = list(parameters)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            if not isinstance(group, dict):
                raise TypeError(f"param_group must be a dict, not a {kind(group)}")
            self.add_param_group(group)

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        if not isinstance(group, dict) or "params" not in group:
            raise TypeError(
                'param_group must be a dict, {"params": [...], ...}, but got '
                f"{kind(group)}"
            )
        params = group["params"]
        group = self.defaults | group
        group["params"] = [params] if isinstance(params, Tensor) else list(params)
        known = {id(p) for old in self.param_groups for p in old["params"]}
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but got a {kind(p)}: "
                    "give it model.parameters()"
                )
            if not p.is_leaf:
                raise ValueError(
                    f"can't optimize a non-leaf Tensor: it is computed anew, by "
                    f"{p.grad_fn.name()}, each time. Give the leaves it comes from."
                )
            if id(p) in known:
                raise ValueError(
                    "some parameters appear in more than one parameter group, or twice "
                    "in one"
                )
            known.add(id(p))
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to 0."""
        for group in self.param_groups:
            forget_gradients(group["params"], set_to_none)

    def step(self, closure: Callable | None = None) -> Any:
        """Change every parameter that has a grad, frozen or not."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            options = dict(group)
            for p in options.pop("params"):
                if p._grad is not None:
                    saved_values.wrote(p.array)
                    self.update(p.array, p._grad.array, self.state[p], **options)
        return loss

    def update(self, p: np.ndarray, g: np.ndarray, state: dict, **options) -> None:
        """Change the array of one parameter; each optimizer has its formula here."""
        raise NotImplementedError

    def state_dict(self) -> dict:
        """Return what is remembered of each parameter, by number, and the options."""
        numbers, groups = {}, []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(p, len(numbers))
            places = [numbers[p] for p in group["params"]]
            groups.append(
                {k: v for k, v in group.items() if k != "params"} | {"params": places}
            )
        kept = {numbers[p]: copy.deepcopy(of) for p, of in self.state.items() if of}
        return {"state": kept, "param_groups": groups}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what state_dict() returned for parameters of the same order."""
        if not isinstance(state_dict, dict) or "param_groups" not in state_dict:
            raise ValueError(
                "expected what state_dict() of an optimizer returned, with 'state' and "
                f"'param_groups', but got a {kind(state_dict)} without those"
            )
        groups = state_dict["param_groups"]
        given = [len(group["params"]) for group in groups]
        own = [len(group["params"]) for group in self.param_groups]
        if given != own:
            raise ValueError(
                "loaded state dict has a different number of parameter groups, or of "
                f"parameters in them: {given}, the optimizer's have {own}"
            )
        params = [p for group in self.param_groups for p in group["params"]]
        for mine, theirs in zip(self.param_groups, groups):
            mine.update({k: v for k, v in theirs.items() if k != "params"})
        state = state_dict["state"].items()
        found = {params[i]: copy.deepcopy(kept) for i, kept in state}
        self.state = defaultdict(dict, found)

    def __repr__(self):
        lines = [
            f"Group {i}: "
            + ", ".join(f"{k}={v}" for k, v in g.items() if k != "params")
            for i, g in enumerate(self.param_groups)
        ]
        return f"{kind(self)}({'; '.join(lines)})"


def checked(**options: float) -> dict[str, Any]:
    """Return options, numbers of which none may be negative."""
    for name, value in options.items():
        try:
            negative = min(value) < 0 if isinstance(value, tuple) else value < 0
        except TypeError:
            raise TypeError(f"{name} has to be a number, not {value!r}") from None
        if negative:
            raise ValueError(f"Invalid {name} value: {value}; negative is not allowed")
    return options


class SGD(Optimizer):
    """Stochastic gradient descent: v = momentum v + (1 - dampening) g; p -= lr v.

    Source: torch.optim.SGD; Nesterov's variant: I. Sutskever et al., 2013.
    """

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ):
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        checked(lr=lr, momentum=momentum, weight_decay=weight_decay)
        options = {"lr": lr, "momentum": momentum, "dampening": dampening}
        options |= {"weight_decay": weight_decay, "nesterov": nesterov}
        super().__init__(params, options)

    def update(self, p, g, state, lr, momentum, dampening, weight_decay, nesterov, **_):
        if weight_decay:
            g = g + weight_decay * p
        if momentum:
            v = state.get("momentum_buffer")
            if v is None:
                v = state["momentum_buffer"] = np.array(g)
            else:
                v *= momentum
                v += g if not dampening else (1 - dampening) * g
            g = g + momentum * v if nesterov else v
        p -= lr * g


class Adam(Optimizer):
    """Adam: steps of size lr, scaled by running means of gradients and their squares.

    Source: D. P. Kingma, J. Ba, "Adam", 2015; defaults as in torch.optim.Adam.
    """

    decoupled = False  # whether weight decay stays out of the running means

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ):
        options = checked(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay)
        if max(betas) >= 1:
            raise ValueError(f"Invalid betas value: {betas}; each has to be below 1")
        super().__init__(params, options)

    def update(self, p, g, state, lr, betas, eps, weight_decay, **_):
        if not state:
            state.update(step=0, exp_avg=np.zeros_like(p), exp_avg_sq=np.zeros_like(p))
        if weight_decay and self.decoupled:
            p *= 1 - lr * weight_decay
        elif weight_decay:
            g = g + weight_decay * p
        state["step"] += 1
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean += (1 - betas[0]) * (g - mean)
        square += (1 - betas[1]) * (g * g - square)
        seen = [1 - beta ** state["step"] for beta in betas]
        p -= lr * (mean / seen[0]) / (np.sqrt(square / seen[1]) + eps)


class AdamW(Adam):
    """Adam with weight decay beside it (I. Loshchilov, F. Hutter, 2019)."""

    decoupled = True

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2
    ):
        super().__init__(params, lr, betas, eps, weight_decay)
