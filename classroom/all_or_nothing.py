"""Change many files of the course at once: all of them, or none.

The new files are written into a folder of their own. Then a journal is written, and
only then does each file move to its place. Without a journal, nothing has changed yet.
With a journal, the next command finishes the change. Until then, half of classroom/ may
be old and half new. So this file needs only Python, and each version of it has to
understand the journals of the other versions. That is why Trouble and open_streams,
which all commands need, are here and not in a file of their own.
"""

import errno
import hashlib
import json
import os
import select
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

UNREAD = 141  # the code that a shell gives to what ends so
CHANGE = Path(".minigrad", "change")  # its folder "files" has the new files
JOURNAL = CHANGE / "journal.json"
LOCK = Path(".minigrad", "lock")
NOT_KNOWN = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
PATIENCE = 5  # seconds: git may outlive, by moments, the command that started it
BUSY = (
    "Another update, reset or restore is running in this course. Wait until it is "
    "done, and run the same command again."
)
NOT_ENDED = (
    "An update could not be finished: {why}. Fix that, and run the same command again. "
    "It continues where it stopped. Everything you wrote is safe, in your notebooks or "
    "in exercises/kept/."
)
NOT_READ = (
    "An update was interrupted, and {}, which lists what is left to do, cannot be "
    "read. Delete that file, and run `update` again. Everything you wrote is safe, "
    "in your notebooks or in exercises/kept/."
)
UNCHANGED = "Your notebooks and your other changes are as they were."
HELD = "; if a program has it open, close it there"  # needed only on Windows
SAVED_SINCE = "{}: you saved this while the update was running. It stays as it is."


def open_streams() -> None:
    """Open standard streams that are closed on os.devnull, so that print() works.

    They are opened in the order of their numbers, so that each gets its own.
    """
    for name, mode in ("stdin", "r"), ("stdout", "w"), ("stderr", "w"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def end_unread(error: Exception) -> None:
    """End, without a word, if what we print goes to a program that has ended.

    So does `head`, which reads no more than it needs.
    """
    if isinstance(error, BrokenPipeError) and hasattr(select, "poll"):
        output = select.poll()
        output.register(sys.stdout, 0)
        if any(event & select.POLLERR for _, event in output.poll(0)):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(UNREAD)


def reason(error: OSError) -> str:
    """Return why something failed; for many files at once, why the first one failed."""
    return str(error.args[0][0][-1] if isinstance(error, shutil.Error) else error)


class Trouble(Exception):
    """An error that the user can fix; the text says what is wrong and how to fix it."""


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
    except OSError as error:  # a network disk may have no locks: continue without
        return error.errno in NOT_KNOWN
    return True


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold the lock of the course; first finish a change that was interrupted."""
    with only_one(root / LOCK, BUSY, PATIENCE):
        if (root / JOURNAL).exists():
            tell_finished(root)
        yield


def finish_first(root: Path) -> None:
    """Finish a change that was interrupted; every command begins with this.

    Raises Trouble if that cannot be done.
    """
    if (root / JOURNAL).exists():
        with alone(root):
            pass


def tell_finished(root: Path) -> None:
    """Finish a change that was interrupted, and say so."""
    try:
        told = finish(root)
    except OSError as error:
        raise Trouble(NOT_ENDED.format(why=error)) from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise Trouble(NOT_READ.format(JOURNAL.as_posix())) from None
    print("An earlier update was interrupted. It is finished now:")
    print("\n".join(told), flush=True)


# A change


def clear(root: Path) -> None:
    """Delete the journal, and then the new files that were laid out."""
    (root / JOURNAL).unlink(missing_ok=True)
    shutil.rmtree(root / CHANGE, ignore_errors=True)


def write_journal(root: Path, journal: dict) -> None:
    """Write the journal; from now on the change will be finished.

    `journal` holds `gone` (files to remove), `before` (a digest of each of a learner's
    notebooks as it was read) and `told` (the lines to print).
    """
    for path in (root / CHANGE / "files").rglob("*"):
        if path.is_file():
            to_disk(path)
    unfinished = root / CHANGE / "unfinished"
    unfinished.write_text(json.dumps(journal), encoding="utf-8")
    put_in_place(unfinished, root / JOURNAL)


def finish(root: Path) -> list[str]:
    """Do what the journal says, and return what to print; raises OSError.

    It may be repeated from any point. It leaves alone a notebook that the learner has
    saved since.
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
    """Move the file `new` to `path`; on Windows, wait while a program has `path` open.

    Raises OSError, which names `path`.
    """
    to_disk(new)
    path.parent.mkdir(parents=True, exist_ok=True)
    for seconds in (0.1, 0.4, 1.5, None):
        try:
            return os.replace(new, path)
        except PermissionError as error:
            if seconds is None:
                why = f"{error.strerror}{HELD * hasattr(error, 'winerror')}"
                raise PermissionError(error.errno, why, str(path)) from None
            time.sleep(seconds)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            beside = path.with_name(path.name + ".unfinished")
            shutil.copy2(new, beside)  # a folder of the course is on another disk
            put_in_place(beside, path)
            return new.unlink()


def to_disk(path: Path) -> None:
    """Flush a file to disk, because a rename may get there before its contents."""
    try:
        with suppress(PermissionError), open(path, "rb+") as file:
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in NOT_KNOWN:
            raise
