"""Training steps of five networks: compiled, by hand in NumPy, eager, and PyTorch.

    python benchmarks/compiled.py              all, as ratios of times in one run
    python benchmarks/compiled.py cnn          one of them, in a process of its own
    python benchmarks/compiled.py cnn --calls  and how long each of its calls takes

A step is forward, backward and SGD, on one thread. By hand, all memory is taken before
the first step (`in_place.py`). Gradients and new weights are compared first.
"""

import re
import statistics
import subprocess
import sys
import time
from collections import Counter

from tensor_step import (
    NETWORKS,
    RATE,
    drawn,
    medians,
)  # first, because it sets the threads

import in_place  # isort: skip
import numpy as np
import torch

import minigrad

RUNS, ROUNDS = 5, 15  # the median of five runs, each of which has medians of rounds
BOUNDS = {"mlp": 1.25, "wide mlp": 1.1, "cnn": 1.4, "chain": 1.3, "transformer": 1.4}
MEAN = 0.45  # of PyTorch's time, in the geometric mean


def rivals(name):
    """Return for each rival a step, what reads gradients and weights, and itself."""
    network = NETWORKS[name][0]
    x, classes, start = drawn(name)
    weights = [a.copy() for a in start]
    by_hand = getattr(in_place, network.__name__)(weights, x, classes, np.float32(RATE))

    def by_library(lib, change=lambda step: step):
        p = [lib.tensor(a.copy(), requires_grad=True) for a in start]
        inputs, parents = lib.tensor(x), lib.tensor(classes)
        optimizer = lib.optim.SGD(p, lr=RATE)

        def step(inputs, parents):
            optimizer.zero_grad()
            loss = network(lib, p, inputs, parents)
            loss.backward()
            optimizer.step()
            return loss

        changed = change(step)
        read = lambda: [a.detach().numpy().copy() for b in p for a in (b.grad, b)]  # noqa: E731
        return lambda: changed(inputs, parents), read, changed

    def read_by_hand():
        return [a.copy() for pair in zip(made_by_hand[0], weights) for a in pair]

    made_by_hand = []

    def step_by_hand():
        made_by_hand[:] = [by_hand()[1]]

    return {
        "compiled": by_library(minigrad, minigrad.compile),
        "by hand": (step_by_hand, read_by_hand, None),
        "eager": by_library(minigrad),
        "PyTorch": by_library(torch),
    }


def measure(name):
    """Compare gradients and weights, and return each rival's seconds of a step."""
    made = rivals(name)
    for _ in range(3):
        found = {}
        for rival, (step, read, _) in made.items():
            step()
            found[rival] = read()
        for rival, arrays in found.items():
            for mine, theirs in zip(arrays, found["by hand"], strict=True):
                np.testing.assert_allclose(mine, theirs, 1e-3, 1e-5, err_msg=rival)
        for mine, theirs in zip(found["compiled"], found["eager"], strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert len(made["compiled"][2].codes) == 1, made["compiled"][2].why_not
    del found, arrays, mine, theirs
    steps = {rival: step for rival, (step, _, _) in made.items()}
    return medians(steps, NETWORKS[name][-1], ROUNDS)


def report(name):
    """Measure one network, and print its ratios."""
    times = measure(name)
    ratios = [times["compiled"] / times[r] for r in ("by hand", "eager", "PyTorch")]
    print(name, times["compiled"] * 1e3, *ratios, sep=",", flush=True)


def calls(name):
    """Print how long the calls of each function of NumPy take in a step."""
    step, _, compiled = rivals(name)["compiled"]
    for _ in range(3):
        step()
    code, took, count = compiled.codes[0], Counter(), Counter()
    lines = re.sub(
        r"^( {8})(?!if |return)(.*)$", r"\1START(); \2", code.source, flags=re.M
    )
    names = re.findall(r"START\(\); (?:\w+ = )?(np\.[\w.]+|\w+)", lines)
    stamps = []
    code.scope["START"] = lambda: stamps.append(time.perf_counter())
    exec(lines, code.scope)
    code.call = code.scope["once"](*code.arrays)
    for _ in range(20):
        stamps.clear()
        step()
        for function, begin, end in zip(names, stamps, stamps[1:]):
            took[function] += (end - begin) / 20
            count[function] += 1 / 20
    for function, seconds in took.most_common():
        print(f"{function:24} {count[function]:6.0f} calls {seconds * 1e6:9.1f} us")


def main(names):
    if "--calls" in names:
        return calls(names[0])
    if names:
        return report(names[0])
    missed, of_pytorch = 0, []
    for name, bound in BOUNDS.items():
        command = [sys.executable, __file__, name]
        runs = [
            subprocess.run(command, stdout=subprocess.PIPE, text=True)
            for _ in range(RUNS)
        ]
        numbers = [[*map(float, run.stdout.split(",")[1:])] for run in runs]
        took, hand, eager, theirs = map(statistics.median, zip(*numbers))
        of_pytorch.append(theirs)
        missed |= hand > bound
        print(
            f"{name:12} {took:9.3f} ms   {hand:5.2f} of by hand (at most {bound})   "
            f"{eager:5.2f} of eager   {theirs:5.2f} of PyTorch",
            flush=True,
        )
    mean = statistics.geometric_mean(of_pytorch)
    print(f"geometric mean {mean:48.2f} of PyTorch (at most {MEAN})")
    return int(missed or mean > MEAN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
