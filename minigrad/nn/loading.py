"""What is wrong with a state_dict: names and shapes that are not the model's."""

from collections.abc import Iterator
from typing import NamedTuple

from minigrad.graph.tensor import Tensor, kind

LATER = "num_batches_tracked"  # state_dicts from before PyTorch 0.4.1 do not have it


class Names(NamedTuple):
    """The names in which a model and a state_dict differ."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        same = not any(self)
        return "<All keys matched successfully>" if same else f"Names{tuple(self)}"


def compared(own: dict, given: dict) -> Names:
    """Return the names that only one of two state_dicts has."""
    if not isinstance(given, dict):
        raise TypeError(
            f"Expected state_dict to be dict-like, got {kind(given)}: give it what "
            "state_dict() returned, or load(path) of a file where that was saved"
        )
    missing = [n for n in own if n not in given and not n.endswith(LATER)]
    return Names(missing, [name for name in given if name not in own])


def misnamed(names: tuple) -> Iterator[str]:
    """Yield what is wrong with the names."""
    for what, found in zip(("Missing", "Unexpected"), names):
        if found:
            yield f"{what} key(s) in state_dict: {', '.join(found)}"


def misfits(own: dict, given: dict) -> Iterator[str]:
    """Yield what is wrong with the values whose names agree."""
    for name in own:
        if name in given and not isinstance(given[name], Tensor):
            yield f"{name} should be a Tensor, but is a {kind(given[name])}"
        elif name in given and given[name].shape != own[name].shape:
            yield (
                f"size mismatch for {name}: {given[name].shape} in the state_dict, "
                f"{own[name].shape} in the model"
            )


LOADING = "Error(s) in loading state_dict for {}:"
