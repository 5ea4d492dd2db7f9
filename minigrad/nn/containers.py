"""Modules that hold modules: in a row, or in a list."""

from collections.abc import Iterable, Iterator

from minigrad.nn.module import Module


class Container(Module):
    """What a row and a list of modules have in common."""

    def append(self, module: Module) -> "Container":
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(list(self._modules)[index], module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())


class Sequential(Container):
    """Layers in a row, each applied to what the one before made."""

    def __init__(self, *layers: Module):
        super().__init__()
        for layer in layers:
            self.append(layer)

    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x

    def __getitem__(self, index):
        if not isinstance(index, slice):
            return list(self)[index]
        part = Sequential()  # whose layers keep their names
        part._modules.update(list(self._modules.items())[index])
        return part


class ModuleList(Container):
    """A list of modules, which is a part of a module."""

    def __init__(self, modules: Iterable[Module] = ()):
        super().__init__()
        for module in modules:
            self.append(module)

    def __getitem__(self, index):
        found = list(self)[index]
        return ModuleList(found) if isinstance(index, slice) else found
