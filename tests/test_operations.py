"""Every operation does what PyTorch's does, and so do its two derivatives."""

import json
import re

import numpy as np
import pytest

import minigrad
from minigrad.tensors.methods import Methods
from tests.reference.compute import HERE, cases, compute

STORED = json.loads((HERE / "operations.json").read_text(encoding="utf-8"))
KINDS = ("results", "first", "second")
OTHER_NAMES = {"(x * 1).copy_(y)"}  # a write to a whole is one to a part, here
NUMBERED = "Sum", "Mean", "Squeeze", "Pow"  # by what they are given; 0 for all, here


@pytest.mark.parametrize("case", cases())
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_operation_agrees_with_pytorch(case, dtype):
    assert case in STORED, "run python tests/reference/make.py, which needs PyTorch"
    expected, found = STORED[case], compute(case, minigrad, dtype)
    dtypes = expected["dtypes" if dtype == "float64" else "dtypes32"]
    assert found["dtypes"] == dtypes
    assert [list(shape) for shape in found["shapes"]] == expected["shapes"]
    tolerance, kinds = (1e-7, KINDS) if dtype == "float64" else (1e-4, KINDS[:2])
    for kind in kinds:
        assert_close(kind, found[kind], expected[kind], tolerance)
    if dtype == "float64" and case.partition("|")[0].strip() not in OTHER_NAMES:
        name = expected["name"].removeprefix("torch::autograd::")
        kind, _, _ = name.partition("Backward")
        assert found["name"] == (f"{kind}Backward0" if kind in NUMBERED else name)


def assert_close(kind, found, expected, tolerance):
    for i in range(max(len(found), len(expected))):
        mine = found[i] if i < len(found) else None
        theirs = expected[i] if i < len(expected) else None
        if mine is None or theirs is None:  # None and zeros mean the same
            assert not np.any(mine if mine is not None else theirs), (kind, i)
        else:
            theirs = np.asarray(theirs)
            if kind == "second":  # at some kinks PyTorch says nan
                mine = np.where(np.isnan(theirs), theirs, mine)
            mine, place = mine.astype(float).reshape(theirs.shape), f"{kind} {i}"
            theirs = theirs.astype(float)
            np.testing.assert_allclose(mine, theirs, tolerance, tolerance, True, place)


def test_what_is_stored_is_what_pytorch_computes():
    torch, differ = pytest.importorskip("torch"), []
    for case in cases():
        live = compute(case, torch, "float64")
        try:
            for kind in KINDS:
                assert_close(kind, live[kind], STORED[case][kind], 1e-7)
        except AssertionError as error:
            differ.append(f"{case}: {error}")
    assert not differ, "\n".join(differ)


def test_every_operation_has_a_case():
    rules = [x for x in vars(Methods).items() if not x[0].startswith("__")]
    names = {name for name, rule in rules if callable(rule)}
    names -= {"register_hook", "to", "type_as"}
    words = set(re.findall(r"\w+", "\n".join(cases())))
    assert not names - words, "tests/reference/operations.txt has no case for them"


def test_every_case_is_stored_and_nothing_else():
    differ = sorted(set(STORED) ^ set(cases()))
    assert not differ, "run python tests/reference/make.py, which needs PyTorch"
