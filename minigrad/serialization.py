"""Tensors in files: safetensors, which hold numbers and names, and no code."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.tensor import Tensor, kind

STRUCTURE = "minigrad"  # what the note is called that says where each array belongs


def save(obj: Any, path: str | PathLike) -> None:
    """Write tensors, in dicts and lists beside numbers and words, to a file.

    What a model's state_dict() returns is such a dict, or an optimizer's, or a dict of
    both. Other libraries that know .safetensors find the tensors by the same names; of
    named tensors alone there is nothing else in the file.
    Raises TypeError for other objects: no code comes into a file.
    """
    from safetensors.numpy import save as in_bytes

    arrays: dict[str, np.ndarray] = {}
    structure = taken_apart(obj, "", arrays)
    named = {"dict": [[name, {"Tensor": name}] for name in arrays]}
    note = None if structure == named else {STRUCTURE: json.dumps(structure)}
    Path(path).write_bytes(in_bytes(arrays, note))  # save_file: only the owner may read


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
        return {"Tensor" if isinstance(value, Tensor) else "ndarray": name}
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
    from safetensors import SafetensorError, safe_open

    try:
        file = safe_open(path, framework="np")
    except SafetensorError as error:
        raise RuntimeError(
            f"load: {path} is no .safetensors file ({error}). What torch.save() wrote "
            "is a pickle, which may run code; there, write it with safetensors.torch"
        ) from error
    with file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        note = (file.metadata() or {}).get(STRUCTURE)
    if note is None:
        return {name: Tensor(array) for name, array in arrays.items()}
    return put_together(json.loads(note), arrays)


def put_together(note: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Return what taken_apart() took apart."""
    if not isinstance(note, dict):
        return note
    ((what, parts),) = note.items()
    if what in ("Tensor", "ndarray"):
        return Tensor(arrays[parts]) if what == "Tensor" else arrays[parts]
    values = {key: put_together(part, arrays) for key, part in parts}
    return (
        values
        if what == "dict"
        else {"list": list, "tuple": tuple}[what](values.values())
    )
