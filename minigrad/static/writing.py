"""Writing: A graph as straight-line NumPy that writes into memory taken beforehand."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy import ndarray

from minigrad.static.passes import is_elementwise, layout_of, results_of, single
from minigrad.static.steps import CALLS, SIGNS, Step
from minigrad.static.symbolic_arrays import flat

WITH_OUT = "concatenate", "stack", "cumsum", "clip", "argmax", "argmin", "ndarray.clip"
WITH_OUT += "ndarray.sum", "ndarray.mean", "ndarray.max", "ndarray.min"
COPIES = "ndarray.astype", "ndarray.copy", "ndarray.reshape", "reshape", "ndarray.ravel"
ENDINGS = {"transpose": "T", "swapaxes": "T", "getitem": "part", "reshape": "flat"}
GIVEN = "placeholder", "variable", "constant"


class Memory:
    """Memory with a name. It `stays` from call to call if it is taken once.

    `holder` is the step whose result it has now. `kind` is the shape, the strides and
    the dtype, if other results of this kind may use it later.
    """

    def __init__(self, name: str, holder: Step, kind: tuple | None = None, stays=True):
        self.name, self.holder, self.kind, self.stays = name, holder, kind, stays


class Writer:
    """Writes once(), which takes memory and returns call(), which runs straight on.

    `constants` has the arrays that the text has names for. `new` maps variables to the
    steps whose results they get, and the results of `outputs` are returned.
    """

    def __init__(self, order: list, given: dict, names: dict, outputs: list, new: dict):
        self.order, self.named, self.outputs, self.new = order, names, outputs, new
        self.results = results_of(order, given)
        self.top, self.lines, self.constants, self.free = [], [], {}, []
        self.text = {x: names[x] for x in given if x in names}
        self.taken, self.views = {*self.text.values()}, {}
        self.memory = {x: Memory(names[x], x) for x in given if x.call == "variable"}
        self.find_lifetimes()
        for place, step in enumerate(order):
            if step not in self.text:
                self.write(place, step)
            for root in {self.root[x] for x in (step, *leaves(step))}:
                memory = self.memory.get(root)
                if memory and memory.holder is root and self.last[root] <= place:
                    self.free += [memory] if memory.kind else []
        self.finish()

    def find_lifetimes(self) -> None:
        """Find whose memory each result is in, and where it is read for the last time."""
        self.root, self.last, self.readers = {}, {}, {}
        for place, step in enumerate(self.order):
            shown = [x for x in step.arguments if self.shares(step, x)]
            self.root[step] = self.root[shown[0]] if shown else step
            self.last[step] = place
            for each in leaves(step):
                self.last[self.root[each]] = place
                self.readers.setdefault(self.root[each], []).append(place)
        ends = [x for x in self.order if x.call in GIVEN and x not in self.new]
        self.returned = {self.root[x] for x in self.outputs}
        for step in [*ends, *self.returned, *(self.root[x] for x in self.new.values())]:
            self.last[step] = len(self.order)

    def shares(self, a: Step, b: Step) -> bool:
        """Return whether two results are arrays in the same memory."""
        both = [self.results[a], self.results[b]]
        return all(isinstance(x, ndarray) for x in both) and np.may_share_memory(*both)

    # Memory

    def target(self, place: int, step: Step) -> str:
        """Return where a result is written, or "" if the call should make an array."""
        memory = self.memory.get(
            next((v for v, new in self.new.items() if new is step), None)
        )
        if step.shape == () or self.root[step] in self.returned:
            return ""
        part = step.call in ("with_item", "with_sum")
        last = self.last[memory.holder] if memory else place
        if last < place or memory and last == place and is_elementwise(step):
            return self.hold(step, memory, memory.name)
        if is_elementwise(step) and (found := self.part_of_other(place, step)):
            return found
        over = step.arguments[:1] if part else step.arguments
        for each in over if part or is_elementwise(step) else ():
            memory = self.memory.get(self.root.get(each))
            if memory and memory.holder is self.root[each] and self.fits(step, each):
                if self.last[memory.holder] == place:
                    return self.hold(step, memory, self.text[each])
        return self.new_memory(step)

    def fits(self, step: Step, other: Step) -> bool:
        """Return whether a result may be written over all of another one."""
        mine, theirs = layout_of(self.results[step]), layout_of(self.results[other])
        return (
            mine == theirs
            and self.results[self.root[other]].size == self.results[step].size
        )

    def hold(self, step: Step, memory: Memory, text: str) -> str:
        """Keep the result of a step in memory from now on."""
        memory.holder, self.memory[step], self.text[step] = step, memory, text
        return text

    def new_memory(self, step: Step) -> str:
        """Return the name of memory for a result, which is free or taken once."""
        array, name = self.results[step], self.unused(self.named.get(step, "h1"))
        kind = layout_of(array)
        again = [memory for memory in self.free if memory.kind == kind]
        if again:
            self.free.remove(again[-1])
            self.top.append(f"{name} = {again[-1].name}  # again")
        else:
            axes = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
            axes = axes if not array.flags.c_contiguous else sorted(axes)
            shape = tuple(array.shape[axis] for axis in axes)
            back = tuple(map(axes.index, range(array.ndim)))
            back = f".transpose{back}" if axes != sorted(axes) else ""
            self.top.append(f"{name} = np.empty({shape}, {literal(array.dtype)}){back}")
        return self.hold(step, Memory(name, step, kind), name)

    def part_of_other(self, place: int, step: Step) -> str:
        """Return the part of other memory that a result is only computed for."""
        then = self.readers.get(step, [0])
        write = self.order[then[0]]
        if len(then) > 1 or write.call != "with_item" or write.arguments[2] is not step:
            return ""
        base, index, _ = write.arguments
        memory = self.memory.get(base)
        ready = memory and memory.holder is base and self.last[base] == then[0]
        if not ready or index.call != "constant" or self.readers[base][-2:-1] > [place]:
            return ""
        part = self.results[base][index.value]
        fits = (
            np.may_share_memory(part, self.results[base]) and part.shape == step.shape
        )
        return (
            self.view(f"{self.text[base]}[{self.index(index)}]", base, "part")
            if fits
            else ""
        )

    # Text

    def unused(self, name: str) -> str:
        """Return a name, with the first number at its end that makes it a new one."""
        stem, number = name.rstrip("0123456789"), 1
        while name in self.taken:
            name, number = f"{stem}{number}", number + 1
        self.taken.add(name)
        return name

    def say(self, step: Step, text: str) -> None:
        """Write a line of call(), and the line of the program that it comes from."""
        self.lines.append(f"{text:<60}  # {step.line}" if step.line else text)

    def view(self, text: str, of: Step, ending: str, name: str | None = None) -> str:
        """Return the name of a view, which is taken once if its memory stays."""
        memory = self.memory.get(self.root[of])
        stays = memory.stays if memory else of.call == "constant"
        if not stays or text not in self.views:
            base = memory.name if memory else self.of(self.root[of])
            self.views[text] = self.unused(name or f"{base}_{ending}")
            (self.top if stays else self.lines).append(f"{self.views[text]} = {text}")
        return self.views[text]

    def of(self, step: Step) -> str:
        """Return the text of an argument."""
        arrays = any(isinstance(x, ndarray) for x in flat([step.value]))
        if step not in self.text and arrays:
            self.text[step] = f"c{len(self.constants) + 1}"
            self.constants[self.text[step]] = step.value
        if step.call in ("tuple", "list"):
            inside = ", ".join(map(self.of, step.arguments))
            return f"({inside},)" if step.call == "tuple" else f"[{inside}]"
        return self.text[step] if step in self.text else literal(step.value)

    def index(self, step: Step) -> str:
        """Return the text of an index, without its brackets."""
        if step.call == "tuple":
            return ", ".join(map(self.index, step.arguments))
        parts = step.value if isinstance(step.value, tuple) else (step.value,)
        if step in self.text or any(isinstance(x, ndarray) for x in parts):
            return self.of(step)
        return ", ".join(map(sliced, parts)) or "()"

    def write(self, place: int, step: Step) -> None:
        """Write what a step does."""
        if step.call == "asked":
            text, value = self.of(step.arguments[0]), np.asarray(step.value)
            test = f"{text} != {value.item() if value.size == 1 else 0!r}"
            if value.dtype == bool and value.size == 1:
                test = f"not {text}" if value else text
            elif value.size != 1:
                self.text[step] = f"c{len(self.constants) + 1}"
                self.constants[self.text[step]] = value
                test = f"not np.array_equal({text}, {self.text[step]})"
            self.say(step, f"if {test}: raise Changed")
        elif step.call in ("with_item", "with_sum"):
            self.write_part(place, step)
        elif self.root[step] is not step:
            of = next(x for x in step.arguments if self.root.get(x) is self.root[step])
            ending = ENDINGS.get(step.call.removeprefix("ndarray."), "view")
            self.text[step] = self.view(self.call(step), of, ending, self.named.get(step))
        elif step.call not in ("constant", "tuple", "list"):
            self.compute(place, step)

    def write_part(self, place: int, step: Step) -> None:
        """Write into an array, or into a copy if the old array is still needed."""
        base, index, value = step.arguments
        out = self.target(place, step)
        if not out:
            out = self.text[step] = self.unused(self.named.get(step, "h1"))
            self.say(step, f"{out} = np.array({self.of(base)})")
        elif out != self.text.get(base) and base.name != "empty_like":
            self.say(step, f"np.copyto({out}, {self.of(single(base))})")
        part = f"{out}[{self.index(index)}]"
        if step.call == "with_sum":
            self.say(step, f"np.add.at({out}, {self.of(index)}, {self.of(value)})")
        elif self.views.get(part) != self.of(value):
            self.say(step, f"{part} = {self.of(value)}")

    def compute(self, place: int, step: Step) -> None:
        """Write a call, with `out=` where NumPy's function takes it."""
        ufunc = isinstance(CALLS[step.call], np.ufunc) or step.call.endswith(".reduce")
        takes = ufunc or step.call in (*WITH_OUT, *COPIES, "masked")
        out = self.target(place, step) if takes else ""
        first = step.arguments[0] if step.arguments else step
        if not out:
            out = self.text[step] = self.unused(self.named.get(step, "h1"))
            if isinstance(self.results[step], ndarray):
                self.memory[step] = Memory(out, step, stays=False)
            self.say(step, f"{out} = {self.call(step)}")
        elif step.call == "masked":
            bits, array = f"view(np.int{8 * step.dtype.itemsize})", step.arguments[1]
            old = self.view(f"{self.of(array)}.{bits}", array, "bits")
            new = self.view(f"{out}.{bits}", step, "bits")
            self.say(step, f"np.multiply({old}, {self.of(first)}, out={new})")
        elif step.call in COPIES:
            if first.shape != step.shape:
                out = self.view(f"{out}.reshape{first.shape}", step, "flat")
            cast = ', casting="unsafe"' if first.dtype != step.dtype else ""
            self.say(step, f"np.copyto({out}, {self.of(first)}{cast})")
        else:
            self.say(step, self.call(step, out))
        self.text.setdefault(step, out)

    def call(self, step: Step, out: str = "") -> str:
        """Return the text of a call."""
        args, function = [*map(self.of, step.arguments)], step.call
        if function.startswith("number."):
            return f" {SIGNS[function.removeprefix('number.')]} ".join(["", *args][-2:])
        if function == "getitem":
            return f"{args[0]}[{self.index(step.arguments[1])}]"
        if function == "masked":
            return f"np.where({args[0]}, {args[1]}, 0)"
        before, _, function = (
            f"np.{function}".rpartition(".")
            if "." not in function
            else function.partition(".")
        )
        if before == "ndarray":
            before = args.pop(0)
        elif before == "generator":
            before = "generator()"
        elif before != "np":
            before = f"np.{before}"
        args += [f"{name}={literal(value)}" for name, value in step.options.items()]
        args += [f"out={out}"] if out else []
        return f"{before}.{function}({', '.join(args)})"

    def finish(self) -> None:
        """Write copies to variables that have no new numbers yet, and what returns."""
        results, roots, late = [], set(), []
        for step in self.outputs:
            root, text = self.root[step], self.of(step)
            kept = (
                root in roots
                or root.call in GIVEN
                and isinstance(self.results[step], ndarray)
            )
            results.append(self.unused("result") if kept else text)
            self.lines += [f"{results[-1]} = np.array({text})"] if kept else []
            roots.add(root)
        for variable, new in self.new.items():
            name, text = self.text[variable], self.of(new)
            if text != name:
                late.append(f"np.copyto({name}, {text})")
                if self.root[new] in self.new:  # it may change before it is read
                    late[-1] = f"np.copyto({name}, {self.unused('old')})"
                    self.lines.append(
                        f"{late[-1][:-1].split(', ')[1]} = np.array({text})"
                    )
        self.lines += [*late, f"return [{', '.join(results)}]"]

    def source(self, once: Sequence[str], call: Sequence[str]) -> str:
        """Return the text of both functions, which take these arguments."""
        top = "".join(f"    {line}\n" for line in self.top)
        lines = "".join(f"        {line}\n" for line in self.lines)
        inner = f"    def call({', '.join(call)}):\n{lines}\n    return call\n"
        return f"def once({', '.join(once)}):\n{top}\n{inner}"


def leaves(step: Step) -> Iterable[Step]:
    """Yield the arguments of a step, with the items of lists in place of the lists."""
    for each in step.arguments:
        yield from leaves(each) if each.call in ("tuple", "list") else [each]


def literal(value) -> str:
    """Return the text of a value that is not an array."""
    if isinstance(value, tuple | list):
        inside = "".join(f"{literal(each)}, " for each in value)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, np.dtype | type):
        return f"np.{np.dtype(value).name}"
    return "..." if value is ... else repr(value)


def sliced(part) -> str:
    """Return the text of one part of an index."""
    if not isinstance(part, slice):
        return literal(part)
    ends = ["" if x is None else str(x) for x in (part.start, part.stop, part.step)]
    return ":".join(ends if part.step is not None else ends[:2])
