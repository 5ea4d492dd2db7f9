"""Opening a notebook of the course in JupyterLab changes nothing in it.

JupyterLab notes in a notebook which Python has opened it, down to the version. Where
that differs from what stands there, the notebook counts as changed, is saved so, and a
question comes up when it is closed.
"""

from functools import cache
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import get_kernel_spec
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from classroom.notebook.files import KERNEL


class CourseContents(AsyncLargeFileManager):
    """Shows the course's notebooks as noted by this Python, and stores them by none."""

    async def get(self, path: str, *words: Any, **options: Any) -> dict[str, Any]:
        """Return a file, or a folder, as JupyterLab is to see it."""
        model = await super().get(path, *words, **options)
        if is_ours(model):
            model["content"]["metadata"] |= noted()
        return model

    async def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        """Save a file; one of the course's without what JupyterLab noted in it."""
        if is_ours(model):
            model["content"]["metadata"] |= KERNEL
        return await super().save(model, path)


def is_ours(model: dict[str, Any]) -> bool:
    """Tell whether a model has the content of a notebook of the course.

    One for which somebody has chosen another kernel keeps that.
    """
    content = model.get("content") if model.get("type") == "notebook" else None
    about = content["metadata"] if content else {}
    kernel = about.get("kernelspec", {}).get("name", "python3")
    return "minigrad" in about and kernel == "python3"


@cache
def noted() -> dict[str, Any]:
    """Return what JupyterLab would note in a notebook that this Python runs."""
    spec = get_kernel_spec("python3")
    name = {"display_name": spec.display_name, "language": spec.language}
    kernel = name | {"name": "python3"}
    return {"kernelspec": kernel, "language_info": dict(IPythonKernel.language_info)}
