"""The files that JupyterLab gets: unchanged notebooks, and the learner's home page.

Opening a notebook changes nothing in it.

JupyterLab notes in a notebook which Python has opened it, down to the version. If this
differs from the note in the notebook, the notebook counts as changed and is saved with
the change, and JupyterLab asks a question when it is closed.
"""

from functools import cache
from pathlib import Path
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import get_kernel_spec
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado.web import HTTPError

from classroom.learner.progress import home_page
from classroom.notebook.files import KERNEL, as_table
from classroom.notebook.home import HOME


class CourseContents(AsyncLargeFileManager):
    """Shows the course's notebooks with this Python noted, and stores them without."""

    async def get(self, path: str, *words: Any, **options: Any) -> dict[str, Any]:
        """Return a file, or a folder, as JupyterLab is to see it."""
        model = await super().get(path, *words, **options)
        if path.strip("/") == HOME:
            if model.get("content") is not None:
                model["content"] = home_page(Path(self.root_dir))
            return model
        if is_ours(model):
            model["content"]["metadata"] |= noted()
        return model

    async def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        """Save a file; remove JupyterLab's notes from a notebook of the course."""
        if path.strip("/") == HOME:
            raise HTTPError(403, f"{HOME} is made again whenever it is opened.")
        if is_ours(model):
            model["content"]["metadata"] |= KERNEL
        return await super().save(model, path)


def is_ours(model: dict[str, Any]) -> bool:
    """Tell whether a model has the content of a notebook of the course.

    A notebook for which somebody has chosen another kernel keeps that.
    """
    content = model.get("content") if model.get("type") == "notebook" else None
    about = content["metadata"] if content else {}
    kernel = as_table(about.get("kernelspec")).get("name", "python3")
    return "minigrad" in about and kernel == "python3"


@cache
def noted() -> dict[str, Any]:
    """Return what JupyterLab would note in a notebook that this Python runs."""
    spec = get_kernel_spec("python3")
    name = {"display_name": spec.display_name, "language": spec.language}
    kernel = name | {"name": "python3"}
    return {"kernelspec": kernel, "language_info": dict(IPythonKernel.language_info)}
