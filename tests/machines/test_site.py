"""The site, built once from what is stored, parsed, and read in a real browser."""

import html
import json
import os
import re
import time
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from classroom import ROOT
from classroom.author import site as author
from classroom.author.blanks import SOLUTION, STUB
from classroom.author.chapters import chapters
from classroom.notebook.files import read_notebook, reference, waits
from tests.machines.conftest import serving

PACKAGES = "myst_nb", "furo", "mathjax", "axe_playwright_python"
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*MystReferenceResolver.app"),
    pytest.mark.skipif(
        not all(map(find_spec, PACKAGES)),
        reason="the site needs pip install -e '.[dev,site]'",
    ),
]
SAMPLE = ["index", "notebooks/04_blame", "notebooks/05_diamonds", "notebooks/16_twice"]
SAMPLE += ["exercises/05_diamonds", "reference/autograd", "glossary", "search"]
LONG = {"notebooks/05_diamonds", "notebooks/16_twice"}  # built as lesson 4 is
AXE = {"resultTypes": ["violations"]}
LARGEST = 1_500_000  # bytes of one page and its pictures


def soup(text):
    """Return a page of HTML, parsed."""
    from bs4 import BeautifulSoup

    return BeautifulSoup(text, "html.parser")


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site, one for all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    try:
        folder.mkdir()
    except FileExistsError:
        return built_by_another(folder)
    try:
        author.make_site(folder / "made")
    finally:
        (folder / "done").touch()
    return folder / "made"


def built_by_another(folder):
    """Wait until the site is there."""
    for _ in range(3000):
        if (folder / "done").exists():
            assert (folder / "made").exists(), "another worker could not build the site"
            return folder / "made"
        time.sleep(0.1)
    pytest.fail("another worker has built no site in five minutes")


@pytest.fixture(scope="session")
def pages(site):
    """The text of each page of the site."""
    return {path: path.read_text("utf-8") for path in sorted(site.rglob("*.html"))}


@pytest.fixture(scope="session")
def address(site):
    with serving(site) as address:
        yield address


@pytest.fixture
def open_page(browser, address):
    """Open pages; in the end, none has asked anybody else, nor found fault."""
    contexts, asked, said = [], [], []

    def open_page(name, width=1280, **options):
        size = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=size, **options))
        page = contexts[-1].new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("requestfailed", lambda request: said.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda line: said.append(f"{line.type}: {line.text}"))
        name, *query = name.split("?")
        page.goto("?".join([f"{address}/{name}.html", *query]))
        if page.locator(".math").count():
            page.wait_for_function("window.MathJax?.startup?.promise")
            page.evaluate("MathJax.startup.promise.then(() => null)")
        return page

    yield open_page
    for context in contexts:
        context.close()
    ours = (f"{address}/", "data:")
    assert asked
    assert [url for url in asked if not url.startswith(ours)] == []
    assert said == []


@pytest.mark.parametrize("name", [name for name in SAMPLE if name not in LONG])
def test_everybody_can_read_it_in_light_and_dark(open_page, name):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(name)
    page.add_style_tag(content="* { animation: none !important }")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = Axe().run(page, options=AXE).response["violations"]
        told = {
            each["id"]: [node["html"][:120] for node in each["nodes"][:3]]
            for each in found
            if each["impact"] in ("serious", "critical")
        }
        assert told == {}, theme


@pytest.mark.parametrize("name", [*SAMPLE, "notebooks/25_read_pytorch"])
def test_a_phone_shows_all_text_without_scrolling_sideways(open_page, name):
    page = open_page(name, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    outside = page.evaluate(
        """[...document.querySelectorAll('article :is(h1, h2, p, li, td, dt, dd)')]
        .filter(each => !each.closest('.film, .cell_output'))
        .filter(each => each.getBoundingClientRect().right > innerWidth)
        .map(each => each.textContent)"""
    )
    assert outside == []


@pytest.mark.parametrize("name", [name for name in SAMPLE if "notebooks" in name])
def test_formulas_are_rendered(open_page, name):
    page = open_page(name)
    formulas = page.locator(".math").count()
    assert formulas > 20
    assert page.locator(".math mjx-container mjx-math").count() >= formulas
    assert page.locator("mjx-merror").count() == 0
    assert r"\frac" not in page.locator("article").inner_text()


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.slug)
def test_pictures_have_words_and_guesses_are_folded(site, pages, chapter):
    text = pages[site / "notebooks" / f"{chapter.slug}.html"]
    page, path = soup(text), f"notebooks/{chapter.slug}.ipynb"
    cells = read_notebook(ROOT / path)["cells"]
    guesses = [cell for cell in cells if waits(cell)]
    assert len(page.select("details.below-input")) == len(guesses)
    for place, some in (".cell_output", cells), ("details.below-input", guesses):
        assert [i["alt"] for i in page.select(f"{place} img")] == told_of(some)


