"""Makes nbformat, nbval and JupyterLab load seconds faster; import it before them.

To validate notebooks, jsonschema would build a grammar of addresses, which no notebook
needs. And nbval would load coverage, though nobody measures which lines of a notebook
run. pyproject.toml loads this module as a plugin of pytest, before nbval.
"""

import sys
from types import SimpleNamespace


def nothing(*words: object) -> None:
    """Measure nothing."""


sys.modules["rfc3987_syntax"] = None
uncovered = SimpleNamespace(setup_coverage=nothing, teardown_coverage=nothing)
sys.modules["nbval.cover"] = uncovered
