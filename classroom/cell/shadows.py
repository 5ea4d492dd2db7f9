"""Files of the learner's that would be imported instead of a module."""

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
