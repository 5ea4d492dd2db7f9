"""What all tests share: what may be skipped where, and a browser."""

import contextlib
import functools
import os
import shutil
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

IN_CI = os.environ.get("CI") == "true"


def pytest_configure(config):
    config.addinivalue_line("markers", "posix: needs what Windows does not have")
    config.addinivalue_line("markers", "linux: needs what only Linux has")
    config.addinivalue_line("markers", "long: begins first, so that none waits for it")


def pytest_collection_modifyitems(config, items):
    """Long ones first; leave out, rather than skip, what has no meaning here."""
    items.sort(key=lambda item: not item.get_closest_marker("long"))
    unmet = {"posix"} if os.name == "nt" else set()
    unmet |= set() if sys.platform == "linux" else {"linux"}
    left_out = [i for i in items if unmet & {mark.name for mark in i.iter_markers()}]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


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


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium: the system's, Playwright's own, or Chrome; or a skip."""
    api = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    with api.sync_playwright() as playwright:
        browser = launch(playwright.chromium, api.Error, path)
        yield browser
        browser.close()


# As root Chromium needs the first; the others keep it from calling home.
QUIET = ["--no-sandbox", "--disable-background-networking", "--no-first-run"]
QUIET += ["--disable-component-update", "--disable-sync"]


def launch(chromium, error, path):
    """Start the browser at `path`; without one, whichever Playwright finds."""
    ways = [{"executable_path": path}] if path else [{}, {"channel": "chrome"}]
    for way in ways:
        try:
            return chromium.launch(args=QUIET, **way)
        except error as reason:
            why = str(reason).splitlines()[0]
    pytest.skip(f"no Chromium or Chrome can be started: {why}")


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@contextlib.contextmanager
def serving(folder):
    """Let a server of this machine have a folder; give its address."""
    handler = functools.partial(Silent, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def no_window():
    """Let figures be drawn without a screen, and none be left open."""
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    matplotlib.use("agg")
    with matplotlib.rc_context():
        yield
    pyplot.close("all")


@pytest.fixture
def course(tmp_path):
    """A course in a folder of its own, on the files of this one; nothing is begun."""
    root = Path(__file__).resolve().parent.parent
    for name in ("minigrad", "tests", "classroom", "chapters", "pyproject.toml"):
        (tmp_path / name).symlink_to(root / name)
    (tmp_path / "exercises").mkdir()
    return tmp_path
