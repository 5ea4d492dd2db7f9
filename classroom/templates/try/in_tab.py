"""What runs in a browser's tab before its first cell.

The kernel has no folder yet. Later it has one, in which each import looks first, and
slowly. So what a first cell needs is imported here.
"""

import logging
import os
import sys
import types

import jedi  # noqa: F401, it raises the limit below
import one_thread  # noqa: F401
import tqdm

sys.setrecursionlimit(1000)  # as elsewhere
# What IPython has for a terminal takes a second to load, and is not used
sys.modules["IPython.terminal.embed"] = types.SimpleNamespace(embed=None)  # type: ignore
tqdm.tqdm.monitor_interval = 0  # a thread of its own
logging.getLogger("matplotlib.font_manager").setLevel("ERROR")
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"

import piplite.piplite  # noqa: E402, F401
import pyodide_kernel  # noqa: E402, F401

import classroom.cell.expect  # noqa: E402
import classroom.cell.pages  # noqa: E402, F401
import minigrad.drawing.plot_text  # noqa: E402, F401
