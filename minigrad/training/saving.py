"""Tensors in files: safetensors, which hold numbers and names, and no code."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.array.dtypes import as_dtype
from minigrad.errors import kind
from minigrad.graph.tensor import Tensor

STRUCTURE = "minigrad"  # what the note is called that says where each array belongs
RESERVED = "__metadata__"  # where the format keeps notes: no tensor's name
LEARNS = "Tensor, requires_grad=True"
SEQUENCES = {"list": list, "tuple": tuple}


def save(obj: Any, path: str | PathLike) -> None:
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
        name = name.encode(errors="backslashreplace").decode()  # no half of a pair
        while name in arrays or name in ("", RESERVED):
            name += "'"
        array = getattr(value, "array", value)
        arrays[name] = np.array(array, as_dtype(array.dtype), order="C")
        if isinstance(value, np.ndarray):
            return {"ndarray": name}
        return {LEARNS if value.requires_grad else "Tensor": name}
    names = isinstance(value, dict) and all(isinstance(k, str | int) for k in value)
    if not names and kind(value) not in SEQUENCES:
        raise TypeError(
            "save() writes tensors, numbers and words, in dicts with names for keys "
            f"and in lists, such as model.state_dict(), and no {kind(value)}"
        )
    pairs = value.items() if names else enumerate(value)
    start = f"{name}." if name else ""
    parts = [[key, taken_apart(v, f"{start}{key}", arrays)] for key, v in pairs]
    return {"dict" if names else kind(value): parts}


def load(path: str | PathLike) -> Any:
    """Read what save() wrote, or the named tensors of another .safetensors file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    data = Path(path).read_bytes()
    try:
        arrays = from_bytes(data)
        arrays = {k: np.array(a, as_dtype(a.dtype)) for k, a in arrays.items()}
    except (SafetensorError, KeyError, TypeError) as error:
        raise RuntimeError(
            f"load: {path} is no .safetensors file of float32, float64, int64 and bool "
            f"({error}). What torch.save() wrote is a pickle, which may run code"
        ) from error
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    note = header.get(RESERVED, {}).get(STRUCTURE)
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
    if what in ("Tensor", LEARNS):
        return Tensor(arrays[parts]).requires_grad_(what == LEARNS)
    values = {key: put_together(part, arrays) for key, part in parts}
    return SEQUENCES[what](values.values()) if what in SEQUENCES else values
