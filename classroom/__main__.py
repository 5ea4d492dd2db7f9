"""The commands of the course, as course.py hands them over."""

import errno
import re
import shutil
import signal
import sys
import traceback
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path

from classroom import ROOT
from classroom.all_or_nothing import (
    Trouble,
    end_unread,
    finish_first,
    open_streams,
    reason,
)

CHAPTERS = {"help": "chapters, such as 4, 7-9 or 4,6 (default: all)"}
INTERRUPTED = 130
REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC}  # by the system
REFUSED |= {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, getattr(errno, "EDQUOT", 0)}
NO_TEMPORARY = "No usable temporary directory"  # as tempfile says it, if that is full
NO_COURSE = (
    "These commands are in {} without a course around them, because the course was "
    "installed without its folder. Get the course's folder, and run `python3 course.py "
    "{}` in it, or install it from there with `pip install -e .[course]`."
)
MISSING = "{}: a part that the course needs is missing in {}, or damaged. {}."
CANNOT = (
    "{}. Fix that, or copy the course's folder to a place where you can write, and run "
    "the same command again."
)
STOPPED = "Stopped. Anything still running ends in a few seconds, and nothing is lost."


class Command(ArgumentParser):
    """A command, which tells what it takes if it is given something else."""

    def error(self, message: str) -> None:
        """Say what is wrong, what the command takes, and an example if there is one."""
        from classroom.notebook.files import COURSE

        name = self.prog.split()[-1]
        words = [a.help for a in self._actions if a.help and not a.option_strings]
        takes = " and ".join(words) or "no further words"
        wrong = "" if message.endswith("required: what") else f"{message}. "
        example = re.search(r".*\(([\d.]+)\)", takes)  # of "an exercise (4.2)"
        such = f" For example: `{COURSE} {name} {example[1]}`" if example else ""
        self.exit(2, f"{wrong}`{name}` takes {takes}.{such}\n")


def command_line() -> ArgumentParser:
    """Return the parser of the command line.

    Each command is a function NAME_command in the module that `place` names.
    """
    parser = ArgumentParser("course.py", description="Build torch.autograd by hand.")
    commands = parser.add_subparsers(
        metavar="COMMAND", required=True, parser_class=Command
    )

    def command(name: str, place: str, about: str) -> ArgumentParser:
        found = commands.add_parser(name, help=about, description=about)
        found.set_defaults(name=name, place=place, parser=found)
        return found

    command(
        "lab", "learner.lab", "open JupyterLab, at a chapter (4) or an exercise (4.2)"
    )
    each = command("check", "learner.check", "check answers, and say what is wrong")
    kinds = "chapters (4, blame, 4-6), exercises (4.2) or notebooks (default: all)"
    each.add_argument("what", nargs="*", help=kinds)
    each = command("hint", "learner.help", "show a hint of an exercise")
    bug = "an exercise (4.2) (default: the bug that `break` has made)"
    each.add_argument("what", nargs="?", help=bug)
    each.add_argument("number", nargs="?", type=int, default=1, help="default: 1")
    each = command("solution", "learner.help", "show our solution, after yours")
    each.add_argument("what", help="an exercise (4.2)")
    command("next", "learner.progress", "say which exercise is next")
    each = command("report", "learner.help", "print what a helper needs to know")
    each.add_argument("what", help="an exercise (4.2)")
    each = command("progress", "learner.progress", "show the course at a glance")
    each.add_argument("words", nargs="*", help="chapters (4) (default: all)")
    each = command("break", "learner.breaking", "find a bug in your own engine")
    kinds = "exercises (5.3) or chapters (5) (default: one that has passed)"
    each.add_argument("what", nargs="*", help=kinds)
    each.add_argument("--seed", help="words that choose the same bug for everybody")
    put_back = "put your answer back as it was"
    each.add_argument("--stop", action="store_true", dest="stop_it", help=put_back)
    command("assemble", "learner.assemble", "put your answers into the package")
    each = command("reset", "learner.restore", "get a blank back, and keep your work")
    each.add_argument("what", help="a chapter (4) or an exercise (4.2)")
    each = command("restore", "learner.restore", "list kept answers, or restore one")
    kinds = "a chapter (4) to list, or an exercise (4.2) to restore"
    each.add_argument("what", nargs="?", help=kinds)
    newest = "the copy's number in the list (default: the latest)"
    each.add_argument("number", nargs="?", type=int, help=newest)
    each = command("update", "learner.update", "get the newest course, keep your work")
    source = "the newer course's folder or zip file (default: git)"
    each.add_argument("source", nargs="?", help=source)

    each = command("release", "teacher.release", "make a copy without answers")
    each.add_argument("out", type=Path, help="a new folder")
    each.add_argument("--chapters", **CHAPTERS)
    each.add_argument("--nbgrader", action="store_true", help="an nbgrader course")
    each.add_argument("--seed", help="secret words that seed nbgrader's hidden tests")
    each = command("grade", "teacher.grade", "grade the submissions of a class")
    kinds = "a zip, or a folder with a folder or zip for each student"
    each.add_argument("path", metavar="submissions", type=Path, help=kinds)
    each.add_argument("--out", type=Path, required=True, help="the report's folder")
    each.add_argument("--chapters", **CHAPTERS)
    each.add_argument("--roster", type=Path, help="the class, as a CSV file")
    each.add_argument("--rules", type=Path, help="deadlines and what counts (TOML)")
    only = "grade only this student (ada) or exercise (4.2) again"
    each.add_argument("--again", metavar="WHAT", help=only)
    each.add_argument("--seed", help="secret words that seed the hidden inputs")
    each.add_argument("--timeout", type=float, default=20, help="seconds for a cell")
    each.add_argument("--unsafe", action="store_true", help="run without a sandbox")
    cluster = "a dask scheduler whose workers grade, such as tls://host:8786"
    each.add_argument("--scheduler", metavar="ADDRESS", help=cluster)
    each = command("samples", "teacher.samples", "print graded samples as Markdown")
    each.add_argument("chapters_asked", nargs="?", metavar="chapters", **CHAPTERS)

    each = command("engine", "learner.engine", "write the package as of a chapter")
    each.add_argument("number", type=int, help="a chapter, from 3 to 16")
    each.add_argument("--out", type=Path, help="a new folder (default: in .minigrad/)")
    each = command("build", "author.build", "make the notebooks from chapters/")
    each.add_argument("words", nargs="*", help="chapters (4 or 7-9) (default: all)")
    each.add_argument("--check", action="store_true", help="only say what would change")
    anew = "also build what is up to date"
    each.add_argument("--all", action="store_true", dest="anew", help=anew)
    command("site", "author.site", "build the course's website in site/")
    command("test", "author.testing", "run every test; further words go to pytest")
    return parser


