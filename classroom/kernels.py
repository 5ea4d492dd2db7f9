"""Starts kernels, once more where one ended before it could answer.

Jupyter looks for free ports and lets go of them before the kernel takes them, half a
second later. With several kernels at a time, another may be quicker, and the kernel
ends. As a plugin of pytest: `-p nbval.plugin -p classroom.kernels`.
"""

import nbval.kernel
from nbclient import NotebookClient

start_once = nbval.kernel.start_new_kernel


def start_new_kernel(*args, **kwargs):
    """Start a kernel as nbval does, which raises RuntimeError if it does not answer."""
    try:
        return start_once(*args, **kwargs)
    except RuntimeError as error:
        if not ended(error):
            raise
    return start_once(*args, **kwargs)


class Runner(NotebookClient):
    """Runs notebooks as nbclient does; their kernel starts as above."""

    async def async_start_new_kernel(self, **kwargs) -> None:
        await super().async_start_new_kernel(**kwargs)
        try:
            await self.async_start_new_kernel_client()
        except RuntimeError as error:
            if not ended(error):
                raise
            self.km = self.create_kernel_manager()  # the client dropped the first one
            await super().async_start_new_kernel(**kwargs)


def ended(error: RuntimeError) -> bool:
    """Return whether a kernel ended, rather than took too long to answer."""
    return "died" in str(error)


nbval.kernel.start_new_kernel = start_new_kernel  # for notebooks as tests of pytest
