"""Lessons and exercises in real JupyterLab, in a browser that a learner might use."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import nbformat
import pytest

from classroom.learner.find import open_learner
from classroom.learner.lab import JUPYTER, QUIET
from classroom.learner.progress import overview
from classroom.learner.results import Memory
from classroom.notebook.answers import learner_in
from classroom.notebook.files import read_notebook, reference, waits
from classroom.notebook.pristine import Chapter, all_chapters
from tests.course.sample import cell_of, fill

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ".jp-OutputArea-output img"
PROMPTS = "[...document.querySelectorAll('.jp-Notebook .jp-InputPrompt')]"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab on copies of the notebooks, with settings and trust of its own."""
    home = tmp_path_factory.mktemp("lab")
    for folder in "notebooks", "solutions", "classroom/pristine":
        shutil.copytree(ROOT / folder, home / folder)
    shutil.copytree(ROOT / "classroom/pristine", home / "exercises")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kinds = ("CONFIG", "DATA", "RUNTIME")
    own = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in kinds}
    own["JUPYTERLAB_SETTINGS_DIR"] = write_settings(home / "settings")
    settings = dict.fromkeys(("JUPYTER_CONFIG_PATH", "JUPYTER_PATH"), str(JUPYTER))
    words = "--no-browser --allow-root --IdentityProvider.token= --log-level=ERROR"
    words += f" --port={port}"
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "jupyterlab", *words.split(), *QUIET],
        cwd=home,
        env=os.environ | own | settings | {"JUPYTER_PREFER_ENV_PATH": "1"},
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/api/status")
        yield SimpleNamespace(address=address, folder=home)
    finally:
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
    page.add_locator_handler(  # which kernel; or, of two that save at once, this one
        page.locator(".jp-Dialog"),
        lambda dialog: dialog.locator(".jp-mod-accept").last.click(),
    )
    yield page
    page.close()
    places = {url.hostname for url in asked if url.scheme not in ("data", "blob")}
    assert places == {"127.0.0.1"}


def open_notebook(page, lab, path):
    """Open a notebook in JupyterLab and wait until its last cell is there."""
    page.goto(
        f"{lab.address}/lab/tree/{path}?reset"
    )  # without what an earlier test opened
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=30_000)
    cells = (ROOT / path).read_text(encoding="utf-8").count('"cell_type"')
    count = "document.querySelectorAll('.jp-Notebook .jp-Cell').length"
    page.wait_for_function(f"{count} == {cells}", timeout=30_000)


def run_all(page):
    """Clear all outputs, run all cells, and wait until the last one is done."""
    choose(page, "Edit", "Clear Outputs of All Cells")
    run(page, "Run All Cells", page.locator(".jp-CodeCell").first)
    done = f"{PROMPTS}.every(p => !/\\[[ *]\\]:/.test(p.innerText))"
    page.wait_for_function(done, timeout=60_000)


def run(page, entry, cell):
    """Select a cell and choose an entry of the menu Run, until some cell runs."""
    begun = f"{PROMPTS}.some(p => /\\[[*\\d]/.test(p.innerText))"
    begun = f"cell => {begun} || cell.querySelector('.jp-OutputArea-child')"
    from playwright.sync_api import TimeoutError

    for _ in range(10):  # JupyterLab drops the wish while its kernel is starting
        cell.locator(".jp-InputPrompt").click()
        choose(page, "Run", entry)
        with contextlib.suppress(TimeoutError):
            page.wait_for_function(begun, arg=cell.element_handle(), timeout=5_000)
            return
    pytest.fail(f"JupyterLab was asked ten times: {entry}, and no cell ran")


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


