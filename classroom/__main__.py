"""The commands of the course, as course.py hands them over."""

import errno
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from classroom import ROOT
from classroom.journal import Trouble, finish_first

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Build torch.autograd with your own hands, one notebook at a time.",
)
# For commands that pass their words on: options that typer does not know are words.
PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
Words = Annotated[list[str] | None, typer.Argument(metavar="[WORDS]...")]

Seconds = Annotated[float, typer.Option(min=1, help="Seconds that a cell may take.")]
Some = Annotated[
    str | None, typer.Option(help="Chapters, as 4 or 7-9 or 4,6; without it, all.")
]

INTERRUPTED = 130
NOT_YOURS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC}
IN_THE_WAY = {
    errno.EISDIR: "a folder where a file",
    errno.EEXIST: "a file where a folder",
    errno.ENOTDIR: "not in a folder: a file is where one",
}

# Each command imports what it needs only when it runs, so that all start at once.


@app.command(context_settings=PASS_ON)
def lab(words: Words = None) -> None:
    """Open JupyterLab at the first lesson; further words go on to JupyterLab."""
    from classroom.learner import lab

    raise typer.Exit(lab.lab(words or []))


@app.command()
def check(
    what: Annotated[
        str | None,
        typer.Argument(help="A chapter (4), an exercise (4.2) or a notebook; or all."),
    ] = None,
) -> None:
    """Check your answers, and say what is wrong with each that is."""
    from classroom.learner.check import check_command

    raise typer.Exit(check_command(what))


@app.command()
def report(
    what: Annotated[str, typer.Argument(help="An exercise (4.2).")],
) -> None:
    """Print what somebody who helps you with an exercise needs to know."""
    from classroom.learner.report import report_command

    raise typer.Exit(report_command(what))


@app.command()
def progress() -> None:
    """See the whole course at a glance."""
    from classroom.learner.progress import progress_command

    raise typer.Exit(progress_command())


@app.command()
def assemble() -> None:
    """Put your answers into a copy of the package, and test it."""
    from classroom.learner.assemble import assemble_command

    raise typer.Exit(assemble_command())


@app.command()
def reset(
    what: Annotated[str, typer.Argument(help="A chapter (4) or an exercise (4.2).")],
) -> None:
    """Get a blank back, keeping a copy of your work."""
    from classroom.learner.reset import reset_command

    raise typer.Exit(reset_command(what))


@app.command()
def restore(
    what: Annotated[
        str | None,
        typer.Argument(help="An exercise (4.2); a chapter (4) or nothing to list."),
    ] = None,
    number: Annotated[
        int | None, typer.Argument(min=1, help="Which of the list; else the latest.")
    ] = None,
) -> None:
    """List what reset and update kept of your work, and bring an answer back."""
    from classroom.learner.restore import restore_command

    raise typer.Exit(restore_command(what, number))


@app.command()
def update(
    source: Annotated[
        str | None,
        typer.Argument(help="A folder or zip file of the newer course; else, git."),
    ] = None,
) -> None:
    """Take the newer course, keeping your answers."""
    from classroom.learner.update import update_command

    raise typer.Exit(update_command(source))


@app.command()
def release(
    out: Annotated[Path, typer.Argument(help="A new folder to write into.")],
    chapters: Some = None,
    nbgrader: Annotated[
        bool, typer.Option("--nbgrader", help="Lay out an nbgrader course instead.")
    ] = False,
    seed: Annotated[
        str | None, typer.Option(help="Draws nbgrader's hidden tests; keep it secret.")
    ] = None,
) -> None:
    """Make what students get: no solution, answer or hidden check is in it."""
    from classroom.teacher.release import release_command

    raise typer.Exit(release_command(out, chapters, nbgrader, seed))


@app.command()
def grade(
    submissions: Annotated[
        Path,
        typer.Argument(help="A folder with a folder or zip per student, or a zip."),
    ],
    out: Annotated[
        Path, typer.Option(help="The folder that the report is written to.")
    ],
    chapters: Some = None,
    deadline: Annotated[
        str | None,
        typer.Option(help="A day (its end) or 2027-03-01T18:00; later is marked late."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Draws the hidden inputs; keep it to yourself.")
    ] = None,
    timeout: Seconds = 20,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Run submissions without a sandbox.")
    ] = False,
) -> None:
    """Grade what a class has handed in, in sandboxes, and write a report."""
    from classroom.teacher.grade import Order, grade_command

    order = Order(submissions, out, chapters, deadline, seed, timeout, unsafe)
    raise typer.Exit(grade_command(order))


