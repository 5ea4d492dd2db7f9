"""Modules that hold modules, in a list or in a sequence."""

from collections.abc import Iterable, Iterator

from minigrad.nn.module import Module


class ModuleList(Module):
    """A list of modules that can be a part of another module."""

    def __init__(self, modules: Iterable[Module] = ()):
        super().__init__()
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> "ModuleList":
        """Add a module at the end."""
        self._keep("_modules", str(len(self)), module)
        return self

    def __setitem__(self, index: int, module: Module) -> None:
        self._keep("_modules", list(self._modules)[index], module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index):
        found = list(self)[index]
        return ModuleList(found) if isinstance(index, slice) else found


class Sequential(ModuleList):
    """Layers in a sequence, each applied to the result of the one before."""

    def __init__(self, *layers: Module):
        super().__init__(layers)

    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x

    def __getitem__(self, index):
        if not isinstance(index, slice):
            return super().__getitem__(index)
        part = Sequential()  # its layers keep their names
        part._modules.update(list(self._modules.items())[index])
        return part
