"""Optimizers, with the formulas of torch.optim."""

import copy
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad.errors import kind
from minigrad.graph import saved_values
from minigrad.graph.tensor import Tensor
from minigrad.nn.module import forget_gradients


class Optimizer:
    """Steps for groups of parameters, each group with options of its own.

    `parameters` are tensors, or dicts {"params": tensors, option: value ...}. Each
    optimizer has its formula in update(p, g, state, **options), which changes the array
    of one parameter.
    """

    def __init__(self, parameters: Iterable, defaults: dict[str, Any]):
        self.param_groups = []
        self.state = defaultdict(dict)  # what is remembered of each parameter
        groups = list(parameters)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            params = group["params"]
            params = [params] if isinstance(params, Tensor) else list(params)
            group = defaults | group | {"params": params}
            if not group.get("lr", 0) >= 0:
                raise ValueError(f"Invalid learning rate: {group['lr']}")
            self.param_groups.append(group)
        for p in self.parameters():
            if not isinstance(p, Tensor) or not p.is_leaf:
                raise ValueError(f"can't optimize a non-leaf {kind(p)}: give leaves")
        if len(set(map(id, self.parameters()))) < len(self.parameters()):
            raise ValueError("a parameter appears twice, or in more than one group")

    def parameters(self) -> list[Tensor]:
        """Return the parameters of all groups."""
        return [p for group in self.param_groups for p in group["params"]]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to 0."""
        forget_gradients(self.parameters(), set_to_none)

    @np.errstate(all="ignore")
    def step(self) -> None:
        """Change every parameter that has a grad, frozen or not."""
        for group in self.param_groups:
            options = dict(group)
            for p in options.pop("params"):
                if p._grad is not None:
                    saved_values.wrote(p.array)
                    self.update(p.array, p._grad.array, self.state[p], **options)

    def state_dict(self) -> dict:
        """Return what is remembered of each parameter, by number, and the options."""
        numbers = {p: i for i, p in enumerate(self.parameters())}
        groups = [
            group | {"params": [numbers[p] for p in group["params"]]}
            for group in self.param_groups
        ]
        kept = {numbers[p]: copy.deepcopy(of) for p, of in self.state.items() if of}
        return {"state": kept, "param_groups": groups}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what state_dict() returned for parameters of the same order."""
        for old, new in zip(self.param_groups, state_dict["param_groups"], strict=True):
            old.update(new | {"params": old["params"]})
        params = self.parameters()
        state = {params[i]: copy.deepcopy(of) for i, of in state_dict["state"].items()}
        self.state = defaultdict(dict, state)


class SGD(Optimizer):
    """Stochastic gradient descent: v = momentum v + g; p -= lr v.

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

    Source: D. P. Kingma, J. Ba, "Adam", 2015; defaults as in torch.optim.Adam.
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
    """Adam with weight decay beside it (I. Loshchilov, F. Hutter, 2019)."""

    decoupled = True

    def __init__(self, params, *options, weight_decay=1e-2, **named):
        super().__init__(params, *options, weight_decay=weight_decay, **named)
