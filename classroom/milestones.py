"""Networks that the course trains at its milestones, each to a list of losses.

    python -m classroom.milestones FILE

writes them to FILE as JSON, trained by whichever minigrad Python imports.
"""

import json
import random
import sys
from pathlib import Path


def moons() -> tuple:
    """Return 100 points of two half circles, (100, 2), and 1 or -1 for each."""
    from sklearn.datasets import make_moons

    X, classes = make_moons(100, noise=0.1, random_state=0)
    return X.round(3), 2 * classes - 1


def neurons() -> list[float]:
    """Train a network of single numbers, 2-8-1, on 40 points of the moons."""
    from minigrad.neuron import MLP, SGD, hinge_loss

    X, signs = moons()
    net = MLP([2, 8, 1], random.Random(0))
    sgd = SGD(net.parameters(), rate=0.1, momentum=0.9)
    losses = []
    for _ in range(40):
        loss = hinge_loss([net(x)[0] for x in X[:40].tolist()], signs[:40].tolist())
        losses.append(loss.data)
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    return losses


def arrays() -> list[float]:
    """Train a network of arrays, 2-16-1, whose gradient is part of its loss."""
    import minigrad
    from minigrad.autograd import grad

    X, signs = moons()
    minigrad.manual_seed(0)
    X = minigrad.tensor(X, requires_grad=True)
    signs = minigrad.tensor(signs, dtype=minigrad.float64).reshape(-1, 1)
    sizes = [(2, 16), (16,), (16, 1), (1,)]
    params = [minigrad.randn(*s, dtype=minigrad.float64) * 0.5 for s in sizes]
    params = [p.requires_grad_() for p in params]
    w, b, v, c = params
    losses = []
    for _ in range(60):
        scores = (X @ w + b).tanh() @ v + c
        (slope,) = grad(scores.sum(), X, create_graph=True)
        loss = (1 - signs * scores).relu().mean() + 0.01 * (slope * slope).mean()
        losses.append(loss.item())
        loss.backward(inputs=params)
        with minigrad.no_grad():
            for p in params:
                p -= 0.5 * p.grad
                p.grad = None
    return losses


MILESTONES = {6: neurons, 13: arrays}  # by the chapter that comes so far

if __name__ == "__main__":
    import minigrad

    curves = {number: train() for number, train in MILESTONES.items()}
    found = {"package": str(Path(minigrad.__file__).parent), "curves": curves}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")
