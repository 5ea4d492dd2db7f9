"""Starts kernels, once more where one ended, or hung, before it could answer.

Jupyter looks for free ports and lets go of them before the kernel takes them, half a
second later. With several kernels at a time, another may be quicker, and the kernel
ends. Seldom, one lives and never answers.
As a plugin of pytest: `-p nbval.plugin -p classroom.run.kernels`.
"""

from contextlib import suppress

import nbval.kernel
from nbclient import NotebookClient

start_once = nbval.kernel.start_new_kernel


def start_new_kernel(startup_timeout=60, *args, **kwargs):
    """Start a kernel as nbval does, which raises RuntimeError if it does not answer.

    The first one has half of `startup_timeout`, in seconds.
    """
    with suppress(RuntimeError):
        return start_once(startup_timeout / 2, *args, **kwargs)
    return start_once(startup_timeout, *args, **kwargs)


class Runner(NotebookClient):
    """Runs notebooks as nbclient does; their kernel, too, is started once more."""

    async def async_start_new_kernel(self, **kwargs) -> None:
        await super().async_start_new_kernel(**kwargs)
        try:
            await self.async_start_new_kernel_client()
        except RuntimeError:
            self.km = self.create_kernel_manager()  # the client dropped the first one
            await super().async_start_new_kernel(**kwargs)


nbval.kernel.start_new_kernel = start_new_kernel  # for notebooks as tests of pytest
