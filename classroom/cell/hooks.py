"""What happens before and after each cell of a notebook."""

from contextlib import suppress

from IPython import get_ipython

from classroom.cell import namespaces, state
from classroom.cell.odd_characters import advice
from classroom.cell.pages import install, lend, page_of


def before_cell(info) -> None:
    """Let a page see its file's names, and a cell of the course the course's."""
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
    if odd := advice(str(result.error_before_exec or "")):
        print(odd)
    with suppress(LookupError):
        if result.success and page_of(source):
            shell = get_ipython()  # which makes Python of a %magic, too
            install(shell.transform_cell(source), shell.user_ns)
    namespaces.follow()


if get_ipython():
    state.remember()
    get_ipython().events.register("pre_run_cell", before_cell)
    get_ipython().events.register("post_run_cell", after_cell)
