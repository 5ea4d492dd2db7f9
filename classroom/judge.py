"""Run grafted notebooks under nbval, and write down what each of their cells did.

check.py calls `main` in a process of its own. nbval alone would wait twice the time-out
for a kernel that is dead, and keep 100 MB of output many times over; so its kernel is
replaced by one that is bounded, and that starts afresh after a cell which spoilt it.
"""

import ast
import json
import re
import subprocess
from collections import defaultdict, deque
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import TextIO

import classroom.quick  # noqa: F401  (before nbval, which loads faster for it)

# isort: split
import nbval.plugin
import pytest
from jupyter_client.session import Session
from nbval.kernel import RunningKernel

from classroom.kernels import start_new_kernel
from classroom.notebooks import as_table, has_header
from classroom.verdict import is_forgiven

OUTPUT_LIMIT = 1_000_000  # characters that one cell may show
MEMORY_LIMIT = 4 << 30  # bytes that the kernel may hold (not on Windows)
JUDGE_MEMORY = 1 << 30  # bytes that the judge of a sandbox may hold
GRACE = 1.5  # seconds an interrupted cell has to stop
CHECKS = "check", "hidden"
DEFINE = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign)
POWERFUL = {"sys", "os", "builtins", "gc", "ctypes", "signal", "threading", "IPython"}
POWERFUL |= {"classroom", "subprocess", "multiprocessing", "inspect", "importlib"}
POWERFUL |= {"setattr", "delattr", "exec", "eval", "globals", "vars", "get_ipython"}
POWERFUL |= {"__import__", "__builtins__", "getattr"}
NUMBER = re.compile(r"-?\d+\.\d+")
KEPT = 6_000  # characters of any one text that are reported
HEADERS = 20_000  # bytes that tell what kind a message is, and whose; in fact, 600
ENVELOPE = 100  # characters that a message counts for, if it has nothing in it

# Runs first in every kernel. Streams are cut off where they are flushed: IPython puts
# `write` back when it is patched.
BOUNDS = f"""
def _bound(max=max):
    from ipykernel.iostream import OutStream
    flush, sent = OutStream._flush_buffers, [None, 0]
    def bounded(stream):
        for parent, text in flush(stream):
            cell = (parent.get("header") or parent).get("msg_id")
            sent[:] = [cell, sent[1] if sent[0] == cell else 0]
            text = text[: max(0, {OUTPUT_LIMIT + 1} - sent[1])]
            sent[1] += len(text)
            yield parent, text
    OutStream._flush_buffers = bounded
    try:
        import resource
        most = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, ({MEMORY_LIMIT}, most))
    except (ImportError, ValueError, OSError):
        pass
_bound()
del _bound
"""


