"""Change many files of the course at once: all of them, or none.

What is to be written is laid out in a folder of its own, then a journal is, and only
then does each file move to its place. Without a journal nothing has changed yet; with
one, whoever comes next finishes the change. While that is under way half of classroom/
may be old and half new, so this file needs Python alone, and each version of it has to
understand the journals of the others. That is why Trouble and open_streams, which all
commands need, stand here and not in a file of their own.
"""

import errno
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

CHANGE = Path(".minigrad", "change")  # what is laid out lies in its folder "files"
JOURNAL = CHANGE / "journal.json"
LOCK = Path(".minigrad", "lock")
PATIENCE = 5  # seconds: git may outlive, by moments, the command that started it
BUSY = (
    "Another update, reset or restore is at work in this course at this moment. Wait "
    "until it is done, and run the same command again."
)
NOT_ENDED = (
    "An update cannot be ended: {why}. Mend that, and run the same command again: it "
    "goes on where it stopped. All that you wrote is safe, in your notebooks or in "
    "exercises/kept/."
)
UNCHANGED = "Your notebooks, and what you had changed, are as they were."
SAVED_SINCE = "{}: you saved it while the update was under way. It stays as it is."


def open_streams() -> None:
    """Open standard streams that are closed on os.devnull, so that print() works.

    In the order of their numbers, so that each gets its own.
    """
    for name, mode in ("stdin", "r"), ("stdout", "w"), ("stderr", "w"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


class Trouble(Exception):
    """An error that the user can mend; the text says what and how."""


# One at a time


@contextmanager
def only_one(path: Path, busy: str, patience: float = 0) -> Iterator[None]:
    """Hold a lock; the system frees it even if we are killed. Raises Trouble."""
    path.parent.mkdir(exist_ok=True)
    with open(path, "w") as file:
        end = time.monotonic() + patience
        while not _lock(file):
            if time.monotonic() > end:
                raise Trouble(busy)
            time.sleep(0.1)
        yield


def _lock(file: IO) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.set_inheritable(file.fileno(), True)
    except (BlockingIOError, PermissionError):
        return False
    return True


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold the lock of the course; first finish a change that was cut off."""
    with only_one(root / LOCK, BUSY, PATIENCE):
        if (root / JOURNAL).exists():
            tell_finished(root)
        yield


def finish_first(root: Path) -> None:
    """End a change that was cut off; every command begins with this.

    Raises Trouble if that cannot be done.
    """
    if (root / JOURNAL).exists():
        with alone(root):
            pass


def tell_finished(root: Path) -> None:
    """Finish a change that was cut off, and say so."""
    try:
        told = finish(root)
    except (OSError, ValueError) as error:
        raise Trouble(NOT_ENDED.format(why=error)) from None
    print("An update was cut off before its end. It is finished now:")
    print("\n".join(told), flush=True)


# A change


def clear(root: Path) -> None:
    """Delete what was laid out, and before it the journal."""
    (root / JOURNAL).unlink(missing_ok=True)
    shutil.rmtree(root / CHANGE, ignore_errors=True)


def write_journal(root: Path, journal: dict) -> None:
    """Write the journal: from here on the change will be finished.

    `journal` holds `gone` (files to remove), `before` (a digest of each notebook of a
    learner's as it was read) and `told` (what to tell).
    """
    for path in (root / CHANGE / "files").rglob("*"):
        if path.is_file():
            to_disk(path)
    unfinished = root / CHANGE / "unfinished"
    unfinished.write_text(json.dumps(journal), encoding="utf-8")
    put_in_place(unfinished, root / JOURNAL)


def finish(root: Path) -> list[str]:
    """Do what the journal says, and return what to tell; raises OSError.

    It may be done again from any point. A notebook that the learner has saved since
    is left alone.
    """
    files = root / CHANGE / "files"
    journal = json.loads((root / JOURNAL).read_text(encoding="utf-8"))
    told, before = journal["told"], journal["before"]
    laid_out = [path for path in sorted(files.rglob("*")) if path.is_file()]
    names = [path.relative_to(files).as_posix() for path in laid_out]
    for name in (*names, *journal["gone"]):
        new, place = files / name, root / name
        here = digest_at(place)
        if here not in (None, before.get(name, here), digest_at(new)):
            told.append(SAVED_SINCE.format(name))
        elif name in names:
            put_in_place(new, place)
        else:
            place.unlink(missing_ok=True)
    clear(root)
    return told


def digest(content: bytes) -> str:
    """The hash of the contents of a file."""
    return hashlib.sha256(content).hexdigest()


def digest_at(path: Path) -> str | None:
    """The hash of a file; None if there is no such file."""
    return digest(path.read_bytes()) if path.is_file() else None


def put_in_place(new: Path, path: Path) -> None:
    """Move the file `new` to `path`; wait while a program on Windows has that open."""
    to_disk(new)
    path.parent.mkdir(parents=True, exist_ok=True)
    for seconds in (0.1, 0.4, 1.5, None):
        try:
            return os.replace(new, path)
        except PermissionError:
            if seconds is None:
                raise
            time.sleep(seconds)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            beside = path.with_name(path.name + ".unfinished")
            shutil.copy2(new, beside)  # a folder of the course is on another disk
            put_in_place(beside, path)
            return new.unlink()


def to_disk(path: Path) -> None:
    """Flush a file to disk: a rename may get there before its contents."""
    with suppress(PermissionError), open(path, "rb+") as file:
        os.fsync(file.fileno())
