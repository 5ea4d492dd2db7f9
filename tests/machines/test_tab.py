"""The chapters in a browser's tab: run in a real browser, with nobody else to ask."""

import json
import re
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.author import tab
from classroom.author.chapters import chapters
from classroom.learner.find import open_learner
from classroom.notebook.files import read_notebook, reference
from classroom.notebook.pristine import all_chapters
from tests.course import hostile
from tests.machines.conftest import serving

pytestmark = pytest.mark.skipif(
    not find_spec("jupyterlite_pyodide_kernel"), reason="needs '.[site]'"
)
NO_ANSWER = "ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|E4..|E5..|ConnectionError|HTTPSConnec"
EXERCISES = "exercises/04_blame.ipynb"
# One lesson is tried whenever all tests run, and all of them if this file is named.
LESSONS = [
    pytest.param(c.slug, marks=() if c.number == 9 else pytest.mark.alone)
    for c in chapters()
    if tab.runs_here(c)
]
BUSY = "[...document.querySelectorAll('.jp-InputPrompt')]"
BUSY += ".some(each => each.textContent.includes('*'))"
# Lessons that show what a machine measures, the size of an object, or the last digits
# of a function, of a training or of an error, and so other numbers than elsewhere
OTHER_NUMBERS = {"01_nudge", "14_vjp", "20_convolution", "22_freeze", "24_attention"}
OTHER_NUMBERS |= {"21_deep", "28_names"}
HARMLESS = "Cannot read properties"  # JupyterLab's own, about its page
SAVED = """async path => {
  const open = indexedDB.open('JupyterLite Storage - /try/');
  const database = await new Promise(done => open.onsuccess = () => done(open.result));
  const get = database.transaction('files').objectStore('files').get(path);
  return new Promise(done => get.onsuccess = () => done(get.result?.content));
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The tab, from a server of this machine."""
    folder = tmp_path_factory.mktemp("tab")
    try:
        tab.write_tab(folder / "try", chapters())
    except Trouble as reason:
        assert re.search(NO_ANSWER, str(reason)), reason
        pytest.xfail(f"PyPI or npm does not answer: {reason}")
    with serving(folder) as address:
        yield SimpleNamespace(folder=folder / "try", address=address)


@pytest.fixture
def context(browser, served):
    """A browser's profile in which all other hosts are refused; nobody asks them."""
    context, others = browser.new_context(viewport={"width": 1280, "height": 900}), []

    def refuse(route):
        if route.request.url.startswith(f"{served.address}/"):
            return route.continue_()
        others.append(route.request.url)
        route.abort()

    context.route("**/*", refuse)
    yield context
    context.close()
    assert others == []


def open_notebook(context, served, path):
    page = context.new_page()
    dialog = page.locator(".jp-Dialog")  # asks which kernel, where none is there yet
    answer = dialog.locator(".jp-mod-accept")
    page.add_locator_handler(dialog, lambda: answer.click(timeout=5_000))
    page.goto(f"{served.address}/try/notebooks/index.html?path={path}")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
    page.wait_for_selector("[data-status=idle]", state="attached", timeout=120_000)
    return page


def run_all(page, path):
    """Run all cells until one fails; return the notebook as it is saved then.

    What is asked before the kernel is there may be lost: then it is asked again.
    """
    code: list = []
    dead = []  # a kernel that has died says so on the page's console, and nowhere else
    page.on("pageerror", lambda error: dead.append(str(error)))
    for k in range(240):
        begun = any(cell["execution_count"] for cell in code) or page.evaluate(BUSY)
        if k % 5 == 0 and not begun:
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_text("Run All Cells", exact=True).click()
        if not (notebook := save(page, path)):
            continue  # a slow browser keeps nothing yet
        code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
        fatal = [each for each in dead if not each.startswith(HARMLESS)]
        assert fatal == [], f"{path}: the kernel has died"
        if errors(code) or all(cell["execution_count"] for cell in code):
            return notebook
    undone = [cell["source"] for cell in code if not cell["execution_count"]]
    raise AssertionError(f"{path} has not run after some minutes: {undone}")


def errors(cells):
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return [out for out in outputs if out["output_type"] == "error"]


def answer_4_1(page, text, said):
    """Write an answer, run it and its check, and wait until the check says so."""
    blank = page.locator(".jp-CodeCell", has_text="# minigrad/scalar/value.py").first
    blank.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    check = page.locator(".jp-CodeCell", has_text="Check of 4.1")
    check.locator(".jp-OutputArea", has_text=said).wait_for(timeout=120_000)
    page.wait_for_function(f"!({BUSY})", timeout=60_000)


def save(page, path):
    """Save the notebook, and return what the browser keeps."""
    page.keyboard.press("Control+s")
    page.wait_for_timeout(1500)
    return page.evaluate(SAVED, path)


def texts(outputs):
    """Return what outputs say: what is printed, and the texts of pictures."""
    found = []
    for output in outputs:
        data = output.get("data", {})
        found += ["".join(output.get("text", "") or data.get("text/plain", ""))]
    return "".join(found)


