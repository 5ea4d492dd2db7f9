"""JupyterLab's terminals open in the folder of course.py, whatever it shows."""

from typing import Any

from jupyter_server_terminals.terminalmanager import TerminalManager

from classroom import ROOT


class CourseTerminals(TerminalManager):
    """Opens terminals in the course's folder."""

    def create(self, **options: Any) -> dict[str, Any]:
        """Open a terminal, and return its description for JupyterLab."""
        return super().create(**{**options, "cwd": str(ROOT)})
