"""Open JupyterLab at the first lesson."""

import os
import re
import socket
import sys
import textwrap
from pathlib import Path
from urllib.parse import quote

from classroom import ROOT

BUILT = ("notebooks", "exercises", "solutions")


def lab(words: list[str]) -> int:
    """Trust the notebooks and run JupyterLab with `words` until it is stopped."""
    port = asked_port(words)
    if port and not is_free(port):
        return say(
            f"Port {port} is in use, perhaps by another JupyterLab. Stop that one "
            "(Ctrl-C where it runs), or ask for another port, or leave --port out: "
            "then JupyterLab finds a free one by itself."
        )
    if not os.access(ROOT, os.W_OK):
        say(
            f"{ROOT} is read-only: you can read and run everything, but not save. To "
            "keep your answers, copy the folder to a place that is yours."
        )
    trust(sorted(path for name in BUILT for path in ROOT.glob(f"{name}/*.ipynb")))
    # The course's own settings ask nothing at the first start; its own kernel goes
    # before one of the same name that an earlier Jupyter left in the home folder.
    os.environ["JUPYTER_CONFIG_PATH"] = str(ROOT / "classroom" / "jupyter")
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    from jupyterlab.labapp import LabApp

    ours = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url={address()}"]
    if os.name == "nt":  # the Store's Python hides the file that would lead there
        ours.append("--ServerApp.use_redirect_file=False")
    LabApp.launch_instance([*ours, *words])
    return 0


def asked_port(words: list[str]) -> int | None:
    """Return the port that `words` ask for; JupyterLab would silently take another."""
    found = re.search(r"--(?:port|ServerApp\.port)[= ](\d+)", " ".join(words))
    return int(found[1]) if found else None


def is_free(port: int) -> bool:
    """Tell whether a server could listen at `port` of this machine."""
    with socket.socket() as probe:
        if os.name != "nt":  # on Windows this option would allow a port in use
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def address() -> str:
    """Return the address of the lesson to begin with, below JupyterLab's own."""
    lessons = sorted(ROOT.glob("notebooks/*.ipynb"))
    first = [path for path in lessons if path.name.startswith("01")] or lessons
    if not first:
        return "/lab"
    return "/lab/tree/" + quote(f"notebooks/{first[0].name}")


def trust(paths: list[Path]) -> None:
    """Sign the course's notebooks, so that JupyterLab shows all of their outputs."""
    from nbformat.sign import NotebookNotary
    from nbformat.v4 import reads

    notary = NotebookNotary()
    for path in paths:
        try:
            notary.sign(reads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, AttributeError, KeyError, TypeError):
            # Not a notebook any more: JupyterLab says so when it is opened.
            continue


def say(text: str) -> int:
    """Print a paragraph where errors go, and return the exit code of a failure."""
    paths_whole = {"break_long_words": False, "break_on_hyphens": False}
    print(textwrap.fill(text, 79, **paths_whole), file=sys.stderr)
    return 1
