"""Python runs this file at its start, where PYTHONPATH leads to this folder."""

from classroom.author.uses import watch

watch()
