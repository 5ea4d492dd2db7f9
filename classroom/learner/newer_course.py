"""Where a newer course is, and which files of it differ from those that are here."""

import os
import shutil
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from classroom.journal import CHANGE, UNCHANGED, Trouble, digest_at, git, must
from classroom.notebook.files import COURSE

LEFT_ALONE = {".git", ".venv", ".venv.lock", ".minigrad", "kept"}
LEFT_ALONE |= {"__pycache__", ".ipynb_checkpoints"}

FOLDERS = ("exercises", "notebooks", "solutions", "classroom", "chapters", "minigrad")
ROOM = 4  # times the size of the course: kept, unpacked, laid out, and git's own


@dataclass(frozen=True)
class Newer:
    """A newer course in a folder, and which files of it differ from those here.

    `gone` are those it does not have, `mine` those of both with changes that are to be
    kept; HEAD goes from `was` to `commit`. Exercises are not among them.
    """

    folder: Path
    changed: list[str]
    gone: list[str]
    mine: list[str]
    commit: str = ""
    was: str = ""


def ask_for_room(root: Path) -> None:
    """Raise Trouble if the disk has too little room for an update."""
    folders = [root / name for name in FOLDERS]
    files = [folder / name for folder in folders for name in course_files(folder)]
    needed = ROOM * sum(path.stat().st_size for path in files)
    free = shutil.disk_usage(root).free
    if free < needed:
        raise Trouble(
            f"The disk is nearly full: an update needs {needed / 1e6:.1f} MB of room "
            f"for a while, and there are {free / 1e6:.1f} MB. Make room, then update "
            f"again. {UNCHANGED}"
        )


def find_newer(source: str | None, root: Path, temporary: Path) -> Path | str | None:
    """The newer course: a folder, or a commit; None if this is it. Raises Trouble."""
    if source:
        return unpack(Path(source), root, temporary)
    cloned = (root / ".git").exists()
    if not (cloned and shutil.which("git")):
        why = (
            "git is not installed here" if cloned else "This course is no clone of git"
        )
        raise Trouble(
            f"{why}, so update needs to be told where the newer course is. Download "
            f"its zip file, then:\n    {COURSE} update PATH-OF-THE-ZIP"
        )
    return fetch(root)


def unpack(source: Path, root: Path, temporary: Path) -> Path:
    """The folder of the course in `source`, a folder or a zip file; asks if unsure."""
    if not source.exists():
        raise Trouble(f"There is no {source}. Give the zip file or folder of a course.")
    place = source
    if source.is_file():
        place = temporary / "unpacked"
        try:
            with zipfile.ZipFile(source) as archive:
                archive.extractall(place)
        except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError) as error:
            raise Trouble(f"{source} cannot be unpacked: {error}") from None
    folder = course_in(place, source)
    if folder.resolve() == root.resolve():
        raise Trouble(f"{source} is this very course.")
    there, here = version(folder), version(root)
    if here and not (there and there.timestamp() >= here.timestamp()):
        ask(
            f"The course in {source} is {told_date(there)}, yours {told_date(here)}. "
            f"Take it, though it {'is' if there else 'may be'} older?"
        )
    return folder


def course_in(place: Path, source: Path) -> Path:
    """The course that `place` is, or has as its only folder; else, ask for one."""
    inside = sorted(path for path in place.iterdir() if path.is_dir())
    found = [p for p in (place, *inside) if any(p.glob("classroom/pristine/*.ipynb"))]
    if not found:
        raise Trouble(f"{source} is not a course: it has no classroom/pristine/.")
    entries = [p for p in place.iterdir() if not p.name.startswith((".", "__"))]
    if found[0] != place and len(entries) > 1:
        ask(
            f"{source} is not a course itself; {found[0].name} in it is one, "
            f"{told_date(version(found[0]))}. Take {found[0].name}?"
        )
    return found[0]


