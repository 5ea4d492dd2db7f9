"""The one command of the course: `python3 course.py lab` sets it up and opens it.

It needs nothing but Python. On first use it makes `.venv` and installs the course
there, it keeps `.venv` in step with pyproject.toml, and it hands over to the commands
themselves, which live in classroom/.
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

import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import textwrap
import time
from pathlib import Path

if sys.flags.safe_path:
    sys.path.insert(0, str(Path(__file__).resolve().parent))
from classroom.all_or_nothing import Trouble, finish_first, only_one, open_streams

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "course.json"  # what .venv holds; written only when all of it is there

COMMANDS = {
    "lab": "open JupyterLab at the first lesson; further words go on to JupyterLab",
    "check": "check your answers: all of them, `check 4`, or `check FILE.ipynb`",
    "report": "print what somebody who helps you needs to know: `report 4.2`",
    "progress": "see the whole course at a glance",
    "assemble": "put your answers into a copy of the package, and test it",
    "reset": "get a blank back, keeping a copy of your work: `reset 4`, `reset 4.2`",
    "restore": "list what is kept of your work, `restore 4.2` brings an answer back",
    "update": "take the newer course, keeping your answers",
}
TEACHERS = {  # these need the sources, which a release to students does not have
    "release": "make what students get; for teachers",
    "grade": "grade what a class has handed in; for teachers",
    "engine": "write the package as it stands after a chapter: `engine 7`",
    "build": "make the notebooks from chapters/; for those who write chapters",
    "site": "make site/, where the course is read; for those who write chapters",
    "test": "run every test; further words go on to pytest",
}
if (ROOT / "chapters").is_dir():
    COMMANDS |= TEACHERS

DISK_FULL = (
    "The disk is full, so the course could not be installed: it needs about 1 GB in "
    "{root}, and some more in the system's folder for temporary files. Make room and "
    "run the same command again."
)
NO_NETWORK = (
    "The course could not be downloaded: this machine does not reach the Python "
    "package index. Check the network (and the proxy, if you are behind one) and run "
    "the same command again; once it is installed, the course needs no network."
)
NO_WRITING = (
    "A file cannot be written: {line}. The course is installed into .venv inside its "
    "own folder, {root}. If that is read-only, copy it to a place that is yours; if "
    "another program, perhaps a JupyterLab, still uses .venv, close it first. If the "
    "file is elsewhere, let yourself write there, or let the variable that leads there "
    "(such as HOME or TMPDIR) lead to another folder. Then run the command again."
)
TOO_LONG = (
    "Windows takes no paths this long: {root} leaves too little room for what is "
    "installed into .venv inside it. Move the course's folder to a short path, such as "
    "C:\\minigrad, and run the same command there."
)
# What pip, uv, venv and the operating systems say -> what it means for a learner.
DIAGNOSES = {
    r"Long Path|WinError 206": TOO_LONG,
    r"No space left|not enough space|Disk quota|Errno 28|os error 28"
    r"|WinError 112": DISK_FULL,
    r"name resolution|getaddrinfo|nodename nor|Name or service|NewConnectionError"
    r"|NameResolutionError|ConnectTimeout|Read ?[Tt]imed ?out|ProxyError|Max retries"
    r"|Connection (refused|reset|broken)|Network is unreachable|SSLError|dns error"
    r"|error sending request": NO_NETWORK,
    r"Read-only file system|Permission denied|Access is denied|Not a directory"
    r"|Errno (13|20|30)\b|WinError (5|32)\b": NO_WRITING,
}
ELSEWHERE = {"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE"}
ELSEWHERE |= {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_NO_DEPS", "PIP_DRY_RUN"}
NO_VENV = (
    "This Python cannot make virtual environments, because its venv package is not "
    "installed. On Debian and Ubuntu `sudo apt install python3-venv` adds it; then run "
    "the same command again. Without administrator's rights, install `uv` instead (it "
    "is used as soon as it is on the PATH), or use conda with environment.yml."
)
BUSY = (
    "Another course.py is setting up .venv at this moment. Wait until it is done and "
    "run the same command again."
)
UNKNOWN = (
    "The course could not be installed. The next run starts with an empty .venv; if "
    "that fails in the same way, please report what the installer said: "
)
STOPPED = "Stopped before .venv was complete. The next run takes care of it."


def main(words: list[str]) -> int:
    """Run one command of the course, and return its exit code."""
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console may lack a path's letters
    if not words or words[0] in ("help", "--help", "-h"):
        print(usage())
        return 0
    if words[0] not in COMMANDS:
        print(f"There is no command `{words[0]}`.\n\n{usage()}", file=sys.stderr)
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
    python = "py" if os.name == "nt" else "python3"
    lines = [f"  {name:<10}{text}" for name, text in COMMANDS.items()]
    return "\n".join([f"Usage: {python} course.py COMMAND [WORDS]", "", *lines])


def interpreter_for(command: str) -> str:
    """Return the Python that runs `command`, after installing what it needs."""
    extras = {"course"}
    if command in ("release", "grade"):
        extras.add("classroom")
    if command in ("build", "test"):
        extras.add("dev")
    if command == "site":
        extras.add("site")
    if command == "test" and os.environ.get("CI") == "true":
        extras |= {"compare", "site"}
    conda = os.environ.get("CONDA_DEFAULT_ENV") == "minigrad"  # environment.yml's name
    if conda and os.environ.get("CONDA_PREFIX") == sys.prefix and extras == {"course"}:
        return sys.executable
    stamp = read_stamp()
    if stamp != fingerprint(stamp) or not extras <= set(stamp["extras"]):
        try:
            with only_one(ROOT / ".venv.lock", BUSY):
                set_up(extras)
        except OSError as error:
            raise trouble_in(str(error)) from error
    return str(PYTHON)


def read_stamp() -> dict:
    """Return what .venv is known to hold; nothing, if its making never ended."""
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def fingerprint(stamp: dict) -> dict:
    """Return the stamp that a .venv with `stamp`'s extras would get here and now.

    A moved folder, another Python and a changed pyproject.toml all show in it.
    """
    return {
        "extras": stamp.get("extras", []),
        "root": str(ROOT),
        "python": base_python(),
        "pyproject": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest(),
    }


def base_python() -> str | None:
    """Return which Python .venv was made from; None if that is gone.

    Not where it is: Homebrew gives each 3.13.x a folder of its own, and 3.13 goes on.
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
    """Install `extras`, and what was there before, into a new or the present .venv."""
    start = time.monotonic()
    stamp = read_stamp()
    now = fingerprint(stamp)
    extras = sorted(extras.union(now["extras"]))
    if any(stamp.get(key) != now[key] for key in ("root", "python")):
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
    STAMP.write_text(json.dumps(fingerprint({"extras": extras})), encoding="utf-8")
    print(f"Done, in {time.monotonic() - start:.0f} s.")