class BoundedKernel(RunningKernel):
    """nbval's kernel, but no cell can hang, flood or kill what comes after it.

    A cell runs to its end inside `execute_cell_input`; what it sent is kept for nbval
    to read afterwards. After a `Slow`, `Died` or `Flood`, which nbval sees as errors,
    the next cell gets a new kernel in which the good cells ran again.
    """

    folder = "."
    timeout, total = 20.0, 400.0
    sandboxed = False

    def __init__(
        self, kernel_name: str, cwd: str | None = None, startup_timeout: float = 60
    ) -> None:
        self.kernel_name, self.startup_timeout = kernel_name, startup_timeout
        self.done = []  # (exercise, role, source) of what a new kernel has to run
        self.left = self.total
        self.spoilt, self.stopped = False, None
        self.place = {"exercise": None, "role": ""}
        self.start()

    def start(self) -> None:
        self.inbox = self.watch = None
        silent = ["--HistoryManager.enabled=False"]
        if self.sandboxed:
            from classroom.sandbox import start_kernel

            folder = Path(self.folder)
            started = start_kernel(folder, self.startup_timeout, silent)
            self.km, self.kc, self.watch = started
        else:
            self.km, self.kc = start_new_kernel(
                self.startup_timeout,
                self.kernel_name,
                cwd=self.folder,
                stderr=subprocess.DEVNULL,
                extra_arguments=silent,
            )
        self._ensure_iopub_up()
        self.run(BOUNDS)
        self.spoilt = False

    def execute_cell_input(
        self, cell_input: str, allow_stdin: bool | None = None
    ) -> str:
        if self.spoilt and self.left > 0:
            self.stop()
            self.start()
            for _, _, source in self.done:
                self.run(source)
        msg_id, failed = self.run(cell_input)
        if self.place["role"] not in CHECKS and not failed:
            self.done.append((self.place["exercise"], self.place["role"], cell_input))
        return msg_id

    def is_spoilt_by(self, event: dict) -> bool:
        """Return whether what failed may have changed more than its own exercise.

        Where it is graded, an answer is trusted to define things only if it looks so.
        """
        if event["role"] not in CHECKS or not self.sandboxed:
            return event["role"] != "check"
        answers = [d[2] for d in self.done if d[0] == event["exercise"] and d[1]]
        kept = event["role"] == "hidden" and any(map(has_header, answers))
        return kept or not all(map(only_defines, answers))

    def forget(self, exercise: str | None, spoilt: bool) -> None:
        """An exercise failed: run its answer no more, and start afresh if `spoilt`."""
        self.done = [d for d in self.done if d[0] != exercise or not d[1]]
        self.spoilt = self.spoilt or spoilt

    def run(self, source: str) -> tuple[str, bool]:
        """Run `source`, or make it end; returns its id and whether it failed."""
        msg_id, messages, self.stopped = "", [], "Late"
        if self.left > 0:
            start = monotonic()
            msg_id = self.kc.execute(source, store_history=False, allow_stdin=False)
            messages, self.stopped = self.collect(msg_id)
            self.left -= monotonic() - start
        if self.stopped:
            self.spoilt = True
            told = [m for m in messages if m["msg_type"] == "error"][:1]
            messages = told or [_message("error", msg_id, _plain("error", {}))]
        if self.place["role"] in CHECKS:  # a warning makes nothing wrong
            messages = [m for m in messages if m["content"].get("name") != "stderr"]
        failed = any(m["msg_type"] == "error" for m in messages)
        idle = _message("status", msg_id, {"execution_state": "idle"})
        self.inbox = deque([*messages, idle])
        return msg_id, failed

    def collect(self, msg_id: str) -> tuple[list[dict], str | None]:
        """The messages of a running cell, and Slow, Died or Flood if it was stopped."""
        messages, size, verdict = [], 0, None
        deadline = monotonic() + self.timeout
        while True:
            message = self.next_message()
            if message is None and not self.km.is_alive():
                too_much = self.watch and self.watch.reason
                return messages, verdict or too_much or "Died"
            if message and message["parent_header"]["msg_id"] == msg_id:
                if message["content"].get("execution_state") == "idle":
                    return messages, verdict or self.asked_to_exit(msg_id)
                size += message["size"]
                if size <= OUTPUT_LIMIT:
                    messages.append(message)
            stop = "Flood" if size > OUTPUT_LIMIT else "Slow"
            if verdict and monotonic() > deadline:
                return messages, verdict
            if not verdict and (size > OUTPUT_LIMIT or monotonic() > deadline):
                verdict, deadline = stop, monotonic() + GRACE
                self.km.interrupt_kernel()

    def next_message(self, channel: str = "iopub", seconds: float = 0.1) -> dict | None:
        socket = getattr(self.kc, f"{channel}_channel").socket
        if not socket.poll(1000 * seconds):
            return None
        return opened(self.kc.session, socket.recv_multipart())

    def asked_to_exit(self, msg_id: str) -> str | None:
        """`exit()` lets the cell end well, and stops the kernel a moment later."""
        deadline = monotonic() + 1
        while monotonic() < deadline:
            reply = self.next_message("shell")
            if reply and reply["parent_header"]["msg_id"] == msg_id:
                return "Died" if "ask_exit" in reply["content"]["payload"] else None
        return "Died"

    def get_message(self, stream: str, timeout: float | None = None) -> dict:
        if self.inbox is None:
            return super().get_message(stream, timeout)
        if not self.inbox:
            raise Empty
        return self.inbox.popleft()

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        if self.inbox is None:
            super().await_reply(msg_id, timeout)

    def is_alive(self) -> bool:
        return True  # a dead one is replaced before the next cell


