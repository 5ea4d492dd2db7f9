"""Modules that hold modules: in a row, or in a list."""

import itertools
from collections.abc import Iterable

from minigrad.nn.module import Module


class Container(Module):
    """What a row and a list of modules have in common: they are edited like lists."""

    def _hold(self, parts: Iterable[Module]) -> None:
        """Hold these parts and no others, under the names 0, 1, 2, ..."""
        parts = list(parts)
        self._modules.clear()
        for i, part in enumerate(parts):
            self.add_module(str(i), part)

    def append(self, module: Module) -> "Container":
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> "Container":
        """Add several modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    __iadd__ = extend

    def insert(self, index: int, module: Module) -> "Container":
        """Put a module before the one at `index`; those behind it move on."""
        if not -len(self) <= index <= len(self):
            raise IndexError(
                f"insert: index {index}, but there are {len(self)} modules"
            )
        parts = list(self.append(module))
        parts.insert(index, parts.pop())
        self._hold(parts)
        return self

    def pop(self, index: int = -1) -> Module:
        """Take a module out, and return it."""
        module = self[index]
        del self[index]
        return module

    def __getitem__(self, index):
        return list(self._modules.values())[index]

    def __setitem__(self, index, module):
        self.add_module(list(self._modules)[index], module)

    def __delitem__(self, index):
        parts = list(self)
        del parts[index]
        self._hold(parts)

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
        return super().__getitem__(index)


class ModuleList(Container):
    """A list of modules, which is a part of a module."""

    def __init__(self, modules: Iterable[Module] = ()):
        super().__init__()
        self.extend(modules)

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return ModuleList(found) if isinstance(index, slice) else found

    def __repr__(self):
        lines, start = [], 0
        for text, same in itertools.groupby(map(repr, self)):
            end = start + len(list(same))
            one = end == start + 1
            name = f"({start}): " if one else f"({start}-{end - 1}): {end - start} x "
            lines.append(("\n" + name + text).replace("\n", "\n  "))
            start = end
        return f"ModuleList({''.join(lines)}{chr(10) * bool(lines)})"
