"""minigrad: torch.autograd, small enough to read in a weekend.

Each folder imports only from those before it: scalar/ array/ graph/ rules/ tensors/
autograd/ nn/ optim/ training/ models/ static/ drawing/. names.py says what
`minigrad.exp` and all other names mean. A name is loaded only when it is first used.
"""

import importlib.util
import sys
import typing

if typing.TYPE_CHECKING:
    from minigrad.names import *  # noqa: F403


def __getattr__(name: str) -> typing.Any:
    """Return what `minigrad.name` means, which may be a folder, a file or a name."""
    known = name.startswith("_") or hasattr(sys.modules.get("minigrad.names"), name)
    if not known and importlib.util.find_spec(f"minigrad.{name}"):
        return importlib.import_module(f"minigrad.{name}")
    names = importlib.import_module("minigrad.names")
    if name.startswith("_") or not hasattr(names, name):
        raise importlib.import_module("minigrad.errors").no_attribute("minigrad", name)
    return getattr(names, name)


def __dir__() -> list[str]:
    """Return all names, for an editor to complete."""
    names = importlib.import_module("minigrad.names")
    return sorted({*globals(), *vars(names)})