def ask(question: str) -> None:
    """Raise Trouble if the answer is not yes, or there is nobody to answer."""
    answer = ""
    with suppress(EOFError):
        answer = input(f"{question} [y/N] ")
    if answer.strip().lower() not in ("y", "yes"):
        raise Trouble(f"\nNothing was taken. {UNCHANGED}")


def version(folder: Path, commit: str = "HEAD") -> datetime | None:
    """When the course in a folder was published: its archive says so, or else git."""
    told = folder / "classroom" / "version.txt"
    date = told.read_text(encoding="utf-8").strip() if told.is_file() else ""
    if "$" in date or commit != "HEAD":  # no archive
        date = ""
    with suppress(ValueError, OSError):
        paths = ("--", "classroom", "chapters")  # what a learner does not commit
        date = date or git(folder, "log", "-1", "--format=%cI", commit, *paths).stdout
        return datetime.fromisoformat(date.strip())
    return None


def told_date(date: datetime | None) -> str:
    """A version, as a person reads it."""
    return f"of {date:%Y-%m-%d %H:%M}" if date else "of an unknown date"


def is_exercise(name: str) -> bool:
    """Whether the file is a notebook that learners fill in."""
    return name.startswith("exercises/") and name.endswith(".ipynb")


# A newer course in a folder


def course_files(folder: Path) -> list[str]:
    """The files of a course, but for the notebooks of exercises."""
    names = []
    for place, folders, files in os.walk(folder):
        folders[:] = set(folders) - LEFT_ALONE
        paths = [Path(place, name) for name in files if name not in LEFT_ALONE]
        names += [path.relative_to(folder).as_posix() for path in paths]
    return sorted(name for name in names if not is_exercise(name))


def gone_files(root: Path, newer: Path) -> list[str]:
    """The notebooks of chapters that the newer course does not have.

    None are if it is a release: that may have other chapters than the one before.
    """
    if not (newer / "chapters").is_dir():
        return []
    folders = ("classroom/pristine", "notebooks", "solutions")
    slugs = {path.name for path in (root / folders[0]).glob("*.ipynb")}
    slugs -= {path.name for path in (newer / folders[0]).glob("*.ipynb")}
    names = [f"{folder}/{name}" for folder in folders for name in slugs]
    return [name for name in names if (root / name).exists()]


def by_copy(root: Path, newer: Path) -> Newer:
    """The newer course in a folder; a file that differs may hold a learner's change."""
    files = course_files(newer)
    changed = [n for n in files if digest_at(root / n) != digest_at(newer / n)]
    gone = gone_files(root, newer)
    mine = [n for n in changed + gone if (root / n).is_file()]
    return Newer(newer, changed, gone, mine)


# A newer course in git


def names(root: Path, *words: str, **env: str) -> list[str]:
    """The file names that a git command lists; none if it fails."""
    done = git(root, *words, "-z", **env)
    return done.stdout.split("\0")[:-1] if done.returncode == 0 else []


def fetch(root: Path) -> str | None:
    """The newest commit of the course, or None if it is here already."""
    inside = git(root, "rev-parse", "--git-path", "rebase-merge")
    must(inside)  # git may distrust a folder of somebody else's
    if (root / inside.stdout.strip()).exists():
        raise Trouble(
            "A git rebase is under way here. Finish it or `git rebase --abort`, then "
            "update again."
        )
    remotes = git(root, "remote").stdout.split()
    if not remotes:
        raise Trouble(
            "This clone does not know where the course comes from. Give update a "
            "folder or a zip file, or tell git once:\n"
            "    git remote add upstream ADDRESS"
        )
    remote = course_remote(remotes)
    done = git(root, "fetch", "--quiet", remote, "HEAD")
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        why = next((line for line in said if line.startswith("fatal:")), said[-1])
        raise Trouble(f"git could not fetch the newer course: {why}")
    newest = git(root, "rev-parse", "FETCH_HEAD").stdout.strip()
    have = git(root, "merge-base", "--is-ancestor", newest, "HEAD").returncode == 0
    return None if have and not conflicts(root) else newest


