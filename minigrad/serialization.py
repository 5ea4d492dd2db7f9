"""Tensors in files: safetensors, which hold numbers and names, and no code."""

from os import PathLike
from pathlib import Path

from minigrad.tensor import Tensor, kind


def save(tensors: dict[str, Tensor], path: str | PathLike) -> None:
    """Write named tensors, such as a state_dict, to a .safetensors file."""
    from safetensors.numpy import save as in_bytes

    values = tensors.values() if isinstance(tensors, dict) else [tensors]
    strange = {kind(value) for value in values if not isinstance(value, Tensor)}
    if strange or not isinstance(tensors, dict):
        raise TypeError(
            "save() writes a dict of Tensors, such as model.state_dict(), not "
            f"{' and '.join(sorted(strange)) or 'one Tensor'}"
        )
    arrays = {name: tensor.array.copy(order="C") for name, tensor in tensors.items()}
    Path(path).write_bytes(in_bytes(arrays))  # save_file lets only the owner read


def load(path: str | PathLike) -> dict[str, Tensor]:
    """Read the named tensors of a .safetensors file."""
    from safetensors.numpy import load_file

    return {name: Tensor(array) for name, array in load_file(path).items()}
