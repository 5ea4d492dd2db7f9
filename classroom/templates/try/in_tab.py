"""What runs in a browser's tab before its first cell.

It imports what a first cell needs, while the page still loads.
"""

import importlib
import logging
import os
import sys
import types
from typing import Any

import one_thread  # noqa: F401
import tqdm

sys.path.append(sys.path.pop(0))  # the notebook's folder: looking there is slow
# What IPython has for a terminal takes a second to load, and is not used
sys.modules["IPython.terminal.embed"] = types.SimpleNamespace(embed=None)  # type: ignore
sys.modules["jedi"] = None  # type: ignore
tqdm.tqdm.monitor_interval = 0  # a thread of its own
logging.getLogger("matplotlib.font_manager").setLevel("ERROR")
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"

import piplite  # noqa: E402, F401
import pyodide_kernel  # noqa: E402, F401
from IPython.core import completer  # noqa: E402

import classroom.cell.expect  # noqa: E402
import classroom.cell.pages  # noqa: E402, F401
import minigrad.drawing.plot_text  # noqa: E402, F401

del sys.modules["jedi"]


class Later:
    """jedi, which completes names, for the time before the first name is completed."""

    def __getattr__(self, name: str) -> Any:
        limit = sys.getrecursionlimit()
        completer.jedi = importlib.import_module("jedi")
        completer.jedi.settings.case_insensitive_completion = False
        sys.setrecursionlimit(limit)  # jedi has raised it
        return getattr(completer.jedi, name)


completer.jedi = Later()
