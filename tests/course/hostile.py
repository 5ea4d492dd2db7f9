"""Broken and hostile submissions of chapter 4: how each is made, and its right grade.

In most of them, exercise 4.3 has a malicious answer, and all others are honest. This
file says what happens to 4.3. The others must never lose anything.
"""

import io
import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from zipfile import ZIP_DEFLATED

from classroom import ROOT
from classroom.author.chapters import chapters, first_fence, sections
from classroom.cell.asked import exercise_at

CHAPTER = next(chapter for chapter in chapters() if chapter.number == 4)
FILE = f"{CHAPTER.slug}.ipynb"
SOLVED = {name: each.solved for name, each in CHAPTER.exercises.items()}
BLANK = ROOT / "classroom" / "pristine" / FILE
WRONG = "def predict_blame(a, b, c):\n    return [1.0, 1.0, 1.0]\n"


def notebook(answers: dict[str, str], path: Path = BLANK) -> dict:
    """Return a chapter's notebook, chapter 4's by default, with these answers."""
    made = json.loads(path.read_text("utf-8"))
    for cell in made["cells"]:
        kind, name = exercise_at(cell["id"])
        if kind == "answer":
            cell["source"] = answers.get(name, cell["source"])
    return made


def written(folder: Path, made: dict | str | bytes, name: str = FILE) -> None:
    """Write a notebook, or something in its place, into a student's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(made) if isinstance(made, dict) else made
    data = text.encode() if isinstance(text, str) else text
    (folder / name).write_bytes(data)


# --- malice in the answer ------------------------------------------------------------


def answers() -> dict[str, tuple[str, set[str]]]:
    """Return each answer in hostile.md by its name, and the statuses it may have."""
    text = Path(__file__).with_suffix(".md").read_text("utf-8")
    found = {}
    for heading, body in sections(text, "## "):
        name, _, statuses = heading.rpartition(": ")
        code = first_fence(body).replace("HERE", str(ROOT))
        found[name] = code, set(statuses.split())
    return found


# --- malice, or trouble, in the file --------------------------------------------------


def honest() -> dict:
    return notebook(SOLVED)


def own_labels(made: dict) -> None:
    for n, each in enumerate(made["cells"]):
        each["id"], each["metadata"] = f"mine-{n}", {}
    made["metadata"].pop("minigrad")


def without_checks(made: dict) -> None:
    made["cells"] = [c for c in made["cells"] if not c["id"].startswith("check-")]


def edited_checks(made: dict) -> None:
    for each in made["cells"]:
        if each["id"].startswith("check-"):
            each["source"] = "print('4.3 passed')"
        if each["id"] == "answer-4-3":
            each["source"] = WRONG


def other_kernel(made: dict) -> None:
    made |= notebook(dict.fromkeys(SOLVED, "x <- function(a) a * 2"))
    made["metadata"]["kernelspec"] = {"name": "ir", "language": "R"}


def half_characters(made: dict) -> None:
    made |= notebook({name: f"# \ud800\n{text}" for name, text in SOLVED.items()})
    made["metadata"]["\udfff"] = "\ud800"


def hidden_metadata(made: dict) -> None:
    made["metadata"]["minigrad"] = {"chapter": "../../etc", "exercises": 7}
    for each in made["cells"]:
        each["metadata"]["nbgrader"] = {"grade_id": ["a"], "points": 1e9}


def another_notebook(made: dict) -> None:
    cell = {"cell_type": "code", "source": "1 + 1", "metadata": {}, "outputs": []}
    made |= {"cells": [cell], "metadata": {}}


def file(data: dict | str | bytes, name: str = FILE) -> Callable[[Path], None]:
    """Return a function that writes this, whatever it is, into a student's folder."""
    return lambda folder: written(folder, data, name)


def changed(change: Callable[[dict], None], name: str = FILE) -> Callable[[Path], None]:
    """Return a function that writes an honest notebook after a change."""
    change(made := honest())
    return file(made, name)


def large_file(folder: Path) -> None:
    written(folder, b"")
    os.truncate(folder / FILE, 200 << 20)