def make_venv() -> None:
    """Make an empty .venv, in the place of whatever is there."""
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
    lines = []
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
            show(line.strip())
    show("")
    if process.returncode:
        raise trouble_in("".join(lines))


def surroundings() -> dict[str, str]:
    """Return the environment, without what sends Python or pip to other folders."""
    kept = {name: text for name, text in os.environ.items() if name not in ELSEWHERE}
    return {**kept, "PIP_USER": "0"}  # which may stand in a file of pip's, too


def show(line: str) -> None:
    """Write `line` over the one before, if anybody is looking."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{line[:width]:<{width}}\r", end="", flush=True)


def trouble_in(output: str) -> Trouble:
    """Return what `output` of a failed step means, in a paragraph."""
    if shutil.disk_usage(ROOT).free < 2**25:  # venv keeps the reason to itself
        return Trouble(DISK_FULL.format(root=ROOT))
    for pattern, text in DIAGNOSES.items():
        for line in output.splitlines():
            if re.search(pattern, line):
                return Trouble(text.format(root=ROOT, line=line.strip()))
    STAMP.unlink(missing_ok=True)  # who knows what is there: the next run starts anew
    lines = [line for line in output.splitlines() if "subprocess" not in line]
    told = [line for line in lines if re.search(r"(?i)error|\bhint\b", line)] or lines
    return Trouble(UNKNOWN + " / ".join(line.strip() for line in told[-3:]))


def hand_over(python: str, words: list[str]) -> int:
    """Run `words` as a command of classroom/, and return its exit code."""
    # -P: a file `random.py` where the learner stands must not replace the library's.
    command = [python, "-P", "-m", "classroom", *words]
    # Without bytecode each of many processes would compile all that it imports.
    env = surroundings()
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.stdout.flush()
    if os.name != "nt":
        os.execve(python, command, env)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C reaches the command itself
    return subprocess.call(command, env=env)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
