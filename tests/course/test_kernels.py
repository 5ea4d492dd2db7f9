"""Kernels whose port another program has taken in between, or that hang."""

import socket
import subprocess

import nbval.kernel
import pytest
from jupyter_client.connect import LocalPortCache
from nbformat.v4 import new_code_cell, new_notebook

from classroom.run import bounded_kernel
from classroom.run.kernels import Runner, start_new_kernel


@pytest.fixture
def occupied(monkeypatch):
    """Let the first ports that Jupyter finds, as many as `left`, be one in use."""
    find, left = LocalPortCache.find_available_port, [0]
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        used.listen()

        def found(cache, ip):
            if left[0]:
                left[0] -= 1
                return used.getsockname()[1]
            return find(cache, ip)

        monkeypatch.setattr(LocalPortCache, "find_available_port", found)
        yield left


def start():
    manager, client = start_new_kernel(20, "python3", stderr=subprocess.DEVNULL)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run():
    notebook = new_notebook(cells=[new_code_cell("print(6 * 7)")])
    Runner(notebook, shutdown_kernel="immediate").execute(stderr=subprocess.DEVNULL)
    assert notebook.cells[0].outputs[0].text == "42\n"


@pytest.mark.parametrize("use", [start, run])
def test_a_kernel_whose_port_is_taken_is_started_again(occupied, use):
    occupied[0] = 1
    use()
    assert not occupied[0]


def test_a_kernel_that_hangs_is_started_again_once(monkeypatch):
    tries = []

    def hung(seconds, **options):
        tries.append((seconds, options))
        raise RuntimeError(f"Kernel didn't respond in {seconds} seconds")

    monkeypatch.setattr("classroom.run.kernels.start_once", hung)
    with pytest.raises(RuntimeError, match="60 seconds"):
        nbval.kernel.start_new_kernel(startup_timeout=60, cwd=".")
    assert tries == [(30, {"cwd": "."}), (60, {"cwd": "."})]


def test_a_users_profile_reaches_no_notebook_that_is_built(tmp_path, monkeypatch):
    profile = tmp_path / ".ipython" / "profile_default"
    profile.mkdir(parents=True)
    spoilt = "get_config().IPKernelApp.exec_lines = ['print = None']"
    (profile / "ipython_kernel_config.py").write_text(spoilt)
    monkeypatch.setenv("HOME", str(tmp_path))
    run()


@pytest.mark.parametrize(
    ("seconds", "why"),  # of each second, what a processor works for the cell
    [
        ([1.0] * 19, None),
        ([1.0] * 21, "Slow"),  # an endless loop
        ([2.0] * 21, "Slow"),  # on two cores
        ([0.0] * 21, "Slow"),  # it waits for something
        ([1.0] * 3 + [0.0] * 18, "Slow"),  # it works first, and then waits
        ([0.2] * 99, None),  # four other programs run, too
        ([0.2] * 101, "Busy"),
        ([0.4] * 55, "Slow"),
    ],
)
def test_what_counts_of_a_cells_time_is_what_a_processor_works_for_it(
    monkeypatch, seconds, why
):
    clock = bounded_kernel.Clock(None)
    for n, _ in enumerate(seconds, 1):
        worked = sum(seconds[:n])
        monkeypatch.setattr(bounded_kernel, "processor_time", lambda _, w=worked: w)
        clock.lasted = n
        clock.tell()
    assert clock.over(20) == why


def test_time_in_which_the_watch_itself_stood_still_does_not_count(monkeypatch):
    """A machine that slept, or had no time for any program."""
    clock = bounded_kernel.Clock(None)
    clock.seen -= 3600
    clock.tick()
    assert clock.lasted == bounded_kernel.BREATH
