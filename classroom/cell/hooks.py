"""What happens before and after each cell of a notebook."""

from contextlib import suppress

from IPython import get_ipython

from classroom.cell import namespaces, state
from classroom.cell.odd_characters import ALL, advice, put_right
from classroom.cell.pages import install, lend, page_of


def before_cell(info) -> None:
    """Give a page the names of its file, and the course's cells those of the course."""
    source = info.raw_cell or ""
    namespaces.leave("")  # a cell that was killed has left nothing
    try:
        if page_of(source):
            lend(source, get_ipython().user_ns)
    except LookupError as error:
        print(f"Note: {error}.")
    if namespaces.is_given(source) or namespaces.is_check(source):
        state.put_back()
        namespaces.enter(source)


def after_cell(result) -> None:
    """Make a page live; take back what a check has named, and what answers changed."""
    source = result.info.raw_cell or ""
    namespaces.leave(source)
    if namespaces.is_given(source):
        state.remember()
    elif namespaces.is_check(source):
        state.put_back()
    if isinstance(error := result.error_before_exec, SyntaxError):
        said = advice(str(error)) or ALL * (put_right(source) != source)
        print(said, end="\n" * bool(said))
    with suppress(LookupError):
        if result.success and page_of(source):
            shell = get_ipython()  # which makes Python of a %magic, too
            install(shell.transform_cell(source), shell.user_ns)
    namespaces.follow()


def plain(line: str, cell: str) -> None:
    """Put the text of the cell that begins with `%%plain` right, in the notebook."""
    get_ipython().set_next_input(put_right(cell).rstrip(), replace=True)
    print("Done. Run the cell once more.")


if get_ipython():
    get_ipython().register_magic_function(plain, "cell")
    state.remember()
    get_ipython().events.register("pre_run_cell", before_cell)
    get_ipython().events.register("post_run_cell", after_cell)
