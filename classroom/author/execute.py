"""Run notebooks for `build`, so that every run gives the same outputs."""

import base64
import io
import os
import re
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from PIL import Image

from classroom import ROOT
from classroom.author.concerns import fingerprint
from classroom.author.uses import watched, written
from classroom.run.kernels import Runner

PNG = re.compile(r"(data:image/png;base64,)([\w+/=]+)")
PHOTOGRAPH = 10_000  # a picture of more colors keeps them all, at half its resolution
WRITE_USES = "import sys; sys.write_uses()"
CELL_TIMEOUT = 120  # seconds; far beyond the slowest cell on a quiet machine


def execute_and_note(
    notebook: NotebookNode, folder: Path
) -> tuple[NotebookNode, dict[str, str]]:
    """Run all cells; also return a hash for each piece of the course that they used.

    Pictures in the outputs become smaller, because this notebook is stored.
    """
    code = "\n".join(c.source for c in notebook.cells if c.cell_type == "code")
    notebook.cells.append(new_code_cell(WRITE_USES))
    with TemporaryDirectory() as uses:
        notebook = execute(notebook, folder, watched(Path(uses)))
        used = fingerprint(*written(Path(uses)), code)
    del notebook.cells[-1]
    for output in [o for cell in notebook.cells for o in cell.get("outputs", ())]:
        _shrink_png(output)
    return notebook, used


def execute(
    notebook: NotebookNode, folder: Path, variables: Mapping[str, str] | None = None
) -> NotebookNode:
    """Run all cells in a fresh kernel, so that outputs are the same on every run.

    The kernel's environment also has these variables.
    """
    metadata = deepcopy(notebook.metadata)
    client = Runner(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        shutdown_kernel="immediate",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    # Two kernels share the cores: threads of their own would wait for each other
    fixed = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    fixed |= {"PYTHONPATH": str(ROOT)}
    client.execute(env=os.environ | fixed | (variables or {}))
    notebook.metadata = metadata
    return notebook


def _shrink_png(output: NotebookNode) -> None:
    data = output.get("data", {})
    if "image/png" in data:
        data["image/png"] = _smaller(data["image/png"]) + "\n"
    if "text/html" in data:
        data["text/html"] = PNG.sub(
            lambda found: found[1] + _smaller(found[2]), data["text/html"]
        )


def _smaller(png: str) -> str:
    """Return a picture in base64, with a palette, or a photograph of half the size."""
    image = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")
    pixels = np.asarray(image).view(np.uint32)
    colors, places, often = np.unique(pixels, return_inverse=True, return_counts=True)
    if len(colors) > PHOTOGRAPH:
        image = image.reduce(2)
    else:  # the most frequent colors; the others become the nearest of them
        colors = colors.view(np.uint8).reshape(-1, 4).astype(int)
        kept = colors[np.argsort(-often, kind="stable")[:256]]
        near = ((colors[:, None] - kept) ** 2).sum(axis=2).argmin(axis=1)
        indices = near[places].reshape(image.size[::-1]).astype(np.uint8)
        image = Image.fromarray(indices, "P")
        image.putpalette(kept.astype(np.uint8).tobytes(), "RGBA")
    small = io.BytesIO()
    image.save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode()
