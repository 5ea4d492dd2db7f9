"""Kernels whose port was taken by another program between two breaths, or that hang."""

import socket
import subprocess

import nbval.kernel
import pytest
from jupyter_client.connect import LocalPortCache
from nbformat.v4 import new_code_cell, new_notebook

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
