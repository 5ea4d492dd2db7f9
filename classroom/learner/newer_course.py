"""Where a newer course is, and which of its files differ from those here."""

import os
import re
import shutil
import subprocess
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from classroom.all_or_nothing import UNCHANGED, Trouble, digest_at
from classroom.notebook.files import COURSE

VERSION = "classroom/version.txt"
EXERCISE = re.compile(r"exercises/.*\.ipynb")
LEFT_ALONE = {".git", ".venv", ".venv.lock", ".minigrad", "kept"}
LEFT_ALONE |= {"__pycache__", ".ipynb_checkpoints", "__MACOSX"}
LEFT_ALONE |= {".DS_Store", "Thumbs.db", "desktop.ini"}
# Of the user's settings of git, only what it takes to reach a server
REACH = ("GIT_ASKPASS", "GIT_CONFIG_", "GIT_EXEC_PATH", "GIT_HTTP_", "GIT_PROXY_")
REACH += ("GIT_SSH", "GIT_SSL_", "GIT_TEST_")
SETTINGS = {"core.hooksPath": os.devnull, "core.attributesFile": os.devnull}
SETTINGS |= {"fetch.recurseSubmodules": "false", "log.showSignature": "false"}
NO_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
OF_ITS_OWN = (  # how to start a program that Ctrl-C in this terminal does not reach
    {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    if os.name == "nt"
    else {"start_new_session": True, "close_fds": False}  # it holds our lock, too
)
NO_GIT = (
    "{}, so tell update where the newer course is. Download its zip file, "
    f"and run\n    {COURSE} update PATH-OF-THE-ZIP"
)
NO_REMOTE = (
    "This clone does not know where the course comes from. Give update a folder or a "
    "zip file, or tell git once:\n    git remote add upstream ADDRESS"
)
UNDER_WAY = (
    "git is in the middle of a merge here, and some files have conflict markers. "
    "Finish the merge (`git status` says how), or undo it with `git merge --abort`. "
    "Then update again."
)


@dataclass(frozen=True)
class Newer:
    """A newer course in a folder, and which of its files differ from those here.

    `gone` are the files that it lacks. Exercises are not among them.
    """

    folder: Path
    changed: list[str]
    gone: list[str]


def find_newer(source: str | None, root: Path, temporary: Path) -> Newer | None:
    """The newer course, from a folder, a zip file or git, or None if git has none.

    Raises Trouble.
    """
    place = Path(source) if source else fetch(root, temporary)
    if place is None:
        return None
    folder = unpack(place, temporary)
    if folder.resolve() == root.resolve():
        raise Trouble(f"{source} is the course that you are running.")
    there, here = version(folder), version(root)
    if not source and there and there == here:
        return None
    if source and there and here and there.timestamp() < here.timestamp():
        dates = f"it is {told_date(there)}, and yours is {told_date(here)}"
        raise Trouble(f"The course in {source} is older: {dates}. {UNCHANGED}")
    files = [name for name in course_files(folder) if name != VERSION]
    changed = [n for n in files if digest_at(root / n) != digest_at(folder / n)]
    return Newer(folder, changed, gone_files(root, folder))


def unpack(source: Path, temporary: Path) -> Path:
    """The folder of the course in `source`, a folder or a zip file. Raises Trouble."""
    if not source.exists():
        raise Trouble(f"There is no {source}. Give a course's zip file or folder.")
    place = source
    if source.is_file():
        place = temporary / "unpacked"
        try:
            with zipfile.ZipFile(source) as archive:
                for each in archive.infolist():
                    path = Path(archive.extract(each, place))
                    if each.external_attr >> 16 & 0o100 and path.is_file():
                        with suppress(OSError):  # a disk may know no such mode
                            path.chmod(0o755)  # a program; zipfile forgets that
        except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError) as error:
            raise Trouble(f"{source} cannot be unpacked: {error}") from None
    return course_in(place, source)


def course_in(place: Path, source: Path) -> Path:
    """The course that `place` is, or the only one in it. Raises Trouble."""
    inside = sorted(path for path in place.iterdir() if path.is_dir())
    found = [p for p in (place, *inside) if any(p.glob("classroom/pristine/*.ipynb"))]
    if not found:
        raise Trouble(f"{source} is not a course, as it has no classroom/pristine/.")
    if found[0] != place and len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise Trouble(f"{source} contains several courses: {names}. Give one of them.")
    return found[0]