def only_defines(source: str) -> bool:
    """Return whether `source` only defines and assigns names, as far as can be seen."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    if not all(isinstance(statement, DEFINE) for statement in tree.body):
        return False
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        elif isinstance(node, ast.Import):
            modules = [each.name for each in node.names]
        if POWERFUL & {each.partition(".")[0] for each in modules}:
            return False
        if isinstance(node, ast.Name) and node.id in POWERFUL:
            return False
        stored = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
        if stored and not (
            isinstance(node.value, ast.Name) and node.value.id == "self"
        ):
            return False
    return True


def opened(session: Session, frames: list[bytes]) -> dict | None:
    """Return what a kernel sent, or None if it is no message: nothing in it is trusted.

    What is longer than a cell may show is not read, but for whose it is and how long.
    """
    try:
        _, (_, header, parent, *rest) = session.feed_identities(frames)
        if len(header) + len(parent) > HEADERS:
            return None
        kind = str(session.unpack(header)["msg_type"])
        msg_id = str(session.unpack(parent).get("msg_id"))
        size = ENVELOPE + sum(len(str(part, "utf-8", "replace")) for part in rest)
        content = session.unpack(rest[1]) if size <= OUTPUT_LIMIT else {}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return _message(kind, msg_id, _plain(kind, as_table(content))) | {"size": size}


def _plain(kind: str, content: dict) -> dict:
    """Return what nbval reads of a message, each part of the type that it expects."""
    if kind == "error":
        lines = content.get("traceback")
        kept = {key: _text(content.get(key))[:KEPT] for key in ("ename", "evalue")}
        return {**kept, "traceback": [*map(_text, lines if _is_list(lines) else [])]}
    if kind == "stream":
        return {key: _text(content.get(key)) for key in ("name", "text")}
    if kind in ("display_data", "execute_result"):
        data = as_table(content.get("data"))
        shown = {key: _text(value) for key, value in data.items()}
        return {"data": shown, "metadata": {}, "execution_count": 1}
    if kind == "execute_reply":
        payload = content.get("payload")
        payload = map(as_table, payload if _is_list(payload) else [])
        return {"payload": [_text(each.get("source")) for each in payload]}
    return {"execution_state": _text(content.get("execution_state"))}


def _message(kind: str, msg_id: str, content: dict) -> dict:
    return {"msg_type": kind, "parent_header": {"msg_id": msg_id}, "content": content}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_list(value: object) -> bool:
    return isinstance(value, list)


class Recorder:
    """Tells the kernel which cell comes, and writes down how each one went."""

    def __init__(self, events: TextIO) -> None:
        self.events = events
        self.failed = defaultdict(set)  # exercises, by notebook

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        place, failed = item.cell.metadata.minigrad, self.failed[item.path]
        if None in failed or (place.role and place.exercise in failed):
            pytest.skip("its exercise has failed already")
        item.parent.kernel.place = place
        if place.role in ("answer", "extra"):
            item.options.clear()  # NBVAL_ marks in an answer have no say

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo
    ) -> None:
        skipped = call.excinfo and call.excinfo.errisinstance(pytest.skip.Exception)
        if skipped or (call.when != "call" and not call.excinfo):
            return
        kernel = item.parent.kernel
        stopped = kernel.stopped if kernel else None
        event = _what_happened(item, call.excinfo, stopped)
        event |= {**item.cell.metadata.minigrad, "notebook": item.path.stem}
        self.events.write(json.dumps(event) + "\n")
        self.events.flush()
        if event["failed"] and not is_forgiven(event):
            self.failed[item.path].add(event["exercise"])
            if kernel:
                kernel.forget(event["exercise"], kernel.is_spoilt_by(event))


def _what_happened(item, excinfo, stopped):
    """Return why a cell failed, in a word of ours or None, and what is told of it."""
    outputs = item.test_outputs or []
    errors = [o for o in outputs if o.output_type == "error"]
    if excinfo is None:
        return {"failed": None}
    if errors:
        told = {key: errors[0][key] for key in ("ename", "evalue")}
        told["traceback"] = "\n".join(errors[0].traceback)[-KEPT:]
        return {"failed": stopped or "raised", **told}
    if str(excinfo.value) == "Cell outputs differ":
        expected, got = _as_text(item.cell.outputs), _as_text(outputs)
        hidden = item.cell.metadata.minigrad.role == "hidden"
        if hidden and same_numbers(expected, got):
            return {"failed": None}
        return {"failed": "differs", "expected": expected[:KEPT], "got": got[:KEPT]}
    told = {"ename": excinfo.typename, "evalue": str(excinfo.value)[:KEPT]}
    return {"failed": "raised", **told}


def same_numbers(expected: str, got: str) -> bool:
    """Return whether two texts differ in numbers' last digits only, and by one.

    Sums in another order may round to another last digit.
    """
    pairs = list(zip(expected.split(), got.split()))
    if len(expected.split()) != len(got.split()):
        return False
    return all(a == b or _next_to(a, b) for a, b in pairs)


def _next_to(a, b):
    if not (NUMBER.fullmatch(a) and NUMBER.fullmatch(b)):
        return False
    decimals = len(a.partition(".")[2])
    near = abs(float(a) - float(b)) < 1.5 * 10**-decimals
    return near and len(b.partition(".")[2]) == decimals


def _as_text(outputs):
    texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs]
    return "".join(texts)


def bound_memory(most: int) -> None:
    """Limit what this process may hold; those it starts set limits of their own."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def main(
    notebooks: Path,
    events: Path,
    folder: Path,
    timeout: float,
    total: float,
    sanitizer: Path,
    sandboxed: bool,
) -> int:
    """Run all in the folder `notebooks`, for seconds: `timeout` a cell, `total` each.

    Each has a kernel of its own, which works in `folder`, or in a sandbox whose sockets
    are made in `folder`. The file `events` gets one JSON object per line.
    Returns pytest's exit code.
    """
    if sandboxed:
        bound_memory(JUDGE_MEMORY)
    BoundedKernel.folder, BoundedKernel.sandboxed = str(folder), sandboxed
    BoundedKernel.timeout, BoundedKernel.total = timeout, total
    nbval.plugin.RunningKernel = BoundedKernel
    options = ["--nbval-lax", "--nbval-current-env", "--nbval-sanitize-with"]
    plugins = ["-p", "nbval.plugin", "-p", "no:cacheprovider", "-s", "--color=no"]
    plugins += ["--continue-on-collection-errors"]  # only Ctrl-C is an interrupt
    settings = notebooks / "empty.ini"  # no settings
    with settings.open("w"), events.open("w", encoding="utf-8") as file:
        words = [*plugins, *options, sanitizer, "-c", settings, notebooks]
        return pytest.main(list(map(str, words)), plugins=[Recorder(file)])
