"""Reads the tables of tests in tables.toml."""

import tomllib
from pathlib import Path

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def table(name):
    """Return the rows of a table."""
    return TABLES[name]
