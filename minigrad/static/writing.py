"""Writing: A graph as straight-line NumPy that writes into memory taken beforehand."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy import ndarray

from minigrad.static.passes import is_elementwise, layout_of, results_of, roots_of
from minigrad.static.steps import CALLS, GIVEN, SIGNS, Step
from minigrad.static.symbolic_arrays import flat

ENDINGS = {"transpose": "T", "swapaxes": "T", "getitem": "part", "view": "bits"}


class Memory:
    """Memory with a name. `holder` is the step whose result it has now.

    It stays from call to call, if taken once. If it has a layout, it is used again.
    """

    def __init__(self, name: str, holder: Step, stays: bool, layout: tuple = ()):
        self.name, self.holder, self.stays, self.layout = name, holder, stays, layout


class Writer:
    """Writes once(), which takes memory and returns call(), which runs straight on.

    `constants` has the arrays that the text has names for. `new` maps variables to the
    steps whose results they get. The results of `outputs` are returned.
    """

    def __init__(self, order: list, given: dict, names: dict, outputs: list, new: dict):
        self.order, self.names, self.outputs, self.new = order, names, outputs, new
        self.top, self.lines, self.constants, self.free = [], [], {}, []
        self.text, self.views = {step: names[step] for step in given}, {}
        self.taken, self.results = {*self.text.values()}, results_of(order, given)
        given = [x for x in given if x.call == "variable"]
        self.memory = {step: Memory(names[step], step, True) for step in given}
        self.find_lifetimes()
        for place, step in enumerate(order):
            if step not in self.text and step.call not in ("constant", "tuple", "list"):
                self.write(place, step)
            for root in dict.fromkeys(self.root[x] for x in (step, *leaves(step))):
                memory = self.memory.get(root)
                if memory and memory.holder is root and self.last[root] <= place:
                    self.free += [memory] if memory.layout else []
        self.finish()

    def find_lifetimes(self) -> None:
        """Find in whose memory each result is, and where it is read last."""
        self.root, self.last, self.asks = roots_of(self.order, self.results), {}, -1
        for place, step in enumerate(self.order):
            self.last[step] = place
            self.asks = place if step.call == "asked" else self.asks
            self.last |= {self.root[each]: place for each in leaves(step)}
        ends = [x for x in self.order if x.call in GIVEN and x not in self.new]
        self.returned = {self.root[x] for x in self.outputs}
        ends += [*self.returned, *(self.root[x] for x in self.new.values())]
        self.last |= dict.fromkeys(ends, len(self.order))

    def target(self, place: int, step: Step, over: Iterable[Step]) -> str:
        """Return where to write a result, or "" if the call should make an array.

        This is the place of one of the results in `over`, if nobody needs it later.
        """
        if step.shape == () or self.root[step] in self.returned:
            return ""
        layout = layout_of(self.results[step])
        for each in over:
            root = self.root.get(each)
            memory = self.memory.get(root)
            if memory and memory.holder is root and self.last[root] == place:
                alike = layout_of(self.results[each]) == layout
                alike = alike and self.results[root].size == self.results[step].size
                kept = root.call == "variable" and place < self.asks  # it may run again
                if alike and not kept:
                    memory.holder, self.memory[step] = step, memory
                    self.text[step] = self.text[each]
                    return self.text[step]
        again = [memory for memory in self.free if memory.layout == layout]
        name = self.text[step] = self.unused(self.names[step])
        self.memory[step] = Memory(name, step, True, layout)
        text = f"{again[-1].name}  # again" if again else empty(self.results[step])
        self.top.append(f"{name} = {text}")
        self.free = [memory for memory in self.free if memory not in again[-1:]]
        return name

    def unused(self, name: str) -> str:
        """Return a name, with the first number at its end that makes it a new one."""
        stem, number = name.rstrip("0123456789"), 1
        while name in self.taken:
            name, number = f"{stem}{number}", number + 1
        self.taken.add(name)
        return name

    def say(self, step: Step, text: str) -> None:
        """Write a line of call(), and the line of the program that it comes from."""
        self.lines.append(f"{text:<60}  # {step.line}")

    def view(self, text: str, of: Step, name: str) -> str:
        """Return the name of a view, which is taken once if its memory stays."""
        memory = self.memory.get(self.root[of])
        stays = memory.stays if memory else of.call == "constant"
        if not stays or text not in self.views:
            self.views[text] = self.unused(name)
            (self.top if stays else self.lines).append(f"{self.views[text]} = {text}")
        return self.views[text]

    def of(self, step: Step) -> str:
        """Return the text of an argument."""
        if step.call in ("tuple", "list"):
            inside = "".join(f"{self.of(each)}, " for each in step.arguments)
            return f"({inside})" if step.call == "tuple" else f"[{inside}]"
        if step not in self.text and step.call == "constant":
            self.text[step] = literal(step.value)
            if any(isinstance(x, ndarray) for x in flat([step.value])):
                self.text[step] = f"c{len(self.constants) + 1}"
                self.constants[self.text[step]] = step.value
        return self.text[step]

    def write(self, place: int, step: Step) -> None:
        """Write what a step does."""
        kind, first = step.call, (step.arguments or [step])[0]
        if kind == "asked":
            value, now = np.asarray(step.value).item(), self.of(first)
            other = f"{now} != {value!r}" if value == value else f"{now} == {now}"
            if isinstance(value, bool):
                other = f"not {now}" if value else now  # NumPy's != takes longer
            if value == 0 and isinstance(value, float) and step.name != "truth":
                other += f" or np.signbit({now}) != {np.signbit(value)}"
            self.say(step, f"if {other}: raise Changed")
        elif self.root[step] is not step:
            ending = ENDINGS.get(kind.removeprefix("ndarray."), "view")
            memory = self.memory.get(self.root[step])
            name = f"{memory.name if memory else self.of(first)}_{ending}"
            name = self.names[step] if "_grad" in self.names[step] else name
            self.text[step] = self.view(self.call(step), first, name)
        elif kind in ("with_item", "with_sum"):
            self.write_part(step, self.target(place, step, [first]))
        else:
            takes_out = isinstance(CALLS[kind], np.ufunc) or kind.endswith(".reduce")
            over = step.arguments if is_elementwise(step) else []
            out = takes_out and self.target(place, step, over)
            self.say(step, self.call(step, out) if out else self.made(step))

    def made(self, step: Step) -> str:
        """Return the text of a call that makes a new array."""
        name = self.text[step] = self.unused(self.names[step])
        if isinstance(self.results[step], ndarray):
            self.memory[step] = Memory(name, step, False)
        return f"{name} = {self.call(step)}"

    def write_part(self, step: Step, out: str) -> None:
        """Write into an array, or into a copy if the old array is still needed."""
        base, index, value = step.arguments
        if not out:
            out = self.text[step] = self.unused(self.names[step])
            self.memory[step] = Memory(out, step, False)
            self.say(step, f"{out} = np.array({self.of(base)})")
        elif out != self.text.get(base) and base.name != "empty_like":
            self.say(step, f"np.copyto({out}, {self.of(base)})")
        put = f"{out}[{self.index(index)}] = {self.of(value)}"
        add = f"np.add.at({out}, {self.of(index)}, {self.of(value)})"
        self.say(step, put if step.call == "with_item" else add)

    def index(self, step: Step) -> str:
        """Return the text of an index, without its brackets."""
        parts = step.value if isinstance(step.value, tuple) else (step.value,)
        if step.call != "constant" or any(isinstance(x, ndarray) for x in parts):
            return self.of(step)
        return ", ".join(map(literal, parts)) or "()"

    def call(self, step: Step, out: str = "") -> str:
        """Return the text of a call."""
        args, function = [*map(self.of, step.arguments)], step.call
        owner, _, name = function.rpartition(".")
        if owner == "number":
            return f"({['', *args][-2]} {SIGNS[name]} {args[-1]})"
        if function == "getitem":
            return f"{args[0]}[{self.index(step.arguments[1])}]"
        if owner == "ndarray":
            function = f"{args.pop(0)}.{name}"
        elif owner == "generator":
            function = f"generator().{name}"
        else:
            function = f"np.{function}"
        args += [f"{name}={literal(value)}" for name, value in step.options.items()]
        return f"{function}({', '.join([*args, f'out={out}'] if out else args)})"

    def finish(self) -> None:
        """Write what is returned, and copies into variables not written to so far."""
        results, roots, late = [], set(), []
        for step in self.outputs:
            root, text = self.root[step], self.of(step)
            if (root in roots or root.call in GIVEN) and step.dtype is not None:
                text = self.copy(text)
            results.append(text)
            roots.add(root)
        for variable, new in self.new.items():
            name, text = self.text[variable], self.of(new)
            late += [f"np.copyto({name}, {self.copy(text)})"] if text != name else []
        self.lines += [*late, f"return [{', '.join(results)}]"]

    def copy(self, text: str) -> str:
        """Write a copy, and return its name."""
        name = self.unused("copy1")
        self.lines.append(f"{name} = np.array({text})")
        return name

    def source(self, once: Sequence[str], call: Sequence[str]) -> str:
        """Return the text of both functions, which take these arguments."""
        inner = [f"def call({', '.join(call)}):", *("    " + x for x in self.lines)]
        lines = [*self.top, "", *inner, "", "return call"]
        body = "".join(f"    {line}".rstrip() + "\n" for line in lines)
        return f"def once({', '.join(once)}):\n{body}"


def leaves(step: Step) -> Iterable[Step]:
    """Yield the arguments of a step, with the items of lists in place of the lists."""
    for each in step.arguments:
        yield from leaves(each) if each.call in ("tuple", "list") else [each]


def empty(array: ndarray) -> str:
    """Return the text of a call that takes memory with the layout of an array."""
    axes = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    axes = sorted(axes) if array.flags.c_contiguous else axes
    shape = tuple(array.shape[axis] for axis in axes)
    back = tuple(map(axes.index, sorted(axes)))
    turned = f".transpose{back}" if axes != sorted(axes) else ""
    return f"np.empty({shape}, {literal(array.dtype)}){turned}"


def literal(value) -> str:
    """Return the text of a value that is not an array, such as a part of an index."""
    if isinstance(value, slice):
        ends = ["" if x is None else str(x) for x in (value.start, value.stop)]
        return ":".join([*ends, str(value.step)] if value.step else ends)
    if isinstance(value, tuple | list):
        inside = ", ".join(map(literal, value))
        one = "," if len(value) == 1 else ""
        return f"({inside}{one})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, np.dtype | type):
        return f"np.{np.dtype(value).name}"
    return "..." if value is ... else repr(value)
