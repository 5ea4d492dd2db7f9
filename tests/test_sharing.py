"""What others show of the site, and the notebooks that Colab opens."""

from classroom.author import sharing
from classroom.author.chapters import chapters
from classroom.notebook.files import read_notebook


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
