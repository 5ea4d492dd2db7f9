"""Starts kernels, and again if one ends or hangs before it can answer.

Jupyter looks for free ports and releases them before the kernel takes them, half a
second later. With several kernels at a time, another may be quicker, and the kernel
ends. Rarely, a kernel lives and never answers. As a plugin of pytest: `-p nbval.plugin
-p classroom.run.kernels`.
"""

import os
import tempfile
from contextlib import suppress
from queue import Empty
from time import monotonic

import nbval.kernel
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

from classroom.run.judge import without_settings


def start_once(timeout, kernel_name="python3", **options):
    """Start a kernel as nbval does."""
    specs = nbval.kernel.NbvalKernelspecManager()
    manager = KernelManager(kernel_name=kernel_name, kernel_spec_manager=specs)
    manager.start_kernel(**options)
    client = manager.client()
    client.start_channels()
    await_answer(manager, client, timeout)
    return manager, client


def await_answer(
    manager: KernelManager, client: BlockingKernelClient, timeout: float
) -> None:
    """Wait until a kernel answers; end it, and raise RuntimeError, if it does not.

    Jupyter's own wait goes on until nothing has come for a while, which nobody needs:
    who reads the messages of a cell passes over all others.
    """
    client.kernel_info()
    end = monotonic() + timeout
    while manager.is_alive() and monotonic() < end:
        with suppress(Empty):
            return client.get_shell_msg(timeout=1)
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    raise RuntimeError(f"The kernel did not answer in {timeout} seconds")


def start_new_kernel(startup_timeout=60, *args, **kwargs):
    """Start a kernel as nbval does, which raises RuntimeError if it does not answer.

    The first one has half of `startup_timeout`, in seconds.
    """
    with suppress(RuntimeError):
        return start_once(startup_timeout / 2, *args, **kwargs)
    return start_once(startup_timeout, *args, **kwargs)


class Runner(NotebookClient):
    """Runs notebooks as nbclient does, and also starts their kernel again if needed.

    It finds none of the user's settings, such as a profile of IPython.
    """

    async def async_start_new_kernel(self, **kwargs) -> None:
        self.settings = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        env = without_settings(kwargs.get("env") or os.environ, self.settings.name)
        kwargs["env"] = env
        await super().async_start_new_kernel(**kwargs)
        try:
            await self.async_start_new_kernel_client()
        except RuntimeError:
            self.km = self.create_kernel_manager()  # the client dropped the first one
            await super().async_start_new_kernel(**kwargs)


nbval.kernel.start_new_kernel = start_new_kernel  # for notebooks as tests of pytest
