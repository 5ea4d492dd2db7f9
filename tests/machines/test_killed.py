"""A killed `update` or `reset` loses nothing: a few rounds of kill_updates.py."""

import shutil

import pytest

pytestmark = [pytest.mark.posix, pytest.mark.long]


def test_whatever_ends_an_update_the_next_command_has_every_answer(tmp_path):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    from tests.machines.kill_updates import (
        rounds,  # it needs what Windows does not have
    )

    assert rounds(tmp_path, 10).total() == 10
