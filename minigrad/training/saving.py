"""Tensors in files: safetensors, which hold numbers and names, and no code."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.array.dtypes import as_dtype
from minigrad.errors import kind
from minigrad.graph.tensor import Tensor

STRUCTURE = "minigrad"  # what the note is called that says where each array belongs
SEQUENCES = {"list": list, "tuple": tuple}


def save(obj: Any, path: str | Path) -> None:
    """Write tensors, in dicts and lists beside numbers and words, to a file.

    What a model's state_dict() returns is such a dict, or an optimizer's, or a dict of
    both. Other libraries that know .safetensors find the tensors by the same names.
    Raises TypeError for other objects: no code comes into a file.
    """
    from safetensors.numpy import save as in_bytes

    arrays: dict[str, np.ndarray] = {}
    note = {STRUCTURE: json.dumps(taken_apart(obj, "", arrays))}
    Path(path).write_bytes(in_bytes(arrays, note))


def taken_apart(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Return a value as JSON has it, with names for arrays, which go to `arrays`."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Tensor | np.ndarray):
        while name in arrays or name in ("", "__metadata__"):  # where notes are kept
            name += "'"
        array = getattr(value, "array", value)
        arrays[name] = np.array(array, as_dtype(array.dtype), order="C")
        if isinstance(value, np.ndarray):
            return {"ndarray": name}
        return {"Leaf" if value.requires_grad else "Tensor": name}
    names = isinstance(value, dict) and all(isinstance(k, str | int) for k in value)
    if not names and kind(value) not in SEQUENCES:
        raise TypeError(f"save() writes tensors, numbers, words, and no {kind(value)}")
    pairs = value.items() if names else enumerate(value)
    start = f"{name}." if name else ""
    parts = [[key, taken_apart(v, f"{start}{key}", arrays)] for key, v in pairs]
    return {"dict" if names else kind(value): parts}


def load(path: str | Path) -> Any:
    """Read what save() wrote, or the named tensors of another .safetensors file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            arrays = {n: file.get_tensor(n) for n in file.keys()}  # noqa: SIM118
            note = (file.metadata() or {}).get(STRUCTURE)
        arrays = {name: np.array(a, as_dtype(a.dtype)) for name, a in arrays.items()}
    except (SafetensorError, AttributeError, TypeError) as error:
        raise RuntimeError(
            f"load: {path} is no .safetensors file of float32, float64, int64 and bool "
            f"({error})"
        ) from error
    if note is None:
        return {name: Tensor(array) for name, array in arrays.items()}
    return put_together(json.loads(note), arrays)


def put_together(note: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return what taken_apart() took apart."""
    if not isinstance(note, dict):
        return note
    ((what, parts),) = note.items()
    if what == "ndarray":
        return arrays[parts]
    if what in ("Tensor", "Leaf"):
        return Tensor(arrays[parts]).requires_grad_(what == "Leaf")
    values = {key: put_together(part, arrays) for key, part in parts}
    return SEQUENCES[what](values.values()) if what in SEQUENCES else values
