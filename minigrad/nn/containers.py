"""Modules that hold modules: in a row, or in a list."""

from collections.abc import Iterable

from minigrad.nn.module import Module


class Container(Module):
    """What a row and a list of modules have in common."""

    def __setitem__(self, index, module):
        self.add_module(list(self._modules)[index], module)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())


class Sequential(Container):
    """Layers in a row, each applied to what the one before made."""

    def __init__(self, *layers: Module):
        super().__init__()
        named = (
            layers[0].items()
            if len(layers) == 1 and isinstance(layers[0], dict)
            else enumerate(layers)
        )
        for name, layer in named:
            self.add_module(str(name), layer)

    def forward(self, x):
        for layer in self._modules.values():
            x = layer(x)
        return x

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Sequential(dict(list(self._modules.items())[index]))
        return list(self._modules.values())[index]

    def append(self, layer: Module) -> "Sequential":
        """Add a layer at the end."""
        self.add_module(str(len(self)), layer)
        return self


class ModuleList(Container):
    """A list of modules, which is a part of a module."""

    def __init__(self, modules: Iterable[Module] = ()):
        super().__init__()
        self.extend(modules)

    def append(self, module: Module) -> "ModuleList":
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> "ModuleList":
        """Add several modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def __getitem__(self, index):
        found = list(self._modules.values())[index]
        return ModuleList(found) if isinstance(index, slice) else found