def code_of(path):
    """Return the code cells of a notebook."""
    cells = nbformat.read(ROOT / path, 4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def pictures_among(outputs):
    """Return how many pictures there are in lists of outputs, one for each cell."""
    bundles = [out["data"] for cell in outputs for out in cell if "data" in out]
    return sum("<img" in b.get("text/html", "") or "image/png" in b for b in bundles)


def lines_of(cell):
    """Return the lines that a cell is to show, but for very short ones."""
    texts = [out.get("text", "") for out in reference(cell)]
    return [line.strip() for line in "".join(texts).splitlines() if len(line) > 12]


def readable(page):
    """Return all that can be read in the notebook, alternative texts included."""
    script = "[...document.querySelectorAll('.jp-Notebook img')].map(i => i.alt)"
    return "\n".join(
        [page.locator(".jp-Notebook").inner_text(), *page.evaluate(script)]
    )


def test_a_just_cloned_lesson_shows_its_pictures_and_runs(lab, page):
    path = "notebooks/04_blame.ipynb"
    open_notebook(page, lab, path)
    shown = [cell.outputs for cell in code_of(path)]
    assert pictures_that_show(page) == pictures_among(shown) > 0
    slider = page.locator("input[type=range]").first
    assert slider.is_disabled()  # a notebook that is not trusted runs no script
    assert page.locator("p", has_text="Step ").first.is_visible()  # the last frame
    page.set_viewport_size({"width": 700, "height": 800})
    page.get_by_role("tab", name="File Browser").click()  # folds it
    drawings = page.locator(f"{PICTURES}[src^='data:image/svg']")
    page.wait_for_timeout(500)
    shares = drawings.evaluate_all(
        "all => all.map(i => i.clientWidth / i.naturalWidth)"
    )
    assert min(shares) * 40 / 3 > 9  # pixels of the smallest letters, 10 pt
    assert max(shares) < 1.01
    reach = "all => all.map(i => i.clientWidth - i.closest('div').clientWidth)"
    ways = "all => all.map(i => getComputedStyle(i.closest('div')).overflowX)"
    assert max(drawings.evaluate_all(reach)) > 0, "none is too wide to fit"
    assert set(drawings.evaluate_all(ways)) == {"auto"}
    for code in ".jp-InputArea .cm-scroller", ".jp-InputPlaceholder":  # and folded
        each = page.locator(code)
        beyond = each.evaluate_all("all => all.map(c => c.scrollWidth - c.clientWidth)")
        assert max(beyond) == 0, "code is wrapped, and does not scroll sideways"

    page.set_viewport_size({"width": 1280, "height": 800})
    run_all(page)  # no cell fails, every picture shows, and the slider moves
    stderr = "[data-mime-type='application/vnd.jupyter.stderr']"
    assert page.locator(stderr).count() == 0
    outputs = [reference(cell) for cell in code_of(path)]
    assert pictures_that_show(page) == pictures_among(outputs)
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


def test_opening_changes_nothing_and_only_a_run_answers_a_guess(lab, page):
    path = "notebooks/05_diamonds.ipynb"
    waiting = [cell for cell in code_of(path) if waits(cell)]
    answers = [line for cell in waiting for line in lines_of(cell)]
    others = [
        line for cell in code_of(path) if not waits(cell) for line in lines_of(cell)
    ]
    answers = [line for line in answers if line not in others]
    assert len(waiting) > 3 and len(answers) > 3
    open_notebook(page, lab, path)
    text = readable(page)
    assert not [line for line in answers if line in text]
    assert all(line in text for line in others)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    for i, cell in enumerate(code_of(path)):
        if waits(cell):
            assert cells.nth(i).locator(".jp-OutputArea-output").count() == 0
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    page.wait_for_timeout(1_000)
    assert page.get_by_role("dialog").count() == 0  # no question, of news or otherwise
    assert page.locator(".jp-mod-dirty").count() == 0
    choose(page, "File", "Save Notebook")
    page.wait_for_timeout(1_000)
    assert (lab.folder / path).read_bytes() == (ROOT / path).read_bytes()
    run_all(page)
    text = readable(page)
    assert not [line for line in answers if line not in text]


def test_a_blank_gives_nothing_away_and_copied_characters_are_put_right(lab, page):
    path = "classroom/pristine/04_blame.ipynb"
    open_notebook(page, lab, path)
    text = readable(page)
    assert "passed" not in text and "This Python does not know" not in text
    checks = [c for c in code_of(path) if "check" in c.metadata.get("tags", [])]
    for check in checks:
        first, *lines = check.source.splitlines()
        assert first in text
        assert not [line for line in lines if len(line) > 20 and line.strip() in text]
    assert page.locator(".jp-OutputArea-output").count() == 0
    first = page.locator(".jp-CodeCell", has_text=checks[0].source.splitlines()[0])
    run(page, "Run Selected Cell", first)
    told = first.locator(".jp-OutputArea-output")
    told.wait_for()
    assert told.inner_text().strip() == "4.1: It is not filled in yet."
    place = [cell.id for cell in code_of(path)].index("answer-4-1")
    answer = page.locator(".jp-Notebook .jp-CodeCell").nth(place)
    for begin, told in ("", "type ( instead"), ("%%plain\n", "Done. Run the cell"):
        write_and_run(page, answer, f"{begin}print（“it’s 7”)")
        answer.get_by_text(told).wait_for()
    shown = answer.locator(".cm-content").inner_text()
    assert shown.strip() == 'print("it’s 7")'


def test_run_all_shows_what_stopped_it_and_a_closed_tab_ends_its_kernel(lab, page):
    def open_kernels():
        found = json.loads(urllib.request.urlopen(f"{lab.address}/api/sessions").read())
        return [each["path"] for each in found]

    path = "classroom/pristine/03_value.ipynb"
    open_notebook(page, lab, path)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    choose(page, "Run", "Run All Cells")
    told = page.get_by_text("3.1: `Value.__mul__` is not filled in yet.")
    told.wait_for(timeout=60_000)
    page.locator(".minigrad-stopped", has_text="3.1: ").wait_for()  # custom.css says so
    box = "p => [p.getBoundingClientRect()].every(b => 0 < b.top && b.bottom < 800)"
    page.wait_for_function(box, arg=told.element_handle())
    below = [cell.id for cell in code_of(path)].index("check-3-2")  # it was not reached
    checked(page, page.locator(".jp-CodeCell").nth(below), "is not filled in yet")
    choose(page, "File", "Save Notebook")
    page.wait_for_function("!document.querySelector('.jp-mod-dirty')")
    assert path in open_kernels()
    page.locator(".lm-mod-current .lm-TabBar-tabCloseIcon").last.click()
    for _ in range(100):
        if path not in open_kernels():
            return
        time.sleep(0.1)
    pytest.fail("the kernel of a closed tab lives on")


def write(page, cell, source):
    """Write a cell anew."""
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(source)


def write_and_run(page, cell, source):
    """Write a cell anew, and run it."""
    write(page, cell, source)
    page.keyboard.press("Control+Enter")


def checked(page, check, told):
    """Run a check by a click, and return what it says, which has `told` in it."""
    check.locator(".jp-Placeholder-content").click()  # it stays folded
    check.locator(".jp-OutputArea-output", has_text=told).first.wait_for()
    return check.locator(".jp-OutputArea").inner_text()


def test_straight_to_a_blank_a_check_judges_what_stands_there_and_it_counts(lab, page):
    path = "exercises/05_diamonds.ipynb"
    chapter = Chapter(lab.folder / "classroom" / "pristine" / "05_diamonds.ipynb")
    solved = nbformat.read(ROOT / "solutions" / "05_diamonds.ipynb", 4).cells
    right = next(cell.source for cell in solved if cell.id == "answer-5-1")
    open_notebook(page, lab, path)
    ids = [cell.id for cell in code_of(path)]
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    answer, check = (cells.nth(ids.index(name)) for name in ("answer-5-1", "check-5-1"))
    assert "NameError" not in checked(page, check, "`any_order` is not filled in yet")
    write(page, answer, right)  # and not run: the check judges what stands there
    checked(page, check, "5.1 passed")
    page.wait_for_function("!document.querySelector('.jp-mod-dirty')")  # it is saved
    choose(page, "Kernel", "Restart Kernel and Clear Outputs of All Cells…")
    page.keyboard.press("Enter")  # yes
    check.locator(".jp-OutputArea-output").first.wait_for(state="detached")
    checked(page, check, "5.1 passed")
    write_and_run(page, answer, right.replace("(parents):", "(parents)", 1))
    answer.get_by_text("SyntaxError").first.wait_for()
    said = checked(page, check, "stopped with an error when it last ran")
    assert "passed" not in said and "SyntaxError: expected ':'" in said
    write_and_run(page, answer, right.replace("parents[name]:", "set(parents[name]):"))
    said = checked(page, check, "a is listed 0 times")
    assert "Hint 3, above your answer, is about this mistake" in said
    write(page, answer, right.replace("parents[name]:", "parents[name]"))
    said = checked(page, check, "stopped with an error when it last ran")
    assert "passed" not in said
    write(page, answer, right)
    checked(page, check, "5.1 passed")
    page.wait_for_function("!document.querySelector('.jp-mod-dirty')")
    learner, memory = open_learner(lab.folder / path, [chapter]), Memory(lab.folder)
    assert memory.passed_in_notebook(learner, "5.1")
    assert not memory.passed_in_notebook(learner, "5.2")
    assert overview(lab.folder, ["5.1"]).rows[0].statuses["5.1"] == "noted"
    page.wait_for_timeout(1_500)
    notebook = (lab.folder / path).read_text()  # now `break` or `reset` changes it
    worse = notebook.replace("in parents[name]:", "in set(parents[name]):")
    assert worse != notebook
    (lab.folder / path).write_text(worse)
    checked(page, check, "a is listed 0 times")


def test_a_terminal_opens_where_course_py_is(lab, page):
    open_notebook(page, lab, "exercises/04_blame.ipynb")
    page.get_by_role("menuitem", name="File", exact=True).click()
    labels = page.locator(".lm-Menu-itemLabel")  # the exercises name them, too
    labels.get_by_text("New", exact=True).hover()
    labels.get_by_text("Terminal", exact=True).click()
    page.locator(".jp-Terminal .xterm-helper-textarea").wait_for(state="attached")
    page.wait_for_timeout(1_000)
    found = lab.folder / "found"
    page.keyboard.type(f"pwd > {found}\n")
    for _ in range(100):
        if found.exists() and found.read_text():
            break
        time.sleep(0.1)
    assert found.read_text() == f"{ROOT}\n"


def test_home_leads_on_and_is_fresh_when_one_comes_back(page, lab):
    shutil.copy(ROOT / "home.md", lab.folder)
    pristine = lab.folder / "classroom" / "pristine"
    shutil.copytree(pristine, lab.folder / "exercises", dirs_exist_ok=True)
    page.goto(f"{lab.address}/lab/tree/home.md?reset")
    page.get_by_text("Begin with").wait_for(timeout=30_000)
    shown = ".jp-MarkdownViewer img"
    page.wait_for_function(f"document.querySelector('{shown}').naturalWidth > 700")
    page.get_by_role("link", name="1 · Nudge").first.click()
    page.wait_for_selector(".lm-TabBar-tab.minigrad-lesson", timeout=30_000)
    page.get_by_role("link", name="the exercises").click()
    page.wait_for_selector(".lm-TabBar-tab.minigrad-exercises", timeout=30_000)
    pass_first_exercise(lab.folder)
    page.get_by_role("main").get_by_role("tab", name="home.md").click()
    page.get_by_text("Continue with").wait_for(timeout=30_000)
    assert page.get_by_role("link", name="1.1 ✓").count() == 1
    page.get_by_role("link", name="3.2", exact=True).click()
    tops = ".filter(h => h.innerText.startsWith('3.2')).map(h => h.offsetParent && "
    tops = f"[...document.querySelectorAll('h2')]{tops}h.getBoundingClientRect().top)"
    page.wait_for_function(f"{tops}.some(top => 0 < top && top < 200)", timeout=60_000)
    assert (lab.folder / "home.md").read_bytes() == (ROOT / "home.md").read_bytes()


def pass_first_exercise(root):
    """Fill in 1.1 as the solution does, and note that it was checked."""
    path = root / "exercises" / "01_nudge.ipynb"
    solved = read_notebook(ROOT / "solutions" / path.name)
    mine = fill(path, {"1.1": cell_of(solved, "answer-1-1")["source"]})
    chapters, memory = all_chapters(root), Memory(root)
    learner = learner_in(mine, path.name, chapters)
    memory.remember(
        learner.chapter, learner.answers(), {"1.1": SimpleNamespace(status="passed")}
    )
    memory.save()