@app.command()
def engine(
    number: Annotated[int, typer.Argument(help="A chapter, from 3 to 13.")],
    out: Annotated[
        Path | None, typer.Option(help="A new folder; else one in .minigrad/.")
    ] = None,
) -> None:
    """Write the package as it stands after a chapter, with your answers in it."""
    from classroom.learner.engine import engine_command

    raise typer.Exit(engine_command(number, out))


@app.command()
def build(
    chapters: Annotated[
        list[str] | None, typer.Argument(help="Chapters (4); without any, all.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail if anything would.")
    ] = False,
) -> None:
    """Make the notebooks from chapters/."""
    from classroom.author.build import build_command

    raise typer.Exit(build_command(chapters or [], check))


@app.command()
def site() -> None:
    """Make site/, where the course is read, of what is built."""
    from classroom.author.site import site_command

    raise typer.Exit(site_command())


@app.command(context_settings=PASS_ON)
def test(words: Words = None) -> None:
    """Run every test; further words go on to pytest, over tests/ only."""
    from classroom.author import testing

    raise typer.Exit(testing.test(words or []))


def main() -> None:
    """Run one command; whatever happens, a learner sees no traceback."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="replace")  # a console may lack a path's letters
    try:
        finish_first(ROOT)  # before anything else of the course is imported
        import classroom.notebook.fast_validation  # noqa: F401 - before nbformat
        from classroom.surroundings import open_streams

        open_streams()

        newest_first(ROOT)
        app(prog_name="course.py")
    except SystemExit as end:
        if end.code == INTERRUPTED:  # a second Ctrl-C would break off what ends now
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise
    except Trouble as trouble:
        sys.exit(str(trouble))
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        sys.exit(refused(error) or unexpected(error))


def refused(error: Exception) -> str:
    """Return what to tell of a file that the system keeps from us; "" of others."""
    from classroom.surroundings import not_here

    if not isinstance(error, OSError):
        return ""
    path, why = str(error.filename or ""), error.strerror or ""
    if why.startswith("No usable temporary directory"):
        return f"{why}. Let the variable TMPDIR lead to a folder that is yours."
    there_already = error.errno == errno.EEXIST and os.path.isdir(path)
    if error.errno not in NOT_YOURS | set(IN_THE_WAY) or there_already:
        return ""
    closed = error.errno in (errno.EACCES, errno.EPERM) and os.path.exists(path)
    if closed and not os.access(path, os.R_OK):
        return f"{path} cannot be read: {why}. Let yourself read it, and try again."
    if error.errno == errno.ENOSPC:
        return f"{path or 'A file'} cannot be written: {why}. Make room, and try again."
    elsewhere = not_here(path, why, ROOT)
    if elsewhere and error.errno not in (errno.EISDIR, errno.EEXIST):
        return elsewhere
    if error.errno in IN_THE_WAY:
        kind = IN_THE_WAY[error.errno]
        return f"{path} is {kind} belongs: give it another name, and try again."
    return (
        f"{path or 'A file'} cannot be written: {why}. "
        "Copy the course's folder to a place that is yours."
    )


def newest_first(root: Path) -> None:
    """Look for notebooks that have another name now; most often there is none."""
    known = {path.name for path in root.glob("classroom/pristine/*.ipynb")}
    if {path.name for path in root.glob("exercises/*.ipynb")} - known:
        from classroom.learner.restore import take_newest

        take_newest(root)


def unexpected(error: Exception) -> str:
    """Return the line that stands for a traceback, with how to get the whole of it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(sys.argv[1:])
    return (
        f"course.py stopped at something unforeseen: {type(error).__name__}: {error} "
        f"({Path(place.filename).name}, line {place.lineno}). Please report it with "
        f'what this prints: "{sys.executable}" -X dev -m classroom {words}'
    )


if __name__ == "__main__":
    main()
