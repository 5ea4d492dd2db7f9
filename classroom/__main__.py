"""The commands of the course, as course.py hands them over."""

import errno
import signal
import sys
import traceback
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path

from classroom import ROOT
from classroom.all_or_nothing import Trouble, finish_first, open_streams

CHAPTERS = {"help": "chapters, as 4 or 7-9 or 4,6; without it, all"}
INTERRUPTED = 130
REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC}  # by the system
REFUSED |= {errno.EISDIR, errno.ENOTDIR, errno.EEXIST}
STOPPED = "Stopped. What still runs ends in a few seconds, and nothing is lost."


def command_line() -> ArgumentParser:
    """Return the parser of the command line.

    Each command is a function NAME_command in the module that `place` names.
    """
    parser = ArgumentParser("course.py", description="Build torch.autograd by hand.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, place: str, about: str) -> ArgumentParser:
        found = commands.add_parser(name, help=about, description=about)
        found.set_defaults(name=name, place=place)
        return found

    command("lab", "learner.lab", "open JupyterLab; further words go on to it")
    each = command("check", "learner.check", "check your answers: what is wrong, where")
    kinds = "a chapter (4), an exercise (4.2) or a notebook; without it, all"
    each.add_argument("what", nargs="?", help=kinds)
    each = command("report", "learner.report", "print what a helper needs to know")
    each.add_argument("what", help="an exercise (4.2)")
    command("progress", "learner.progress", "see the whole course at a glance")
    command("assemble", "learner.assemble", "put your answers into the package")
    each = command("reset", "learner.restore", "get a blank back; your work is kept")
    each.add_argument("what", help="a chapter (4) or an exercise (4.2)")
    each = command("restore", "learner.restore", "list what is kept, or bring it back")
    each.add_argument("what", nargs="?", help="an exercise (4.2); else, what to list")
    each.add_argument("number", nargs="?", type=int, help="in the list; else the last")
    each = command("update", "learner.update", "take the newer course, keep your work")
    each.add_argument("source", nargs="?", help="its folder or zip file; else, git's")

    each = command("release", "teacher.release", "make what students get, no answers")
    each.add_argument("out", type=Path, help="a new folder")
    each.add_argument("--chapters", **CHAPTERS)
    each.add_argument("--nbgrader", action="store_true", help="an nbgrader course")
    each.add_argument("--seed", help="draws nbgrader's hidden tests; a secret")
    each = command("grade", "teacher.grade", "grade what a class has handed in")
    kinds = "a folder with a folder or zip per student, or a zip"
    each.add_argument("path", metavar="submissions", type=Path, help=kinds)
    each.add_argument("--out", type=Path, required=True, help="the report's folder")
    each.add_argument("--chapters", **CHAPTERS)
    each.add_argument("--seed", help="draws the hidden inputs; keep it to yourself")
    each.add_argument("--timeout", type=float, default=20, help="seconds for a cell")
    each.add_argument("--unsafe", action="store_true", help="run without a sandbox")

    each = command("engine", "learner.engine", "write the package as of a chapter")
    each.add_argument("number", type=int, help="a chapter, from 3 to 13")
    each.add_argument("--out", type=Path, help="a new folder; else one in .minigrad/")
    each = command("build", "author.build", "make the notebooks from chapters/")
    each.add_argument("words", nargs="*", help="chapters (4 or 7-9); else, all")
    each.add_argument("--check", action="store_true", help="only say what would change")
    command("site", "author.site", "make site/, where the course is read")
    command("test", "author.testing", "run every test; further words go on to pytest")
    return parser


def run(words: list[str]) -> int:
    """Run one command, and return its exit code.

    Its module is imported only now, so that all commands start at once.
    """
    parser = command_line()
    asked, others = parser.parse_known_args(words)
    options = vars(asked)
    name, place = options.pop("name"), options.pop("place")
    if name in ("lab", "test"):
        options["words"] = others
    elif others:
        parser.error(f"{name} does not take {' '.join(others)}")
    module = import_module(f"classroom.{place}")
    return getattr(module, f"{name}_command")(**options)


def main() -> None:
    """Run one command; whatever happens, a learner sees no traceback."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="replace")  # a console may lack a path's letters
    open_streams()
    try:
        finish_first(ROOT)  # before anything else of the course is imported
        import classroom.notebook.fast_validation  # noqa: F401 - before nbformat

        sys.exit(run(sys.argv[1:]))
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it would break off what ends now
        print(f"\n{STOPPED}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        sys.exit(told(error))


def told(error: Exception) -> str:
    """Return the message that is shown in place of a traceback: what to do."""
    if isinstance(error, OSError) and error.errno in REFUSED:
        return (
            f"{error.filename or 'A file'}: {error.strerror}. Mend that, or copy the "
            "course's folder to a place that is yours, and run the same command again."
        )
    place = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(sys.argv[1:])
    return (
        f"course.py stopped at something unforeseen: {type(error).__name__}: {error} "
        f"({Path(place.filename).name}, line {place.lineno}). Please report it with "
        f'what this prints: "{sys.executable}" -X dev -m classroom {words}'
    )


if __name__ == "__main__":
    main()
