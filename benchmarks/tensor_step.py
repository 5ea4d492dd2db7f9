"""Training steps of five networks: minigrad, NumPy by hand, PyTorch, and others.

    python benchmarks/tensor_step.py           all, as ratios of times in one run
    python benchmarks/tensor_step.py cnn       one of them, in a process of its own

A step is forward, backward and SGD, on one thread. The gradients are compared first.
"""

import os
import subprocess
import sys

for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[name] = "1"
os.environ.pop("OPENBLAS_CORETYPE", None)  # it chooses NumPy's kernels, not PyTorch's

import gc  # noqa: E402
import random  # noqa: E402
import re  # noqa: E402
import statistics  # noqa: E402
import time  # noqa: E402

import autograd.numpy as anp  # noqa: E402
import by_hand  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from autograd import value_and_grad  # noqa: E402

import minigrad  # noqa: E402

np.int = int  # DeZero was written for an older NumPy
import dezero  # noqa: E402

torch.set_num_threads(1)
RATE = 1e-3
ROUNDS = 30
BOUND, MEAN = 1, 0.75  # of PyTorch's time, for each network; and the geometric mean


def mlp(lib, p, x, classes):
    F = lib.nn.functional
    for i in range(0, len(p) - 2, 2):
        x = F.relu(F.linear(x, p[i], p[i + 1]))
    return F.cross_entropy(F.linear(x, p[-2], p[-1]), classes)


def chain(lib, p, x, classes):
    a, c = p[0], x
    y = a
    for _ in range(1000):
        y = y * c
        y = y + a
        y = y.tanh()
        y = y * 0.9
        y = y.sin()
    return y.sum()


def cnn(lib, p, x, classes):
    F = lib.nn.functional
    x = F.max_pool2d(F.relu(F.conv2d(x, p[0], p[1])), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, p[2], p[3])), 2)
    return F.cross_entropy(F.linear(x.flatten(1), p[4], p[5]), classes)


