"""Tensors in .safetensors files, which hold numbers and names, and no code."""

import json
from pathlib import Path

import numpy as np

from minigrad.array.dtypes import as_dtype
from minigrad.graph.tensor import Tensor


def save(obj, path: str | Path) -> None:
    """Write tensors to a file, in dicts and lists, with numbers and words.

    The state_dict() of a model or of an optimizer is such a dict, and so is a dict of
    both. Other libraries that read .safetensors find the tensors by the same names.
    Raises TypeError for other objects, so that no code gets into a file. Tuples come
    back as lists, and no loaded tensor requires grad.
    """
    from safetensors.numpy import save as in_bytes

    arrays: dict[str, np.ndarray] = {}
    note = json.dumps(taken_apart(obj, "", arrays))  # where each array belongs
    Path(path).write_bytes(in_bytes(arrays, {"minigrad": note}))


def taken_apart(value, name: str, arrays: dict[str, np.ndarray]):
    """Put the arrays of a value into `arrays`. Return it for JSON, with their names."""
    start = f"{name}." if name else ""
    if isinstance(value, list | tuple):
        return [taken_apart(v, f"{start}{i}", arrays) for i, v in enumerate(value)]
    if isinstance(value, dict):
        if not all(isinstance(key, str | int) for key in value):
            raise TypeError("save() takes dicts whose keys are words or whole numbers")
        parts = value.items()
        return {"dict": [(k, taken_apart(v, f"{start}{k}", arrays)) for k, v in parts]}
    if not isinstance(value, Tensor | np.ndarray):
        return value
    while name in arrays or name in ("", "__metadata__"):  # where notes are kept
        name += "'"
    array = getattr(value, "array", value)
    arrays[name] = np.array(array, as_dtype(array.dtype), order="C")
    return {"ndarray" if array is value else "Tensor": name}


def load(path: str | Path):
    """Read what save() wrote, or the named tensors of another .safetensors file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            arrays = {n: np.array(file.get_tensor(n)) for n in file.keys()}  # noqa: SIM118
            note = (file.metadata() or {}).get("minigrad")
    except SafetensorError as error:
        raise ValueError(f"{path} is not a whole .safetensors file: {error}") from error
    if note is None:
        return {name: Tensor(array) for name, array in arrays.items()}
    return put_together(json.loads(note), arrays)


def put_together(note, arrays: dict[str, np.ndarray]):
    """Return the value that taken_apart() took apart. Tuples have become lists."""
    if isinstance(note, list):
        return [put_together(part, arrays) for part in note]
    if not isinstance(note, dict):
        return note
    ((what, parts),) = note.items()
    if what == "dict":
        return {key: put_together(part, arrays) for key, part in parts}
    return arrays[parts] if what == "ndarray" else Tensor(arrays[parts])