def two_students(folder: Path) -> None:
    written(folder / "first", notebook(SOLVED | {"4.3": WRONG}))
    written(folder / "second", honest())


def zipped(
    entries: Iterable[tuple[zipfile.ZipInfo | str, bytes]], how: int = ZIP_DEFLATED
) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for info, data in entries:
            archive.writestr(info, data, how)
    return file.getvalue()


MADE = json.dumps(honest()).encode()
NAMES = "../../../../tmp/outside.ipynb", "/tmp/outside.ipynb", "..\\outside.ipynb"
OUTSIDE = zipped([(name, MADE) for name in NAMES])


def zip_bomb(folder: Path) -> None:
    bomb = zipped([(f"{n}.ipynb", bytes(64 << 20)) for n in range(4)])
    written(folder, zipped([(f"{n}.zip", bomb) for n in range(3)]), "bomb.zip")


def zips_in_zips(folder: Path) -> None:
    data, entry = MADE, FILE
    for n in range(6):
        data, entry = zipped([(entry, data)]), f"{n}.zip"
    written(folder, data, "deep.zip")


def locked_zip(folder: Path) -> None:
    data = bytearray(zipped([(FILE, MADE)]))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # flag: encrypted
        at = data.index(mark) + place
        data[at : at + 2] = struct.pack("<H", 1)
    written(folder, bytes(data), "hw.zip")


def link_in_zip(folder: Path) -> None:
    info = zipfile.ZipInfo(FILE)
    info.external_attr = 0o120777 << 16
    written(folder, zipped([(info, b"/etc/passwd")]), "hw.zip")


def link(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / FILE).symlink_to("/etc/passwd")
    (folder / "all").symlink_to("/")


# name: (what makes it, the points it deserves, what the remarks or messages say)
FILES: dict[str, tuple[Callable[[Path], None], int, str]] = {
    "changed ids": (changed(own_labels, "renamed by me.ipynb"), 3, ""),
    "deleted checks": (changed(without_checks), 3, ""),
    "edited checks": (changed(edited_checks), 2, ""),
    "reordered cells": (changed(lambda made: made["cells"].reverse()), 3, ""),
    "other kernel": (changed(other_kernel), 0, ""),
    "half characters": (changed(half_characters), 3, ""),
    "hidden metadata": (changed(hidden_metadata), 3, ""),
    "not JSON": (file(MADE[:-500]), 0, "its JSON is incomplete"),
    "JSON, but no notebook": (file('{"cells": 7}'), 0, "is JSON, but not a notebook"),
    "deep JSON": (file('{"cells": ' + "[" * 200_000), 0, "is not a notebook"),
    "empty file": (file(""), 0, "is empty"),
    "nothing": (Path.mkdir, 0, "it contains no notebook"),
    "no notebook": (file(b"%PDF", "hw.pdf"), 0, "hw.pdf: it is not a notebook"),
    "another notebook": (changed(another_notebook), 0, "contains no exercise"),
    "200 MB": (large_file, 0, "it has more than 20 MB"),
    "blank": (file(notebook({})), 0, ""),
    "two students in one folder": (two_students, 3, "counts instead, which has"),
    "names that lead outside": (file(OUTSIDE, "hw.zip"), 3, ""),
    "zip bomb": (zip_bomb, 0, "more than 20 MB"),
    "zips in zips": (zips_in_zips, 0, "zips are nested more than"),
    "broken zip": (
        file(zipped([(FILE, MADE)])[:-60], "hw.zip"),
        0,
        "not a readable zip",
    ),
    "locked zip": (locked_zip, 0, "cannot be unpacked"),
    "link in a zip": (link_in_zip, 0, "its JSON is incomplete"),
    "links": (link, 0, "symbolic link"),
    "Zoë 🎓 Østergård\n«ß»": (file(MADE), 3, ""),
    "=HYPERLINK(1)": (file(MADE), 3, ""),
    "<script>alert(1)</script>": (file(MADE), 3, ""),
}