def run(words: list[str]) -> int:
    """Run one command, and return its exit code.

    Its module is imported only now, so that all commands start at once.
    """
    asked, others = command_line().parse_known_args(words)
    options = vars(asked)
    name, place, parser = map(options.pop, ("name", "place", "parser"))
    if name in ("lab", "test"):
        options["words"] = others
    elif others:
        parser.error(f"`{name}` does not take {' '.join(others)}")
    module = import_module(f"classroom.{place}")
    return getattr(module, f"{name}_command")(**options)


def main() -> None:
    """Run one command; a learner never sees a traceback."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="replace")  # a console may lack a path's letters
    open_streams()
    try:
        if not (ROOT / "classroom" / "pristine").is_dir():
            raise Trouble(NO_COURSE.format(ROOT, " ".join(sys.argv[1:])))
        finish_first(ROOT)  # before anything else of the course is imported
        import classroom.notebook.fast_validation  # noqa: F401 - before nbformat

        code = run(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it would break off what ends now
        print(f"\n{STOPPED}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        end_unread(error)
        if sys.flags.dev_mode:
            raise
        sys.exit(told(error))


def told(error: Exception) -> str:
    """Return the message shown instead of a traceback, which says what to do."""
    if isinstance(error, ImportError):
        cure = "Install it there again: `pip install -e .[course]` in its folder"
        if Path(sys.prefix) == ROOT / ".venv":
            (ROOT / ".venv" / "course.json").unlink(missing_ok=True)
            cure = "Run the same command again, which installs it again"
        return MISSING.format(error, sys.prefix, cure)
    if isinstance(error, shutil.Error):
        return CANNOT.format(reason(error))
    if isinstance(error, OSError) and NO_TEMPORARY in str(error):
        return CANNOT.format(error.strerror)
    if isinstance(error, OSError) and error.errno in REFUSED:
        return CANNOT.format(f"{error.filename or 'A file'}: {error.strerror}")
    place = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(sys.argv[1:])
    return (
        f"course.py stopped at an unexpected error: {type(error).__name__}: {error} "
        f"({Path(place.filename).name}, line {place.lineno}). Please report it with "
        f'what this prints: "{sys.executable}" -X dev -m classroom {words}'
    )


if __name__ == "__main__":
    main()
