"""State that answers may change besides their own names; each check restores it.

It consists of the attributes of the package's modules and classes and of a few others,
the state of random numbers, and settings such as the current folder.
"""

import builtins
import copy
import math
import os
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any, TextIO

import numpy as np
from IPython import get_ipython

from classroom.cell import pages
from minigrad.graph.recording import recording
from minigrad.tensors import creation

Holder = ModuleType | type  # what has attributes that answers may replace
_attributes: dict[Holder, dict[str, Any]] = {}  # what each had at first
_kept: list[tuple[Callable[[Any], Any], Any]] = []  # how to put back, and what


def _put_generator_back(kept: Any) -> None:
    creation._generators[0] = copy.deepcopy(kept)


def _put_stream_back(stream: TextIO) -> None:
    """Let what is printed go to the notebook, below the cell that runs now."""
    if sys.stdout is not stream:
        sys.stdout = stream
        shell = get_ipython()
        shell.set_parent(shell.get_parent())


def _put_environment_back(environment: dict[str, str]) -> None:
    if environment != dict(os.environ):
        os.environ.clear()
        os.environ.update(environment)


SETTINGS = [  # how to get each, and how to put it back
    (random.getstate, random.setstate),
    (np.random.get_state, np.random.set_state),
    (lambda: copy.deepcopy(creation.generator()), _put_generator_back),
    (np.geterr, lambda kept: np.seterr(**kept)),
    (np.get_printoptions, lambda kept: np.set_printoptions(**kept)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (lambda: sys.stdout, _put_stream_back),
    (os.getcwd, os.chdir),
    (lambda: dict(os.environ), _put_environment_back),
    (lambda: True, lambda on: vars(recording).update(on=on, outside=[])),
]


def remember() -> None:
    """Keep the present state, and the first state of modules; see put_back()."""
    for key, module in list(sys.modules.items()):
        own = pages.in_package(key)
        if own or module in (builtins, math, random, np):
            _remember_attributes(module)
        for value in list(vars(module).values()) if own else ():
            if isinstance(value, type) and pages.in_package(value.__module__):
                _remember_attributes(value)
    _kept[:] = [(put, get()) for get, put in SETTINGS]


def put_back() -> None:
    """Undo what cells have changed since remember(), except live excerpts."""
    live = {(id(r.holder), r.name): r.newer for r in pages.all_replaced()}
    for holder, saved in _attributes.items():
        there = vars(holder)
        key = id(holder if isinstance(holder, type) else there)
        for name, first in saved.items():
            value = live.get((key, name), first)
            if there.get(name) is not value:
                setattr(holder, name, value)
    for put, kept in _kept:
        with suppress(OSError):  # a folder is gone
            put(kept)


def replace(holder: Holder, name: str, value: Any) -> None:
    """Replace an attribute for good, so that put_back() leaves it alone."""
    setattr(holder, name, value)
    _attributes.setdefault(holder, {})[name] = value


def _remember_attributes(holder: Holder) -> None:
    there = vars(holder).items()
    saved = {name: value for name, value in there if name not in pages.NOT_METHODS}
    _attributes.setdefault(holder, saved)
