"""Lessons and exercises in real JupyterLab, in a browser that a learner might use."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest

TimeoutError = pytest.importorskip("playwright.sync_api").TimeoutError
ROOT = Path(__file__).resolve().parent.parent
PICTURES = ".jp-OutputArea-output img"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab on copies of the notebooks, with settings and trust of its own."""
    home = tmp_path_factory.mktemp("lab")
    for folder in "notebooks", "solutions":
        shutil.copytree(ROOT / folder, home / folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kinds = ("CONFIG", "DATA", "RUNTIME")
    own = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in kinds}
    own["JUPYTERLAB_SETTINGS_DIR"] = write_settings(home / "settings")
    settings = {"JUPYTER_CONFIG_PATH": str(ROOT / "classroom" / "jupyter")}
    words = f"--no-browser --allow-root --port={port} --IdentityProvider.token="
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *words.split(), "--log-level=ERROR"],
        cwd=home,
        env=os.environ | own | settings | {"JUPYTER_PREFER_ENV_PATH": "1"},
    )
    address = f"http://127.0.0.1:{port}"
    wait_for(f"{address}/api/status")
    yield address
    server.terminate()
    server.wait(20)


def write_settings(folder):
    """Let JupyterLab put all cells on the page, not only those in view."""
    path = folder / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    path.parent.mkdir(parents=True)
    path.write_text('{"windowingMode": "none"}')
    return str(folder)


def wait_for(address):
    """Wait until a server answers at `address`, for half a minute."""
    for _ in range(300):
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(address).read()
        time.sleep(0.1)
    pytest.fail(f"nothing answers at {address}")


@pytest.fixture
def page(browser):
    """A browser page, no request of which may have left this machine in the end."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    asked = set()
    page.on("request", lambda request: asked.add(urlsplit(request.url)))
    page.add_locator_handler(  # a kernel whose port was taken is started anew
        page.get_by_role("dialog").filter(has_text="Kernel Restarting"),
        lambda dialog: dialog.get_by_role("button", name="Ok").click(),
    )
    yield page
    page.close()
    places = {url.hostname for url in asked if url.scheme not in ("data", "blob")}
    assert places == {"127.0.0.1"}


def open_notebook(page, lab, path):
    """Open a notebook in JupyterLab and wait until its last cell is there."""
    page.goto(f"{lab}/lab/tree/{path}?reset")  # without what an earlier test opened
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=30_000)
    cells = (ROOT / path).read_text(encoding="utf-8").count('"cell_type"')
    count = "document.querySelectorAll('.jp-Notebook .jp-Cell').length"
    page.wait_for_function(f"{count} == {cells}", timeout=30_000)


def run_all(page):
    """Clear all outputs, run all cells, and wait until the last one is done."""
    choose(page, "Edit", "Clear Outputs of All Cells")
    prompts = "[...document.querySelectorAll('.jp-Notebook .jp-InputPrompt')]"
    begun = f"{prompts}.some(p => /\\[[*\\d]/.test(p.innerText))"
    done = f"{prompts}.every(p => !/\\[[ *]\\]:/.test(p.innerText))"
    for _ in range(10):  # JupyterLab drops the wish while its kernel is starting
        choose(page, "Run", "Run All Cells")
        with contextlib.suppress(TimeoutError):
            page.wait_for_function(begun, timeout=5_000)
            break
    page.wait_for_function(done, timeout=60_000)


def open_and_run(page, lab, path):
    """Open a notebook and run it: no cell fails, and every picture shows."""
    open_notebook(page, lab, path)
    run_all(page)
    stderr = "[data-mime-type='application/vnd.jupyter.stderr']"
    assert page.locator(stderr).count() == 0
    assert pictures_that_show(page) == pictures_in(path)


def choose(page, menu, entry):
    """Choose an entry of JupyterLab's menu."""
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_text(entry, exact=True).click()


def pictures_that_show(page):
    """Return how many pictures there are, once they all have a size."""
    page.wait_for_function(
        f"[...document.querySelectorAll('{PICTURES}')].every(i => i.naturalWidth > 0)"
    )
    return page.locator(PICTURES).count()


def pictures_in(path):
    """Return how many pictures the outputs of a notebook have."""
    notebook = nbformat.read(ROOT / path, 4)
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    bundles = [out["data"] for out in outputs if "data" in out]
    return sum("<img" in b.get("text/html", "") or "image/png" in b for b in bundles)


def test_a_just_cloned_notebook_shows_its_pictures(lab, page):
    path = "notebooks/04_blame.ipynb"
    open_notebook(page, lab, path)
    assert pictures_that_show(page) == pictures_in(path) > 0
    slider = page.locator("input[type=range]").first
    assert slider.is_disabled()  # a notebook that is not trusted runs no script
    assert page.locator("p", has_text="Step ").first.is_visible()  # the last frame


def test_a_lesson_runs_and_its_slider_moves(lab, page):
    path = "notebooks/04_blame.ipynb"
    open_and_run(page, lab, path)
    slider = page.locator("input[type=range]").first
    frame = page.locator("div:has(> input[type=range])").first
    caption, picture = frame.locator("p"), frame.locator("img")
    assert caption.inner_text().startswith("Start:")
    start = picture.get_attribute("src")
    slider.focus()
    for step in "Step 1", "Step 2":
        slider.press("ArrowRight")
        assert caption.inner_text().startswith(step)
    assert picture.get_attribute("src") != start
    assert picture.get_attribute("alt") == caption.inner_text()
    assert picture.evaluate("i => i.decode().then(() => i.naturalWidth)") > 0
    slider.press("Home")
    assert picture.get_attribute("src") == start


def test_a_solved_exercise_runs(lab, page):
    open_and_run(page, lab, "solutions/04_blame.ipynb")
    assert page.locator(".jp-OutputArea-output", has_text="4.1 passed").is_visible()
