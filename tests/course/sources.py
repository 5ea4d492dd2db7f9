"""The chapters that tests are named after; each is parsed when a test first asks."""

import functools

from classroom import ROOT
from classroom.author.chapters import Chapter

SLUGS = sorted(path.name for path in ROOT.glob("chapters/[0-9][0-9]_*"))


@functools.cache
def parsed(slug: str) -> Chapter:
    """Return a chapter: one object for all tests, which keeps what is parsed of it."""
    return Chapter(ROOT / "chapters" / slug)