def transformer(lib, p, x, classes, heads=4):
    F = lib.nn.functional
    n1w, n1b, wqkv, bqkv, wo, bo, n2w, n2b, w1, b1, w2, b2 = p
    n, t, d = x.shape
    qkv = F.linear(F.layer_norm(x, (d,), n1w, n1b), wqkv, bqkv)
    q, k, v = qkv.reshape(n, t, 3, heads, d // heads).permute(2, 0, 3, 1, 4).unbind(0)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    mixed = mixed.transpose(1, 2).reshape(n, t, d)
    x = x + F.linear(mixed, wo, bo)
    h = F.relu(F.linear(F.layer_norm(x, (d,), n2w, n2b), w1, b1))
    y = x + F.linear(h, w2, b2)
    return F.mse_loss(y, lib.zeros_like(y))


def hips_mlp(p, x, classes):
    for i in range(0, len(p) - 2, 2):
        x = anp.maximum(x @ p[i].T + p[i + 1], 0)
    scores = x @ p[-2].T + p[-1]
    top = scores - scores.max(axis=1, keepdims=True)
    right = top[anp.arange(len(classes)), classes]
    return anp.mean(anp.log(anp.exp(top).sum(axis=1)) - right)


def hips_chain(p, x, classes):
    y = a = p[0]
    for _ in range(1000):
        y = anp.sin(anp.tanh(y * x + a) * 0.9)
    return anp.sum(y)


def dezero_mlp(p, x, classes):
    F = dezero.functions
    for i in range(0, len(p) - 2, 2):
        x = F.relu(F.linear(x, p[i].T, p[i + 1]))
    return F.softmax_cross_entropy(F.linear(x, p[-2].T, p[-1]), classes)


def dezero_chain(p, x, classes):
    y, a = p[0], p[0]
    for _ in range(1000):
        y = dezero.functions.sin(dezero.functions.tanh(y * x + a) * 0.9)
    return dezero.functions.sum(y)


HIPS = {mlp: hips_mlp, chain: hips_chain}  # neither of the two has convolutions that
DEZERO = {mlp: dezero_mlp, chain: dezero_chain}  # would be a match, nor attention


def layers(*sizes):
    return [s for m, n in zip(sizes, sizes[1:]) for s in ((n, m), (n,))]


BLOCK = [(64,), (64,), (192, 64), (192,), (64, 64), (64,), (64,), (64,)]
NETWORKS = {  # name: network, the same by hand, input, shapes of the parameters, steps
    "mlp": (mlp, by_hand.mlp, (32, 64), layers(64, 32, 10), 100),
    "wide mlp": (mlp, by_hand.mlp, (128, 784), layers(784, 512, 256, 10), 3),
    "cnn": (
        cnn,
        by_hand.cnn,
        (32, 1, 28, 28),
        [(8, 1, 3, 3), (8,), (16, 8, 3, 3), (16,), (10, 400), (10,)],
        4,
    ),
    "chain": (chain, by_hand.chain, (10,), [(10,)], 1),
    "transformer": (
        transformer,
        by_hand.transformer,
        (8, 32, 64),
        [*BLOCK, (256, 64), (256,), (64, 256), (64,)],
        5,
    ),
}


def drawn(name):
    """Return a network's inputs, their classes, and the first parameters."""
    _, _, shape, shapes, _ = NETWORKS[name]
    numbers = np.random.RandomState(0)
    x = numbers.standard_normal(shape).astype(np.float32)
    classes = numbers.randint(0, 10, shape[0])
    return x, classes, [0.1 * numbers.standard_normal(s).astype("f4") for s in shapes]


def rivals(name):
    """Return for each rival what makes a step, and the gradients of what it returns."""
    network, hand, *_ = NETWORKS[name]
    x, classes, start = drawn(name)

    def by_numpy():
        p = [a.copy() for a in start]

        def step():
            _, gradients = hand(p, x, classes)
            for a, g in zip(p, gradients):
                a -= RATE * g
            return gradients

        return step, list

    def by_library(lib):
        p = [lib.tensor(a, requires_grad=True) for a in start]
        inputs, parents = lib.tensor(x), lib.tensor(classes)
        optimizer = lib.optim.SGD(p, lr=RATE)

        def step():
            optimizer.zero_grad()
            network(lib, p, inputs, parents).backward()
            optimizer.step()

        return step, lambda _: [a.grad.numpy() for a in p]

    def by_hips():
        p = [a.copy() for a in start]
        slopes = value_and_grad(HIPS[network])

        def step():
            _, gradients = slopes(p, x, classes)
            for a, g in zip(p, gradients):
                a -= RATE * g
            return gradients

        return step, list

    def by_dezero():
        p = [dezero.Parameter(a.copy()) for a in start]

        def step():
            for a in p:
                a.cleargrad()
            DEZERO[network](p, x, classes).backward()
            for a in p:
                a.data -= RATE * a.grad.data

        return step, lambda _: [a.grad.data for a in p]

    made = {"minigrad": by_library(minigrad), "by hand": by_numpy()}
    made["PyTorch"] = by_library(torch)
    if network in HIPS:
        made |= {"HIPS autograd": by_hips(), "DeZero": by_dezero()}
    return made


def measure(name):
    """Compare the gradients, and return the seconds of a step for each rival."""
    made = rivals(name)
    gradients = {rival: read(step()) for rival, (step, read) in made.items()}
    for rival, found in gradients.items():
        for mine, theirs in zip(found, gradients["by hand"], strict=True):
            np.testing.assert_allclose(mine, theirs, 1e-3, 1e-5, err_msg=rival)
    del gradients, found, mine, theirs
    steps = {rival: step for rival, (step, _) in made.items()}
    return medians(steps, NETWORKS[name][-1], ROUNDS)


def medians(steps, repeat, rounds):
    """Return the CPU seconds of each step: medians of interleaved rounds."""
    gc.collect()
    gc.freeze()
    turns, seconds = list(steps.items()), {}
    for _ in range(rounds):
        random.shuffle(turns)  # what ran before leaves the caches cold, or warm
        for rival, step in turns:
            begin = time.process_time()
            for _ in range(repeat):
                step()
            seconds.setdefault(rival, []).append((time.process_time() - begin) / repeat)
    return {rival: statistics.median(times) for rival, times in seconds.items()}


def report(name):
    """Measure one network, and print a line; return whether it keeps its bound."""
    times = measure(name)
    hand, theirs = (times["minigrad"] / times[r] for r in ("by hand", "PyTorch"))
    others = [r for r in times if r not in ("minigrad", "by hand", "PyTorch")]
    rest = ", ".join(f"{times['minigrad'] / times[r]:.2f} of {r}'s" for r in others)
    print(
        f"{name:12} {times['minigrad'] * 1e3:9.3f} ms   "
        f"{theirs:5.2f} of PyTorch (at most {BOUND})   {hand:5.2f} of by hand   {rest}",
        flush=True,
    )
    return theirs <= BOUND


def main(names):
    if names:
        return 0 if all([report(name) for name in names]) else 1
    ratios, missed = [], 0
    for name in NETWORKS:
        command = [sys.executable, __file__, name]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        print(run.stdout, end="", flush=True)
        ratios += map(float, re.findall(r"([\d.]+) of PyTorch", run.stdout))
        missed = max(missed, run.returncode)
    mean = statistics.geometric_mean(ratios)
    print(f"geometric mean    {mean:19.2f} of PyTorch (at most {MEAN})")
    return 1 if mean > MEAN else missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
