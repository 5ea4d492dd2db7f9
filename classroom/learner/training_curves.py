"""Networks that the course trains, each to a list of losses.

    python -m classroom.learner.training_curves FILE

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
    from minigrad.scalar.neuron import MLP, SGD, hinge_loss

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
    from minigrad.autograd.gradients import grad

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


def digits() -> list[float]:
    """Train a network of modules, 64-32-10, on handwritten digits, by Adam."""
    import minigrad
    from minigrad.training.data import DataLoader, load_digits

    minigrad.manual_seed(0)
    nn = minigrad.nn
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    adam = minigrad.optim.Adam(model.parameters(), lr=0.01)
    batches = DataLoader(load_digits(), batch_size=64, shuffle=True, seed=0)
    return train(model, nn.functional.cross_entropy, adam, batches)


def head() -> list[float]:
    """Train a new head on a frozen network that knows other digits, by momentum."""
    import minigrad
    from minigrad.models import DIGITS, resnet_digits
    from minigrad.training.data import load_digits

    minigrad.manual_seed(0)
    model = resnet_digits(DIGITS).requires_grad_(False)
    model.fc = minigrad.nn.Linear(64, 5)
    model.eval()
    images, classes = load_digits().tensors
    (new,) = minigrad.where(classes >= 5)
    batches = [(images[few], classes[few] - 5) for few in new[:400].split(20)]
    sgd = minigrad.optim.SGD(model.fc.parameters(), lr=1e-2, momentum=0.9)
    return train(model, minigrad.nn.functional.cross_entropy, sgd, batches)


def attention() -> list[float]:
    """Train a small GPT, of width 16, to add two numbers."""
    import minigrad
    from minigrad.models import GPT
    from minigrad.training.data import load_additions

    minigrad.manual_seed(0)
    model = GPT(tokens=12, length=8, width=16, layers=1, heads=2)
    adam = minigrad.optim.AdamW(model.parameters(), lr=0.01)
    sums = load_additions().tensors[0][:: 10_000 // 960]
    batches = [(part[:, :-1], part[:, 1:]) for part in sums.split(32)]

    def loss(scores, tokens):
        scores = scores.reshape(-1, 12)
        return minigrad.nn.functional.cross_entropy(scores, tokens.reshape(-1))

    return train(model, loss, adam, batches)


def train(model, loss, optimizer, batches) -> list[float]:
    """Take a step for each batch; return the losses."""
    losses = []
    for x, y in batches:
        value = loss(model(x), y)
        losses.append(value.item())
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    return losses


# By the chapter that comes so far
NETWORKS = {6: neurons, 13: arrays, 16: digits, 19: head, 22: attention}

if __name__ == "__main__":
    import minigrad

    curves = {number: train() for number, train in NETWORKS.items()}
    found = {"package": str(Path(minigrad.__file__).parent), "curves": curves}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")
