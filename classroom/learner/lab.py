"""Open JupyterLab at the course's home, or at a lesson or an exercise."""

import hashlib
import logging
import os
import sqlite3
import tempfile
import threading
import time
import webbrowser
from pathlib import Path
from urllib.parse import quote

from jupyter_core import paths

from classroom import ROOT
from classroom.learner.find import find
from classroom.notebook.course_map import stop_of
from classroom.notebook.files import COURSE, DIGESTS, notebooks_of
from classroom.notebook.home import HOME, exercise_link
from classroom.notebook.pristine import all_chapters

LOG = {"--log-level", "--debug", "--ServerApp.log_level", "--Application.log_level"}
JUPYTER = ROOT / "classroom" / "jupyter"
STYLE = {"static_custom_path": [str(JUPYTER / "custom")]}
QUIET = (  # opening a file does not change it, and no list of extensions is fetched
    "--ServerApp.contents_manager_class=classroom.learner.contents.CourseContents",
    "--LabApp.extension_manager=readonly",
    "--LabApp.custom_css=True",
    # Browsers from snap or flatpak, and Windows' browsers in WSL, may not read the file
    # that redirects to JupyterLab, and the Microsoft Store's Python hides it.
    "--ServerApp.use_redirect_file=False",
    f"--ServerApp.tornado_settings={STYLE}",
    "--TerminalsExtensionApp.terminal_manager_class="
    "classroom.learner.terminals.CourseTerminals",
)
GREETING = """\
JupyterLab is open at {url}
To stop it, press Ctrl-C here, and then y. To continue another day: `{course} lab`."""


def lab_command(words: list[str]) -> int:
    """Trust the notebooks and run JupyterLab with `words` until it is stopped.

    A first word that is not an option says what to open: "4", "4.2", or a notebook.
    """
    what = words[0] if words and words[0][0] != "-" else ""
    begin, words = address(what, ROOT), words[bool(what) :]
    let_jupyter_write()
    if url := running(begin):
        print(f"JupyterLab is already open with this course: {url}")
        if "--no-browser" not in words:
            webbrowser.open(url)
        return 0
    if not os.access(ROOT, os.W_OK):
        print(
            f"{ROOT} is read-only: you can read and run everything, but not save.\n"
            "To keep your answers, copy the folder to a place where you can write."
        )
    trust(ROOT)
    # The course's own settings ask nothing at the first start; its own kernel goes
    # before one of the same name that an earlier Jupyter left in the home folder.
    os.environ["JUPYTER_CONFIG_PATH"] = str(ROOT / "classroom" / "jupyter")
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    os.environ["JUPYTER_PATH"] = str(JUPYTER)  # kernels that write only errors here
    for name in ("JUPYTERLAB_DIR", "MPLBACKEND"):  # another JupyterLab; no pictures
        os.environ.pop(name, None)
    # Each kernel has the course from the start, whichever cell runs first
    os.environ["PYTHONSTARTUP"] = str(ROOT / "classroom" / "jupyter" / "startup.py")
    from jupyterlab.labapp import LabApp

    ours = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url={begin}", *QUIET]
    if not LOG & {word.partition("=")[0] for word in words}:
        ours.append("--Application.log_level=ERROR")
        logging.getLogger("ServerApp").addFilter(is_no_address)
        threading.Thread(target=greet, args=[begin], daemon=True).start()
    LabApp.launch_instance([*ours, *words])
    return 0


def address(what: str = "", root: Path = ROOT) -> str:
    """Return where JupyterLab opens: home, the lesson of "4", the exercise "4.2".

    Raises Unreadable if there is no such chapter or exercise.
    """
    if not what:
        there = notebooks_of(root / "classroom" / "pristine")
        return f"/lab/tree/{HOME}" if there else "/lab"
    path, chapter, exercise = find(what, all_chapters(root), root)
    lesson = root / "notebooks" / f"{chapter.slug}.ipynb"
    if exercise is None and lesson.exists():
        path = lesson
    here = stop_of(chapter.number, chapter.slug, chapter.about)
    link = exercise_link(here, exercise) if exercise else ""
    heading = link.rstrip(")").partition("#")[2]
    place = quote(path.relative_to(root).as_posix())
    return f"/lab/tree/{place}" + (f"#{heading}" if heading else "")


def running(begin: str, pid: int | None = None) -> str | None:
    """Return the address of a JupyterLab that is open with this course, if any."""
    from jupyter_server.serverapp import list_running_servers

    for server in list_running_servers():
        here = os.path.realpath(server["root_dir"]) == os.path.realpath(ROOT)
        if here and pid in (None, server["pid"]):
            token = f"?token={server['token']}" if server["token"] else ""
            place, mark, heading = begin.partition("#")
            return f"{server['url'].rstrip('/')}{place}{token}{mark}{heading}"
    return None


def greet(begin: str) -> None:
    """Say where JupyterLab is open, as soon as it is, and how to stop it."""
    for _ in range(300):
        time.sleep(0.2)
        if url := running(begin, os.getpid()):
            print(GREETING.format(url=url, course=COURSE), flush=True)
            return


def is_no_address(record: logging.LogRecord) -> bool:
    """Tell whether a line from Jupyter says something other than the address."""
    return "http" not in record.getMessage()


def let_jupyter_write() -> None:
    """Give JupyterLab folders in the course if those in the home are read-only."""
    for kind in ("config", "data", "runtime"):
        folder = Path(getattr(paths, f"jupyter_{kind}_dir")())
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            ours = ROOT / ".minigrad" / "jupyter" / kind
            ours.mkdir(parents=True, exist_ok=True)
            os.environ[f"JUPYTER_{kind.upper()}_DIR"] = str(ours)
            print(f"Cannot write to {folder}: {error.strerror}.")
            print(f"JupyterLab uses {ours} instead.")


def trust(root: Path) -> None:
    """Sign the notebooks that are as they were built, so that their outputs are shown.

    All others are signed by JupyterLab, when a learner has run what they show.
    """
    from nbformat.sign import NotebookNotary
    from nbformat.v4 import reads

    built = root / DIGESTS
    lines = built.read_text("utf-8").splitlines() if built.exists() else []
    notary = NotebookNotary()
    for digest, name in (line.split("  ", 1) for line in lines):
        try:
            text = (root / name).read_bytes()
            if hashlib.sha256(text).hexdigest() == digest:
                notary.sign(reads(text.decode()))
        except OSError:
            continue
        except sqlite3.Error as error:  # a full disk, or one without locks
            print(
                f"Pictures may be hidden, as Jupyter cannot store a signature: {error}."
            )
            return
