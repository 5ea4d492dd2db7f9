"""Which cell of a lesson gives a name its value, when a later cell runs too early."""

import json
from contextlib import suppress
from pathlib import Path

from classroom.cell.namespaces import assigned

ABOVE = (
    "`{}` gets its value in a cell above, which has not run since this notebook's "
    "kernel was started. Choose Run > Run All Above Selected Cell."
)


def what_to_run(course: Path, cell: str, name: str) -> str:
    """Return what to run if a cell above one of a lesson gives a name its value."""
    for path in sorted((course / "notebooks").glob("*.ipynb")):
        with suppress(OSError, ValueError, LookupError, TypeError):
            text = path.read_bytes()
            cells = json.loads(text)["cells"] if cell.encode() in text else []
            code = [each for each in cells if each["cell_type"] == "code"]
            ids = [each["id"] for each in code]
            above = code[: ids.index(cell)] if cell in ids else []
            if any(name in assigned("".join(each["source"])) for each in above):
                return ABOVE.format(name)
    return ""