def without_numbers(text):
    """Return a text without the numbers in it, and without what it says of plots."""
    return re.sub(r"-?\d[\d.,]*(e-?\d+)?", "", re.sub(r"Plot.*", "Plot", text))


@pytest.mark.alone  # another exercise, and the lesson, are tried whenever all run
def test_the_exercises_of_a_chapter_pass(context, served):
    """Their answers stand in them, as a learner would have written them."""
    path = "exercises/09_broadcast.ipynb"
    file = served.folder / "files" / path
    solved = {n: each.solved for n, each in chapters()[9].exercises.items()}
    hostile.written(file.parent, hostile.notebook(solved, file), file.name)
    cells = run_all(open_notebook(context, served, path), path)["cells"]
    assert errors(cells) == []
    outputs = [out for cell in cells for out in cell.get("outputs", [])]
    said = "".join(str(out.get("text")) for out in outputs)
    checks = [c for c in cells if "# Check of" in str(c["source"])]
    assert said.count(" passed") == len(checks) > 1


@pytest.mark.parametrize("slug", LESSONS)
def test_a_lesson_gives_what_it_gives_elsewhere(context, served, slug):
    path = f"notebooks/{slug}.ipynb"
    here = run_all(open_notebook(context, served, path), path)["cells"]
    there = read_notebook(ROOT / path)["cells"]
    stored = {cell["id"]: texts(reference(cell)) for cell in there}
    assert errors(here) == []
    told = {cell["id"]: texts(cell.get("outputs", [])) for cell in here}
    same = without_numbers if slug in OTHER_NUMBERS else str
    assert {n for n in told if same(told[n]) != same(stored.get(n, ""))} == set()


def test_an_exercise_is_solved_and_found_again(context, served):
    page = open_notebook(context, served, EXERCISES)
    run_all(page, EXERCISES)
    solution = read_notebook(ROOT / "solutions" / "04_blame.ipynb")["cells"]
    [right] = [c["source"] for c in solution if c["id"] == "answer-4-1"]
    wrong = right.replace("1 - y * y", "1 - y")
    assert wrong != right
    answer_4_1(page, wrong, "finite differences")
    answer_4_1(page, right, "4.1 passed")
    save(page, EXERCISES)
    page.close()

    page = open_notebook(context, served, EXERCISES)
    blank = page.locator(".jp-CodeCell", has_text="# minigrad/scalar/value.py").first
    blank.filter(has_text="1 - y * y").wait_for()
    kept = page.evaluate(SAVED, EXERCISES)
    page.close()
    download = served.folder.parent / "04_blame.ipynb"
    download.write_text(json.dumps(kept), encoding="utf-8")
    answers = open_learner(download, all_chapters()).answers()
    assert list(answers) == ["4.1"] and "1 - y * y" in answers["4.1"][-1]
    assert "`04_blame.ipynb`" in kept["cells"][1]["source"]  # the name to give it

    file = served.folder / "files" / EXERCISES  # the site gets a newer version
    newer = json.loads(file.read_text("utf-8"))
    newer["metadata"]["minigrad"]["version"] = "abc123"
    file.write_text(json.dumps(newer), encoding="utf-8")
    page = open_notebook(context, served, EXERCISES)
    with context.expect_page() as opened:  # what is not saved here stays
        page.get_by_role("button", name="Open the newer one beside it").click()
    beside = opened.value
    beside.wait_for_url("**04_blame+%28abc123%29.ipynb*")
    beside.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    assert beside.evaluate(SAVED, EXERCISES) == kept
    stored = beside.evaluate(SAVED, EXERCISES.replace(".ipynb", " (abc123).ipynb"))
    assert stored["metadata"]["minigrad"]["version"] == "abc123"
    assert beside.get_by_role("status").filter(has_text="newer").count() == 0


def test_a_file_that_is_not_on_the_list_of_hashes_is_refused(tmp_path):
    place = tmp_path / "pyodide.asm.wasm"
    place.with_name("another").write_text("another")
    with pytest.raises(Trouble, match="another is not the file that .* lists"):
        tab.take(place.with_name("another"), place)
    assert not place.exists()


def test_each_slow_cell_is_in_a_lesson():
    lessons = [read_notebook(path) for path in (ROOT / "notebooks").glob("*.ipynb")]
    found = [tab.minutes_of(cell) for each in lessons for cell in each["cells"]]
    assert sorted(filter(None, found)) == sorted(tab.SLOW.values())


def test_what_has_not_arrived_is_told(context, served):
    [archive] = served.folder.rglob("python.packed")
    whole = archive.read_bytes()
    archive.write_bytes(whole[:1000])
    try:
        page = context.new_page()
        page.goto(f"{served.address}/try/notebooks/index.html?path={EXERCISES}")
        bar = page.get_by_role("status").filter(has_text="arrived here (python")
        bar.wait_for(timeout=60_000)
    finally:
        archive.write_bytes(whole)
    page.get_by_role("button", name="Load this page again").click()
    page.wait_for_selector("[data-status=idle]", state="attached", timeout=120_000)
    assert bar.count() == 0
