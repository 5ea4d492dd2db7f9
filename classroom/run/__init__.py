"""Run answers within bounds, and say what came of them."""

import classroom.notebook.fast_validation  # noqa: F401 - before nbval and nbformat
