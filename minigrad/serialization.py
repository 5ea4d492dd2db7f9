"""Tensors in files: safetensors, which hold numbers and names, and no code."""

from os import PathLike

from minigrad.tensor import Tensor


def save(tensors: dict[str, Tensor], path: str | PathLike) -> None:
    """Write named tensors, such as a state_dict, to a .safetensors file."""
    from safetensors.numpy import save_file

    arrays = {name: tensor.array.copy(order="C") for name, tensor in tensors.items()}
    save_file(arrays, path)


def load(path: str | PathLike) -> dict[str, Tensor]:
    """Read the named tensors of a .safetensors file."""
    from safetensors.numpy import load_file

    return {name: Tensor(array) for name, array in load_file(path).items()}
