"""Previews of the site on other pages, and the notebooks that Colab opens."""

import re
import struct

import pytest

from classroom.all_or_nothing import Trouble
from classroom.author import sharing, site
from classroom.author.chapters import chapters
from classroom.notebook.files import read_notebook


def test_a_page_can_be_shared(monkeypatch):
    monkeypatch.setenv("SITE_ADDRESS", "https://somewhere.example/course/")
    tags = sharing.preview('4 · "Blame"', "Which input?", "notebooks/04_blame")
    told = dict(re.findall('="(.+?)" content="(.+?)"', tags))
    assert told["og:title"] == "4 · &#34;Blame&#34;"
    assert told["og:description"] == "Which input?"
    page = "https://somewhere.example/course/notebooks/04_blame.html"
    assert told["og:url"] == page
    assert told["og:image"].endswith("/course/_static/preview.png")
    header = (site.TEMPLATES / "static" / "preview.png").read_bytes()[:24]
    assert struct.unpack(">II", header[16:]) == (1200, 630)
    assert told["twitter:card"] == "summary_large_image"


def test_colab_installs_the_course_first(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/course")
    course = chapters()
    sharing.write_for_colab(tmp_path, course)
    for folder in ("notebooks", "exercises"):
        for chapter in course:
            path = tmp_path / folder / f"{chapter.slug}.ipynb"
            first, second = read_notebook(path)["cells"][:2]
            assert "github.com/someone/course@" in first["source"]
            assert second["cell_type"] == "markdown"
    link = sharing.links(course[4], in_tab=False)
    assert "/github/someone/course/blob/colab/notebooks/04_blame.ipynb" in link
    assert "try/" not in link


def test_a_folder_of_somebody_else_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "OUT", tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(Trouble, match="did not make it"):
        site.site_command()
    assert (tmp_path / "mine.txt").read_text() == "mine"
