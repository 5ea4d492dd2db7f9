"""The module with which a notebook's first cell makes excerpts live."""

import sys
from pathlib import Path

OURS = {"classroom", "minigrad", "numpy", "matplotlib", "graphviz", "sklearn", "torch"}


def refuse_shadows(folder: Path) -> None:
    """Raise ImportError if a file next to the notebook has the name of a module."""
    for path in sorted(folder.glob("*.py")):
        if path.stem in OURS | sys.stdlib_module_names:
            raise ImportError(
                f"The file {path.name}, next to this notebook, is imported instead of "
                f"the module {path.stem}. Give it another name, restart the kernel, "
                "and run this cell again."
            )


if sys.platform != "emscripten":  # a browser's tab looks in this folder last
    refuse_shadows(Path.cwd())  # before NumPy is looked for

from classroom.cell import hooks  # noqa: E402, F401
from classroom.cell.pages import is_live, keep, restore  # noqa: E402, F401
from minigrad.drawing.plot_text import speak  # noqa: E402

speak()


def use_answers(*chapters: int) -> None:
    """Use the learner's answers of some chapters that pass, and say which these are."""
    try:
        from classroom.learner import assemble
    except ImportError:  # in a browser's tab
        used = []
    else:
        used = assemble.use_answers(chapters)
    told = ", ".join(used) or "none yet"
    print(f"Your answers used here: {told}. The rest is the package's.")
