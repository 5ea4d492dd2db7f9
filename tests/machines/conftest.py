"""A real browser, and a server for it."""

import contextlib
import functools
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest


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