def version(folder: Path) -> datetime | None:
    """When the course in a folder was published, from its archive or from git."""
    told = folder / VERSION
    date = told.read_text(encoding="utf-8").strip() if told.is_file() else ""
    with suppress(ValueError, OSError):
        if "$" in date or not date:  # no archive
            paths = ("--", "classroom", "chapters")  # what a learner does not commit
            date = git(folder, "log", "-1", "--format=%cI", *paths).stdout
        return datetime.fromisoformat(date.strip())
    return None


def told_date(date: datetime | None) -> str:
    """A version in words."""
    return f"the version of {date:%Y-%m-%d %H:%M}" if date else "of an unknown date"


def course_files(folder: Path) -> list[str]:
    """The files of a course, without the notebooks of exercises."""
    names = []
    for place, folders, files in os.walk(folder):
        folders[:] = set(folders) - LEFT_ALONE
        ours = {n for n in files if not n.startswith(("._", "~$"))} - LEFT_ALONE
        paths = [Path(place, name) for name in ours]
        names += [path.relative_to(folder).as_posix() for path in paths]
    return sorted(name for name in names if not EXERCISE.fullmatch(name))


def gone_files(root: Path, newer: Path) -> list[str]:
    """The notebooks of chapters that the newer course lacks.

    For a release there are none, because it may have other chapters than the last one.
    """
    if not (newer / "chapters").is_dir():
        return []
    folders = ("classroom/pristine", "notebooks", "solutions")
    slugs = {path.name for path in (root / folders[0]).glob("*.ipynb")}
    slugs -= {path.name for path in (newer / folders[0]).glob("*.ipynb")}
    names = [f"{folder}/{name}" for folder in folders for name in slugs]
    return [name for name in names if (root / name).exists()]


# git, which only brings the newer course


def git(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run git as if the user had set nothing but how to reach servers.

    It never asks for a password, and Ctrl-C does not reach it.
    """
    settings = [word for pair in SETTINGS.items() for word in ("-c", "=".join(pair))]
    kept = {
        k: v for k, v in os.environ.items() if k[:4] != "GIT_" or k.startswith(REACH)
    }
    kept |= {"GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    return subprocess.run(
        ["git", *settings, *words],
        cwd=folder,
        env=kept | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        **OF_ITS_OWN,
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """The output of git; raises Trouble if it failed."""
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        why = next((line for line in lines if line.startswith("fatal:")), lines[-1])
        raise Trouble(f"git could not fetch the newer course: {why}\n{UNCHANGED}")
    return done.stdout.strip()


def fetch(root: Path, temporary: Path) -> Path | None:
    """The newest course as a zip file, from this clone's origin, or None if it is here.

    It comes through a separate repository. The learner's settings and commits do not
    affect it, and stay as they are. Raises Trouble.
    """
    cloned = (root / ".git").exists()
    if not (cloned and shutil.which("git")):
        why = "git is not installed here" if cloned else "This course is not a clone"
        raise Trouble(NO_GIT.format(why))
    if said(git(root, "ls-files", "--unmerged")):
        raise Trouble(UNDER_WAY)
    address, apart = origin(root), temporary / "apart"
    apart.mkdir()
    newest = said(git(apart, "ls-remote", "--quiet", address, "HEAD")).split("\t")[0]
    if not git(root, "merge-base", "--is-ancestor", newest, "HEAD").returncode:
        return None
    said(git(apart, "init", "--quiet", "--template="))
    said(git(apart, "fetch", "--quiet", "--depth=1", address, "HEAD"))
    said(git(apart, "archive", "--output=course.zip", "FETCH_HEAD", **NO_SETTINGS))
    return apart / "course.zip"


def origin(root: Path) -> str:
    """The address of the course for git; a fork has an `upstream`. Raises Trouble."""
    remotes = said(git(root, "remote")).split()
    if not remotes:
        raise Trouble(NO_REMOTE)
    name = next((r for r in ("upstream", "origin") if r in remotes), remotes[0])
    address = said(git(root, "remote", "get-url", name))
    return str(root / address) if (root / address).exists() else address
