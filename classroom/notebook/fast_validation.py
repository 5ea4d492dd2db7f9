"""Makes nbformat, nbval and JupyterLab load seconds faster; import it before them.

To validate notebooks, jsonschema would build a grammar of addresses that no notebook
needs. As a plugin of pytest: `-p classroom.notebook.fast_validation -p nbval.plugin`.
"""

import sys

sys.modules["rfc3987_syntax"] = None
