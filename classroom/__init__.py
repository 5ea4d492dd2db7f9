"""What surrounds the course: build the notebooks, run them, check the answers.

Each folder imports from those before it, never from one after it: cell, notebook, run,
author, learner, teacher. On top stand the commands (`__main__`), what course.py needs
before anything is installed (`all_or_nothing`, with the error `Trouble`), and the names
that notebooks import (`live`, `checks`).
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
