"""Makes nbformat, nbval and JupyterLab load seconds faster; import it before them.

To validate notebooks, jsonschema would build a grammar of addresses, which no notebook
needs. pyproject.toml loads this module as a plugin of pytest, before nbval.
"""

import sys

sys.modules["rfc3987_syntax"] = None
