"""Open JupyterLab at the first lesson."""

import os
import tempfile
from pathlib import Path
from urllib.parse import quote

from jupyter_core import paths

from classroom import ROOT

BUILT = ("notebooks", "exercises", "solutions")
STYLE = {"static_custom_path": [str(ROOT / "classroom" / "jupyter" / "custom")]}
QUIET = (  # what is opened is not changed by that; no list of extensions is asked for
    "--ServerApp.contents_manager_class=classroom.learner.contents.CourseContents",
    "--LabApp.extension_manager=readonly",
    "--LabApp.custom_css=True",
    f"--ServerApp.tornado_settings={STYLE}",
)


def lab_command(words: list[str]) -> int:
    """Trust the notebooks and run JupyterLab with `words` until it is stopped."""
    if not os.access(ROOT, os.W_OK):
        print(
            f"{ROOT} is read-only: you can read and run everything, but not save.\n"
            "To keep your answers, copy the folder to a place that is yours."
        )
    let_jupyter_write()
    trust(sorted(path for name in BUILT for path in ROOT.glob(f"{name}/*.ipynb")))
    # The course's own settings ask nothing at the first start; its own kernel goes
    # before one of the same name that an earlier Jupyter left in the home folder.
    os.environ["JUPYTER_CONFIG_PATH"] = str(ROOT / "classroom" / "jupyter")
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    from jupyterlab.labapp import LabApp

    ours = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url={address()}", *QUIET]
    if os.name == "nt":  # the Store's Python hides the file that would lead there
        ours.append("--ServerApp.use_redirect_file=False")
    LabApp.launch_instance([*ours, *words])
    return 0


def let_jupyter_write() -> None:
    """Give JupyterLab folders in the course for those of the home that are closed."""
    for kind in ("config", "data", "runtime"):
        folder = Path(getattr(paths, f"jupyter_{kind}_dir")())
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            ours = ROOT / ".minigrad" / "jupyter" / kind
            ours.mkdir(parents=True, exist_ok=True)
            os.environ[f"JUPYTER_{kind.upper()}_DIR"] = str(ours)
            print(f"{folder} cannot be written to: {error.strerror}.")
            print(f"JupyterLab uses {ours} in its place.")


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
