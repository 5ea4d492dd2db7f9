"""Optimizers, with the formulas of torch.optim."""

import copy
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from minigrad.errors import expect, kind
from minigrad.graph import saved_values
from minigrad.graph.tensor import Tensor
from minigrad.nn.module import forget_gradients
from minigrad.rules.pointwise import NUMBERS

WORDS = {"lr": "learning rate", "eps": "epsilon"}  # their names in PyTorch's errors


def check_options(group: dict) -> None:
    """Raise ValueError for an option value that makes no sense."""
    for name in ("lr", "eps", "momentum", "weight_decay"):
        value = group.get(name, 0)
        ok = isinstance(value, NUMBERS) and value >= 0
        expect(ok, f"Invalid {WORDS.get(name, name)} value", value, error=ValueError)
    betas = group.get("betas", (0, 0))
    fits = isinstance(betas, list | tuple) and len(betas) == 2
    if not fits or not all(isinstance(b, NUMBERS) and 0 <= b < 1 for b in betas):
        raise ValueError(f"Invalid beta parameter at index 0 or 1: {betas!r}")


def form(groups: list[dict]) -> list:
    """Return how many parameters each group has, and the names of its options."""
    known = {"params", "initial_lr"}
    return [(len(group["params"]), *sorted(group.keys() - known)) for group in groups]


class Optimizer:
    """Takes steps for groups of parameters, each group with its own options.

    `parameters` are tensors, or dicts {"params": tensors, option: value ...}. Each
    optimizer has its formula in update(p, g, state, **options), which changes the array
    of one parameter.
    """

    def __init__(self, parameters: Iterable, defaults: dict):
        self.param_groups = []
        self.state = defaultdict(dict)  # what is remembered of each parameter
        groups = list(parameters)
        expect(groups, "optimizer got an empty parameter list", error=ValueError)
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            expect("params" in group, "param_group must be a dict with params", group)
            params = group["params"]
            params = [params] if isinstance(params, Tensor) else list(params)
            group = defaults | group | {"params": params}
            check_options(group)
            self.param_groups.append(group)
        for p in self.parameters():
            if not isinstance(p, Tensor) or not p.is_leaf:
                raise ValueError(f"can't optimize a non-leaf {kind(p)}: give leaves")
        once = len(set(map(id, self.parameters()))) == len(self.parameters())
        expect(once, "a parameter appears twice, or in more than one group")

    def parameters(self) -> list[Tensor]:
        """Return the parameters of all groups."""
        return [p for group in self.param_groups for p in group["params"]]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients to None, or to 0."""
        forget_gradients(self.parameters(), set_to_none)

    @np.errstate(all="ignore")
    def step(self) -> None:
        """Change every parameter that has a grad, frozen or not."""
        for group in self.param_groups:
            options = dict(group)
            for p in options.pop("params"):
                if p._grad is not None:
                    saved_values.record_write(p.array)
                    self.update(p.array, p._grad.array, self.state[p], **options)

    def state_dict(self) -> dict:
        """Return the state of each parameter, by its number, and the options."""
        numbers = {p: i for i, p in enumerate(self.parameters())}
        groups = [dict(group) for group in self.param_groups]
        for group in groups:
            group["params"] = [numbers[p] for p in group["params"]]
        kept = {numbers[p]: copy.deepcopy(of) for p, of in self.state.items() if of}
        return {"state": kept, "param_groups": groups}

    def load_state_dict(self, state_dict: dict) -> None:
        """Load what state_dict() returned for parameters in the same order.

        Raises RuntimeError, and changes nothing, if groups, options or shapes differ.
        """
        wanted = "loaded state dict has a different number of parameter groups, or one "
        wanted += "that doesn't match the size of optimizer's group, or its options: "
        params = self.parameters()
        try:
            theirs, mine = (form(g["param_groups"]) for g in (state_dict, vars(self)))
            expect(theirs == mine, f"{wanted}expected {mine}", theirs)
            kept = state_dict["state"].items()
            state = {params[i]: copy.deepcopy(dict(of)) for i, of in kept}
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise RuntimeError(f"{wanted}{error!r}") from None
        for p, of in state.items():
            found = {*map(np.shape, of.values())} - {()}
            expect(found <= {p.shape}, f"loaded state dict: expected {p.shape}", found)
        self.state = defaultdict(dict, state)
        for old, new in zip(self.param_groups, state_dict["param_groups"]):
            old.update(new | {"params": old["params"]})


class SGD(Optimizer):
    """Stochastic gradient descent: v = momentum v + g, and p -= lr v.

    Source: torch.optim.SGD.
    """

    def __init__(self, params, lr=1e-3, momentum=0.0, *, weight_decay=0.0):
        options = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__(params, options)

    def update(self, p, g, state, lr, momentum, weight_decay, **_):
        if weight_decay:
            g = g + weight_decay * p
        if momentum:
            v = state.get("momentum_buffer")
            if v is None:
                v = state["momentum_buffer"] = np.array(g)
            else:
                v *= momentum
                v += g
            g = v
        p -= lr * g


class Adam(Optimizer):
    """Adam: steps of size lr, scaled by running means of gradients and their squares.

    Source: D. P. Kingma, J. Ba, "Adam", 2015. Defaults as in torch.optim.Adam.
    """

    decoupled = False  # whether weight decay stays out of the running means

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
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
    """Adam with decoupled weight decay (I. Loshchilov, F. Hutter, 2019)."""

    decoupled = True

    def __init__(self, params, *options, weight_decay=1e-2, **named):
        super().__init__(params, *options, weight_decay=weight_decay, **named)
