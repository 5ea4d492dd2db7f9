"""Run answers within limits, and return their results."""

import classroom.notebook.fast_validation  # noqa: F401 - before nbval and nbformat
