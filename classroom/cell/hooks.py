"""What happens before and after each cell of a notebook."""

from contextlib import suppress
from types import SimpleNamespace

from IPython import get_ipython
from IPython.utils.capture import capture_output

from classroom.cell import namespaces, parts, runs, state
from classroom.cell.asked import STILL_BLANK, assigned, exercise_of, without_blanks
from classroom.cell.exam import own_engine
from classroom.cell.expect import not_run, unfilled
from classroom.cell.odd_characters import ALL, advice, put_right
from classroom.cell.pages import bring_back, install, lend, page_of, set_aside

EXPLAINED = NameError, NotImplementedError, KeyboardInterrupt
INTERRUPTED = "{}: The check was interrupted{}, so your answer was not judged."
ENDLESS = " Does a loop never end, or is the same work done again and again?"


def before_cell(info) -> None:
    """Give an excerpt its file's names, and course cells the names of the course."""
    source = info.raw_cell or ""
    namespaces.leave("")  # a cell that was killed has left nothing
    own_engine.show()
    cell = getattr(info, "cell_id", None)
    if cell:  # so a person runs it, and may have gone straight to it
        run_what_is_given(exercise_of(cell, source), namespaces.is_check(source))
    runs.begin(cell, source)
    try:
        if page_of(source) and not own_engine.begun:
            lend(source, get_ipython().user_ns)
    except LookupError as error:
        print(f"Note: {error}.")
    if namespaces.is_given(source) or namespaces.is_check(source):
        state.put_back()
        if namespaces.is_hidden(source):
            set_aside()
        namespaces.enter(source)
    else:
        own_engine.hide()


def after_cell(result) -> None:
    """Make an excerpt live; undo what a check has named, and what answers changed."""
    source = result.info.raw_cell or ""
    own_engine.show()
    namespaces.leave(source)
    bring_back()
    if namespaces.is_given(source):
        if result.success:
            runs.given.update({source, runs.now.cell or source})
        state.remember()
        if "examine" in assigned(source):
            own_engine.begin()
    elif namespaces.is_check(source):
        state.put_back()
    else:
        error = result.error_before_exec or result.error_in_exec
        blank = parts.blank_in(error) if parts.is_blank(error) else ""
        left = parts.is_blank(error) and not blank and not runs.is_untouched()
        runs.end(None if left and run_without_blanks(source) else error, blank)
    if isinstance(error := result.error_before_exec, SyntaxError):
        said = advice(str(error)) or ALL * (put_right(source) != source)
        print(said, end="\n" * bool(said))
    with suppress(LookupError):
        if result.success and page_of(source) and not own_engine.begun:
            shell = get_ipython()  # which makes Python of a %magic, too
            install(shell.transform_cell(source), shell.user_ns)
    namespaces.follow()


def run_without_blanks(source: str) -> bool:
    """Run a cell without its lines of the blank; return whether it came to its end."""
    names = get_ipython().user_ns
    with suppress(LookupError, SyntaxError):
        left = without_blanks(source)
        if page_of(left):
            lend(left, names)
        done = _run_given(left) is None
        if done and page_of(left):
            install(left, names)
        return done
    return False


def explain(shell, kind, error, trace, tb_offset=None) -> None:
    """Show a NameError, a blank or a stop. Where words do, show no traceback."""
    name = exercise_of(runs.now.cell, runs.now.source)
    if parts.is_blank(error):
        blank = parts.blank_in(error)
        said = unfilled(blank) if blank else STILL_BLANK
        error._render_traceback_ = lambda: [said]
    elif isinstance(error, KeyboardInterrupt):
        if namespaces.is_check(runs.now.source):
            where = within(error)
            said = INTERRUPTED.format(name, where) + ENDLESS * bool(where)
            error._render_traceback_ = lambda: [said]
    elif runs.seen() and namespaces.is_check(runs.now.source):
        about = runs.what_is_asked(name)
        missing = f"there is no `{error.name}` yet. Run the cell with your answer."
        told = (
            missing if not about or runs.defined(about.names) else not_run(about, name)
        )
        error._render_traceback_ = lambda: [f"{name}: {told}"]
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    if said := runs.not_run_yet(getattr(error, "name", None)):
        print(said)


def within(error: BaseException) -> str:
    """Return which function of the learner's an error came through last, if any."""
    frames, names = parts.frames_of(error), namespaces.learners()
    own = [f for f in frames if f.f_globals is names]
    return f" while `{parts.name_of(own[-1].f_code)}` ran" if own else ""


def run_what_is_given(exercise: str, answered: bool) -> None:
    """Run the given cells above an answer or its check that have not run yet.

    A cell between the two needs the answer, so it runs only if that is `answered`.
    """
    about = runs.what_is_asked(exercise)
    given = [each for each in about.given if answered or not each[2]] if about else ()
    left = [(c, text) for c, text, _ in given if not runs.given & {c, text}]
    for cell, source in left:
        info = SimpleNamespace(raw_cell=source, cell_id=None)
        before_cell(info)
        error = _run_given(source)
        errors = {"error_before_exec": None, "error_in_exec": error}
        after_cell(SimpleNamespace(info=info, success=not error, **errors))
        if error:
            print(f"The given cells stopped with {type(error).__name__}: {error}")
            return
        runs.given.add(cell)
    if left:
        print("The given cells were run first.")


def _run_given(source: str) -> Exception | None:
    """Run a cell without showing anything; return the error that stopped it."""
    shell = get_ipython()
    try:
        with capture_output():
            code = shell.transform_cell(source)
            place = shell.compile.cache(code, 0, source)
            exec(compile(code, place, "exec"), shell.user_ns)
    except Exception as error:
        return error
    return None


def catch_up() -> None:
    """If the first cell that runs is a check, first run what it needs."""
    request = getattr(get_ipython(), "get_parent", dict)()
    source = request.get("content", {}).get("code", "")
    cell = request.get("metadata", {}).get("cellId")
    if cell and namespaces.is_check(source):
        run_what_is_given(exercise_of(cell, source), answered=True)
        runs.begin(cell, source)


def plain(line: str, cell: str) -> None:
    """Replace odd characters in the cell that begins with `%%plain`."""
    get_ipython().set_next_input(put_right(cell).rstrip(), replace=True)
    print("Done. Run the cell once more.")


if get_ipython():
    get_ipython().register_magic_function(plain, "cell")
    get_ipython().set_custom_exc(EXPLAINED, explain)
    state.remember()
    get_ipython().events.register("pre_run_cell", before_cell)
    get_ipython().events.register("post_run_cell", after_cell)
    catch_up()
