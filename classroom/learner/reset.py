"""Get a blank back: `python3 course.py reset 4.2`."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from classroom import ROOT
from classroom.journal import alone
from classroom.learner.find import find, open_learner
from classroom.learner.restore import keep, tell_kept
from classroom.notebook.files import Unreadable, write_notebook, write_whole
from classroom.notebook.graft import carry_over
from classroom.notebook.pristine import all_chapters


def reset_command(what: str, root: Path = ROOT) -> int:
    """Put back the blanks of a chapter ("4") or an exercise ("4.2").

    The notebook as it was is kept in exercises/kept/. Raises Trouble if there is no
    such exercise or its notebook cannot be read.
    """
    console = Console(highlight=False)
    if what.endswith(".ipynb"):
        raise Unreadable(f"Give a chapter (4) or an exercise (4.2), not {what}.")
    with alone(root):
        path, chapter, only = find(what, all_chapters(root), root)
        carried = None
        if only and path.exists():
            learner = open_learner(path, [chapter])
            carried = carry_over(learner, chapter, without=frozenset({only}))
        kept = keep(path, root) if path.exists() else None
        if carried:
            write_notebook(path, carried.notebook)
        else:
            path.parent.mkdir(exist_ok=True)
            write_whole(path, chapter.path.read_bytes())
    console.print(Text(f"{only or chapter.slug} is blank again, in {path.name}."))
    if carried and carried.edited:
        told = "Cells of the course that you had changed are as they were"
        console.print(f"{told}: {carried.edited}.")
    tell_kept(kept, root, console)
    return 0
