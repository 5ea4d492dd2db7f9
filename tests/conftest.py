"""Shared by all tests: which tests may be skipped, and plots without a screen."""

import os
import signal
import sys

import pytest

IN_CI = os.environ.get("CI") == "true"


def pytest_configure(config):
    config.addinivalue_line("markers", "posix: needs what Windows does not have")
    config.addinivalue_line("markers", "linux: needs what only Linux has")
    config.addinivalue_line("markers", "long: begins first, so that none waits for it")
    config.addinivalue_line("markers", "alone: runs if its own file is asked for")


def pytest_collection_modifyitems(config, items):
    """Put slow tests first; leave out, rather than skip, tests without meaning here."""
    unmet = {"posix"} if os.name == "nt" else set()
    unmet |= set() if sys.platform == "linux" else {"linux"}
    if not any(".py" in word for word in config.args):
        unmet.add("alone")
    left_out = [i for i in items if unmet & {mark.name for mark in i.iter_markers()}]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)
    items[:] = dealt(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def dealt(items, workers):
    """Return the tests in as many parts as there are workers, slow ones first in each.

    xdist gives each worker one part. A file in machines/ stays in one, because its
    tests share what is slow to make.
    """
    long, files, quick = [], {}, []
    for item in items:
        if item.get_closest_marker("long"):
            long.append([item])
        elif item.path.parent.name == "machines":
            files.setdefault(item.path, []).append(item)
        else:
            quick.append(item)
    parts, slow = [[] for _ in range(workers)], [*long, *files.values()]
    for n, each in enumerate(slow):
        parts[n % workers] += each
    found = []
    for n, part in enumerate(parts):
        size = (len(items) - len(found)) // (workers - n)
        part += [quick.pop(0) for _ in range(min(len(quick), size - len(part)))]
        found += part
    return found + quick


def pytest_runtest_setup():
    """Let Ctrl-C interrupt, whatever a shell or an earlier test made of it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def fail_if_skipped(report):
    """A learner's machine may lack a browser or PyTorch; CI may lack nothing."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"With CI=true nothing is skipped: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return fail_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return fail_if_skipped((yield))


@pytest.fixture
def no_window():
    """Let figures be drawn without a screen, and close them after each test."""
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    matplotlib.use("agg")
    with matplotlib.rc_context():
        yield
    pyplot.close("all")