def course_remote(remotes: list[str]) -> str:
    """Which of git's remotes the course comes from; a fork has an `upstream`."""
    return next((r for r in ("upstream", "origin") if r in remotes), remotes[0])


def looked_at(root: Path) -> str:
    """What to tell if nothing is newer: where it was looked for."""
    remote = course_remote(git(root, "remote").stdout.split())
    where = git(root, "remote", "get-url", remote).stdout.strip()
    return (
        f"You have the newest course already: {remote}, {where}, has nothing newer. "
        "If that is a copy of your own, name the course itself once, with\n"
        "    git remote add upstream ADDRESS"
    )


def conflicts(root: Path, **env: str) -> list[str]:
    """The files that git could not merge, and left with its marks in them."""
    return names(root, "diff", "--name-only", "--diff-filter=U", **env)


def leave_conflict(root: Path) -> None:
    """End a merge that stopped at a conflict, with the learner's side of each file."""
    if git(root, "rev-parse", "-q", "--verify", "MERGE_HEAD").returncode == 0:
        git(root, "merge", "--abort")
    for name in conflicts(root):
        git(root, "checkout", "--theirs", "--", name)  # of a stash: the learner's
    git(root, "reset", "-q")


def by_merge(root: Path, commit: str) -> Newer:
    """The newer course as git merges it with what is committed here."""
    leave_conflict(root)
    was = git(root, "rev-parse", "HEAD").stdout.strip()
    git(root, "diff", "--shortstat", was, commit)  # a partial clone gets what it lacks
    folder = root / CHANGE / "merged"
    apart = apart_from(root, folder, was)
    listed, work_tree = ("diff", "--name-only", "--no-renames"), str(root.resolve())
    others = ("ls-files", "--others", "--exclude-per-directory=.gitignore")
    here = names(root, *listed, was, **apart | {"GIT_WORK_TREE": work_tree})
    here += names(root, *others, **apart | {"GIT_WORK_TREE": work_tree})
    merged = merge(folder, commit, apart)
    files = [n for n in names(root, *listed, was, merged) if not is_exercise(n)]
    changed = [name for name in files if (folder / name).is_file()]
    gone = [name for name in files if name not in changed]
    mine = [n for n in files if n in here and (root / n).is_file()]
    return Newer(folder, changed, gone, mine, merged, was)


def apart_from(root: Path, folder: Path, commit: str) -> dict[str, str]:
    """Lay out `commit` in a repository apart; return the variables that lead git there.

    It has the course's objects, and no settings: no filter, merge driver, hook or
    attribute of the user's has a say in it.
    """
    folder.mkdir()
    must(git(folder, "init", "--quiet", "--template="))
    inside = [git(root, "rev-parse", "--git-path", n) for n in ("objects", "shallow")]
    objects, shallow = (root / done.stdout.rstrip("\n") for done in inside)
    if shallow.is_file():
        shutil.copy(shallow, folder / ".git")
    folder, objects = folder.resolve(), objects.resolve()
    apart = {"GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(folder)}
    apart |= {"GIT_OBJECT_DIRECTORY": str(objects), "GIT_CONFIG_NOSYSTEM": "1"}
    apart |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_COUNT": "0"}
    must(git(folder, "reset", "--quiet", "--hard", commit, **apart))
    return apart


def merge(folder: Path, commit: str, apart: dict[str, str]) -> str:
    """Merge `commit` in a folder apart, with nothing but what is committed.

    Where both sides changed a line, the newer course's counts. Returns the new commit.
    """
    words = ("--no-edit", "--ff", "-X", "theirs", "--allow-unrelated-histories")
    done = git(folder, "merge", "--quiet", *words, commit, **apart)
    if done.returncode:
        for name in conflicts(folder, **apart):
            if git(folder, "checkout", commit, "--", name, **apart).returncode:
                git(folder, "rm", "-q", "-f", "--", name, **apart)  # it was removed
        if git(folder, "commit", "-q", "--no-edit", **apart).returncode:
            must(done)
    return git(folder, "rev-parse", "HEAD", **apart).stdout.strip()
