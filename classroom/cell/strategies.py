"""What laws draw from: numbers, lists and arrays; the same seed draws the same ones.

The names are hypothesis's, which takes twice as long for the same laws. Bounds, zeros
and repeated numbers come more often than by chance: there answers go wrong.
"""

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import numpy as np


class Rejected(Exception):
    """What was drawn is nothing to judge by: the law wants something else."""


def assume(condition: Any) -> None:
    """Go on with what was drawn only if a condition holds."""
    if not condition:
        raise Rejected


class Strategy:
    """A way to draw: `draw` takes a random.Random."""

    def __init__(self, draw: Callable[[Random], Any]) -> None:
        self.draw = draw

    def map(self, function: Callable) -> "Strategy":
        return Strategy(lambda dice: function(self.draw(dice)))

    def filter(self, keep: Callable) -> "Strategy":
        def draw(dice: Random) -> Any:
            while not keep(found := self.draw(dice)):
                pass
            return found

        return Strategy(draw)

    def __or__(self, other: "Strategy") -> "Strategy":
        return one_of(self, other)


def one_of(*strategies: Strategy) -> Strategy:
    return Strategy(lambda dice: dice.choice(strategies).draw(dice))


def sampled_from(values: Iterable) -> Strategy:
    values = list(values)
    return Strategy(lambda dice: dice.choice(values))


def just(value: Any) -> Strategy:
    return sampled_from([value])


def none() -> Strategy:
    return just(None)


def booleans() -> Strategy:
    return sampled_from([False, True])


def integers(low: int = -1000, high: int = 1000) -> Strategy:
    return _odd(low, high, lambda dice: dice.randint(low, high))


def floats(low: float, high: float) -> Strategy:
    return _odd(low, high, lambda dice: dice.uniform(low, high))


def _odd(low: float, high: float, draw: Callable) -> Strategy:
    odd = [low, high, *(n for n in (-1, 0, 1) if low < n < high)]
    often = 0.2 if high - low > 16 else 0
    return Strategy(
        lambda dice: dice.choice(odd) if dice.random() < often else draw(dice)
    )


def builds(function: Callable, *strategies: Strategy) -> Strategy:
    return tuples(*strategies).map(lambda drawn: function(*drawn))


def tuples(*strategies: Strategy) -> Strategy:
    return Strategy(lambda dice: tuple([each.draw(dice) for each in strategies]))


def lists(each: Strategy, min_size: int = 0, max_size: int | None = None) -> Strategy:
    sizes = integers(min_size, min_size + 8 if max_size is None else max_size)
    return Strategy(lambda dice: _several(each, sizes.draw(dice), dice))


def _several(each: Strategy, size: int, dice: Random) -> list:
    """Draw some values; now and then there are but two that differ."""
    if dice.random() < 0.3:
        seeds = [dice.random(), dice.random()]
        return [each.draw(Random(dice.choice(seeds))) for _ in range(size)]
    return [each.draw(dice) for _ in range(size)]


def sets(each: Strategy, max_size: int = 8) -> Strategy:
    return lists(each, max_size=max_size).map(set)


def permutations(values: Iterable) -> Strategy:
    values = list(values)
    return Strategy(lambda dice: dice.sample(values, len(values)))


def recursive(base: Strategy, extend: Callable) -> Strategy:
    """Draw from `base`, or from what `extend` makes of it, as deep as three times."""
    deep = base
    for _ in range(3):
        deep = base | extend(deep)
    return deep


def arrays(shape: tuple | Strategy, elements: Strategy) -> Strategy:
    """Draw arrays of float64."""
    shapes = shape if isinstance(shape, Strategy) else just(shape)

    def draw(dice: Random) -> np.ndarray:
        shape = shapes.draw(dice)
        numbers = _several(elements, int(np.prod(shape)), dice)
        return np.array(numbers, float).reshape(shape)

    return Strategy(draw)