def told_of(cells):
    """Return the alternative texts of the pictures that cells are to show."""
    data = [out.get("data", {}) for cell in cells for out in reference(cell)]
    text = "".join("".join(each.get("text/html", "")) for each in data)
    return [i["alt"] for i in soup(text).find_all("img")]


@pytest.mark.parametrize("name", ["index", "notebooks/05_diamonds"])
def test_a_knob_shows_the_slope_at_each_place(open_page, name):
    page = open_page(name)
    film = page.locator("div:has(> input[aria-label^='The value of'])").first
    knob, slopes = film.locator("input"), set()
    knob.press("Home")
    for _ in range(int(knob.get_attribute("max"))):
        told = film.locator("p").inner_text()
        [slope] = re.findall(r" moves (\S+) times as far as \w\.$", told)
        picture = unquote(film.locator("img").get_attribute("src"))
        assert f">grad {slope}<".replace("-", "&#45;") in picture
        slopes.add(slope)
        knob.press("ArrowRight")
    assert len(slopes) > 9
    assert film.locator("img").evaluate("i => i.decode().then(() => i.width)") > 0


def test_the_first_drawing_moves_by_itself_unless_that_is_unwanted(open_page):
    for wish, still in {"reduce": True, "no-preference": False}.items():
        page = open_page("index", reduced_motion=wish)
        page.wait_for_timeout(1000)
        at_start = page.locator(".film input").first.input_value() == "0"
        assert at_start == still


def test_on_paper_there_is_the_text_alone(open_page):
    page = open_page("notebooks/05_diamonds")
    assert page.locator(".sidebar-drawer").is_visible()
    page.emulate_media(media="print")
    assert not page.locator(".sidebar-drawer").is_visible()
    for what in (".download", ".skip-to-content", "input[type=range]"):
        assert not page.locator(what).first.is_visible()
    assert page.locator("article h1").is_visible()
    page.set_viewport_size({"width": 500, "height": 900})  # nothing can scroll there
    cut = "e => e.querySelector('img') && e.scrollWidth > e.clientWidth"
    boxes = "[...document.querySelectorAll('.film, .cell_output, .cell_output div')]"
    assert page.evaluate(f"{boxes}.filter({cut}).length") == 0


LINK = re.compile(r"<(a|link|img|script)\b[^>]*?\s(?:href|src)=\"([^\"]*)\"")


def test_every_link_inside_leads_somewhere(site, pages):
    ids = {path: set(re.findall(r'\bid="([^"]+)"', t)) for path, t in pages.items()}
    broken, followed = defaultdict(set), 0
    for path, text in pages.items():
        for kind, link in set(LINK.findall(text)):
            address = urlsplit(html.unescape(link))
            if address.scheme:
                assert kind == "a" or address.scheme == "data", link
                continue
            target = path.parent / unquote(address.path) if address.path else path
            target = Path(os.path.normpath(target))
            followed += 1
            inside = target.is_relative_to(site) and target.is_file()
            if not inside or address.fragment and address.fragment not in ids[target]:
                broken[path.name].add(link)
    assert broken == {}
    assert followed > 5000


def test_every_page_has_a_title_and_a_description_of_its_own(site, pages):
    titles, about = {}, {}
    for path, text in pages.items():
        head = soup(text.partition("</head>")[0])
        [meta] = head.find_all("meta", attrs={"name": "description"})
        about[path], titles[path] = meta["content"], head.title.string
        assert not re.search(r"[`$\n]|^$", meta["content"])
        title = head.find("meta", property="og:title")["content"]
        assert title.lower() in titles[path].lower()
    assert "build torch.autograd" in titles[site / "index.html"]
    assert len(set(titles.values())) == len(set(about.values())) == len(pages) > 60
    for chapter in chapters():
        name, title = f"{chapter.slug}.html", chapter.front["title"]
        title = f"{chapter.number} · {title}"
        assert titles[site / "notebooks" / name] == f"{title} - minigrad"
        assert titles[site / "exercises" / name] == f"{title}: exercises - minigrad"
        assert about[site / "notebooks" / name].startswith(chapter.front["question"])


