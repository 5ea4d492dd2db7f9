"""The module with which a notebook's first cell makes excerpts live."""

from pathlib import Path

from classroom.cell.shadows import refuse_shadows

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
