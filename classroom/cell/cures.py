"""Which entry of chapter 27, From the message to the cure, an error belongs to."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "notebooks" / "27_message_to_cure.ipynb"
ENTRIES = {
    r"does not require grad": '2 · "does not require grad"',
    r"a second time": '3 · "a second time"',
    r"modified by an inplace operation": '4 · "modified by an inplace operation"',
    r"a leaf Variable that requires grad": '5 · "a leaf Variable that requires grad is '
    'being used in an in-place operation"',
    r"only for scalar outputs": '6 · "grad can be implicitly created only for scalar '
    'outputs"',
    r"(?<!NoneType' object )has no attribute 'backward'": "13 · .data, .item() or "
    "NumPy cut the graph",
}
NONE = "1 · grad is None, or 7 · The grad of a result is None"


def cure(error: str, line: str = "") -> str:
    """Return the line that names the entry of an error, or "" if it has none.

    `line` is the line of code that raised it, if that is known.
    """
    if not PAGE.exists():  # some of the course may be handed out without it
        return ""
    found = [name for words, name in ENTRIES.items() if re.search(words, error)]
    if "NoneType" in error and re.search(r"\.grad\b", line):
        found.append(NONE)
    return f"\nFrom the message to the cure (chapter 27): {found[0]}" if found else ""