def test_no_page_is_heavy(pages):
    weights = {}
    for path, text in pages.items():
        images = {link for kind, link in LINK.findall(text) if kind == "img"}
        files = {path.parent / link for link in images if ":" not in link} | {path}
        weights[path] = sum(file.stat().st_size for file in files)
    assert 100_000 < max(weights.values()) < LARGEST


def test_a_search_finds_a_chapter(open_page):
    found = open_page("search?q=diamond").locator("#search-results li")
    found.first.wait_for()
    assert "5 · Diamonds" in " ".join(found.all_inner_texts())


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.slug)
def test_exercises_have_blanks_and_neither_checks_nor_answers(site, pages, chapter):
    text = pages[site / "exercises" / f"{chapter.slug}.html"]
    article = soup(text).article
    for hint in article.find_all("details"):  # the last may be nearly an answer
        hint.decompose()
    text = words(article.get_text())
    assert text.count(STUB) >= len(chapter.exercises)
    for name, exercise in chapter.exercises.items():
        assert f"course.py check {name} checks" in text
        assert f'check("{name}"' not in text and f"{name} passed" not in text
        for _, solution in SOLUTION.findall(exercise.solution):
            assert len(words(solution)) < 60 or words(solution) not in text


def test_lessons_come_without_what_prepares_the_kernel(site, pages):
    for chapter in chapters():
        text = pages[site / "notebooks" / f"{chapter.slug}.html"]
        assert "This Python does not know the course" not in text
        assert author.UNTIL_RUN not in text and "Shift+Enter" not in text
        [name] = re.findall(r'class="download" href="([^"]+)"', text)
        notebook = json.loads((site / "notebooks" / name).read_text("utf-8"))
        assert notebook["metadata"]["minigrad"]["chapter"] == chapter.slug


def test_lessons_and_exercises_follow_each_other(site, pages):
    path, met = site / "index.html", []
    while following := re.search(r'<link rel="next" .*?href="([^"]+)"', pages[path]):
        path = Path(os.path.normpath(path.parent / following[1]))
        met.append(f"{path.parent.name}/{path.stem}")
    kinds = ("notebooks", "exercises")
    expected = [f"{kind}/{chapter.slug}" for chapter in chapters() for kind in kinds]
    assert met[: len(expected) + 1] == [*expected, f"{site.name}/glossary"]


def test_words_lead_to_their_chapter_and_back(site, pages):
    entries = soup(pages[site / "glossary.html"]).find_all("dt")
    entries = {entry["id"]: entry for entry in entries if entry.get("id")}
    for chapter in chapters():
        lesson = pages[site / "notebooks" / f"{chapter.slug}.html"]
        found = re.findall(r'href="../glossary.html#([^"]+)"', lesson)
        told = [words(entries[name].get_text()).rstrip("¶") for name in found]
        told = [term.replace("’", "'") for term in told]
        assert told == chapter.front["terms"]
        for name in found:
            links = entries[name].find_next("dd").find_all("a")
            assert links[-1]["href"] == f"notebooks/{chapter.slug}.html"


def test_the_reference_has_every_room(site, pages):
    rooms = [path.parent.name for path in (ROOT / "minigrad").glob("*/__init__.py")]
    assert set(author.reference.ROOMS) == set(rooms) - {"utils"}
    text = pages[site / "reference" / "autograd.html"]
    page = soup(text)
    vjp = page.find("dt", id="minigrad.autograd.functional.vjp")
    assert words(vjp.get_text()).startswith("vjp(func: Callable, inputs")
    about = vjp.find_next("dd")
    assert "v times its Jacobian" in about.get_text()
    [link] = about.find_all("a", string="14")
    assert link["href"] == "../notebooks/14_vjp.html"
    told = [text for text in pages.values() if "<p>Built in chapter" in text]
    assert len(told) > 9
