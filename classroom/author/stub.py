"""What editors are told of Tensor: most of its methods come from the files of rules/.

An editor that does not run the code completes `x.sum` by `minigrad/graph/tensor.pyi`.
"""

import inspect
from typing import Any

from minigrad.graph import tensor
from minigrad.rules.op import Op

TENSOR = "minigrad/graph/tensor.pyi"
HEAD = """\
# Made by `course.py build` from what Tensor has when minigrad is loaded.
from typing import Any
"""


def tensor_stub() -> str:
    """Return the text of tensor.pyi: what graph/tensor.py has, and all methods."""
    import minigrad.names  # noqa: F401, the files of rules/ bring the methods

    lines = [HEAD.rstrip()]
    for name, value in vars(tensor).items():
        if value is tensor.Tensor:
            lines.append("class Tensor:")
            members = sorted(vars(tensor.Tensor).items())
            told = [declared(key, each) for key, each in members]
            lines += [f"    {each}" for each in told if each]
        elif getattr(value, "__module__", None) == tensor.__name__:
            lines.append(declared(name, value))
    return "\n".join(lines) + "\nufuncs: dict[Any, Any]\nfunctions: dict[Any, Any]\n"


def declared(name: str, value: Any) -> str:
    """Return the line of a stub for a function, an operation or a property."""
    if isinstance(value, property) or inspect.ismemberdescriptor(value):
        return f"{name}: Any"
    if not callable(value):
        return ""
    names = value.signature if isinstance(value, Op) else inspect.signature(value)
    rule = getattr(value, "__module__", tensor.__name__) != tensor.__name__
    takes = []
    for each in names.parameters.values():
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        has_default = each.default is not each.empty
        takes.append(f"{star}{each.name}: Any{' = ...' * has_default}")
        if each.kind == each.KEYWORD_ONLY and "*" not in "".join(takes[:-1]):
            takes.insert(-1, "*")
    returns = "Tensor" if rule else "Any"
    return f"def {name}({', '.join(takes)}) -> {returns}: ..."
