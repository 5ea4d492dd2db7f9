"""The tools around the course: build the notebooks, run them, check the answers.

Each folder imports only from those before it: cell, notebook, run, author, learner,
teacher. Above them are the commands (`__main__`), the code that course.py needs before
anything is installed (`all_or_nothing`, with the error `Trouble`), and the names that
notebooks import (`live`, `checks`, `knobs`).
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
