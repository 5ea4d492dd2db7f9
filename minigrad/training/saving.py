"""Tensors in files: safetensors, which hold numbers and names, and no code."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.graph.tensor import Tensor, kind

STRUCTURE = "minigrad"  # what the note is called that says where each array belongs
LEARNS = "Tensor, requires_grad=True"


def save(obj: Any, path: str | PathLike) -> None:
    """Write tensors, in dicts and lists beside numbers and words, to a file.

    What a model's state_dict() returns is such a dict, or an optimizer's, or a dict of
    both. Other libraries that know .safetensors find the tensors by the same names. The
    path may be an open file, too.
    Raises TypeError for other objects: no code comes into a file.
    """
    from safetensors.numpy import save as in_bytes

    arrays: dict[str, np.ndarray] = {}
    note = {STRUCTURE: json.dumps(taken_apart(obj, "", arrays))}
    data = in_bytes(arrays, note)
    if hasattr(path, "write"):
        path.write(data)
    else:
        Path(path).write_bytes(data)  # save_file: only the owner may read


def taken_apart(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Return a value with a note in place of each array, which goes to `arrays`."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Tensor | np.ndarray):
        name = name or "tensor"
        while name in arrays:
            name += "'"
        arrays[name] = np.array(getattr(value, "array", value), order="C")
        return {as_was(value): name}
    if isinstance(value, dict) and all(isinstance(key, str | int) for key in value):
        pairs = list(value.items())
    elif isinstance(value, list | tuple):
        pairs = list(enumerate(value))
    else:
        raise TypeError(
            "save() writes tensors, numbers and words, in dicts with names for keys "
            f"and in lists, such as model.state_dict(), and no {kind(value)}"
        )
    start = f"{name}." if name else ""
    parts = [[key, taken_apart(v, f"{start}{key}", arrays)] for key, v in pairs]
    what = next(t for t in (dict, list, tuple) if isinstance(value, t))
    return {what.__name__: parts}


def as_was(value: Tensor | np.ndarray) -> str:
    """Return what a note calls a tensor, or an array."""
    if isinstance(value, np.ndarray):
        return "ndarray"
    return LEARNS if value.requires_grad else "Tensor"


def load(
    path: str | PathLike, map_location: Any = None, *, weights_only: bool = True
) -> Any:
    """Read what save() wrote, or the named tensors of another .safetensors file.

    Whatever `weights_only` says, no file is read that could run code.
    """
    if map_location not in (None, "cpu"):
        raise ValueError(
            f"load makes tensors on the CPU; .to({map_location!r}) moves one"
        )
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    data = path.read() if hasattr(path, "read") else Path(path).read_bytes()
    try:
        arrays = {name: np.array(array) for name, array in from_bytes(data).items()}
    except KeyError as dtype:
        raise RuntimeError(
            f"load: {path} holds numbers of type {dtype}, which NumPy does not have: "
            "write it anew, in float32"
        ) from dtype
    except SafetensorError as error:
        raise RuntimeError(
            f"load: {path} is no .safetensors file ({error}). What torch.save() wrote "
            "is a pickle, which may run code; there, write it with safetensors.torch"
        ) from error
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    note = header.get("__metadata__", {}).get(STRUCTURE)
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
    return (
        values
        if what == "dict"
        else {"list": list, "tuple": tuple}[what](values.values())
    )
