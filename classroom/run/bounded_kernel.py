"""A kernel in which no cell can hang, flood or kill what comes after it.

nbval alone would wait twice the time-out for a kernel that is dead, and keep 100 MB of
output many times over.
"""

import socket
import subprocess
from collections import deque
from contextlib import suppress
from pathlib import Path
from queue import Empty
from time import monotonic

import psutil
from jupyter_client.session import Session
from nbval.kernel import RunningKernel

from classroom.notebook.files import as_table
from classroom.notebook.source_code import has_header
from classroom.run.kernels import start_new_kernel
from classroom.run.roles import ROLES

MEMORY_LIMIT = 4 << 30  # bytes that the kernel may hold (not on Windows)
GRACE = 1.5  # seconds an interrupted cell has to stop
PATIENCE = 5  # times the time-out, for a cell that the machine lets work too seldom
AT_REST = 0.02  # of the time; who works less does not wait for the processor
SPAN = 1.0  # seconds that are told of together
BREATH = 0.2  # seconds that count, at most, from one look at a cell to the next
CRASHED = {*range(128, 160), *range(0xC0000000, 0xC0001000)}  # or what is below zero
OUTPUT_LIMIT = 1_000_000  # characters that one cell may show
KEPT = 6_000  # characters of any one text that are reported
HEADERS = 20_000  # bytes that tell what kind a message is, and whose; in fact, 600
ENVELOPE = 100  # characters that a message counts for, if it has nothing in it

# Runs first in every kernel. Streams are cut off where they are flushed: IPython puts
# `write` back when it is patched. exit() ends Python at once, not after the cell.
BOUNDS = f"""
def _bound(len=len, max=max):  # whatever answers call so
    import os
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
    get_ipython().ask_exit = lambda end=os._exit: end(0)
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

    A cell runs to its end inside `execute_cell_input`, and its messages are kept for
    nbval to read afterwards. After a `Slow`, `Died` or `Flood`, which nbval sees as
    errors, the next cell gets a new kernel in which the good cells ran again.
    """

    folder = "."
    timeout, total = 20.0, 400.0
    sandboxed = False

    def __init__(
        self, kernel_name: str, cwd: str | None = None, startup_timeout: float = 60
    ) -> None:
        self.kernel_name, self.startup_timeout = kernel_name, startup_timeout
        self.done = []  # (exercise or "", source) of what a new kernel has to run
        self.left = self.total
        self.spoilt, self.stopped = False, None
        self.place = {"exercise": None, "role": ""}
        self.start()

    def start(self) -> None:
        self.inbox = self.watch = None
        self.stopped = "Unstarted"
        silent = ["--HistoryManager.enabled=False"]
        if self.sandboxed:
            from classroom.run.sandbox import start_kernel

            folder = Path(self.folder)
            started = start_kernel(folder, self.startup_timeout, silent)
            self.km, self.kc, self.watch = started
        else:
            try_loopback()
            self.km, self.kc = start_new_kernel(
                self.startup_timeout,
                self.kernel_name,
                cwd=self.folder,
                stderr=subprocess.DEVNULL,
                extra_arguments=silent,
            )
        self._ensure_iopub_up()
        self.process = worker(self.km.provisioner.pid)
        self.run(BOUNDS)
        self.spoilt = False

    def execute_cell_input(
        self, cell_input: str, allow_stdin: bool | None = None
    ) -> str:
        if self.spoilt and self.left > 0:
            self.stop()
            self.start()
            for _, source in self.done:
                self.run(source)
        msg_id = self.run(cell_input)
        role = ROLES[self.place["role"]]
        if not (self.stopped or role.secret):
            whose = self.place["exercise"] if role.needs_answer else ""
            self.done.append((whose, cell_input))
        return msg_id

    def forget(self, exercise: str, role: str) -> None:
        """Note that an exercise failed. Its cells stay, as in the learner's own kernel.

        But a cell that had to be stopped is not run again, nor a piece of the package
        that only drawn inputs refused. When grading, what a check did is not repeated
        either: it is not trusted to have taken back a piece of the package.
        """
        judges, undone = ROLES[role].judges, ROLES[role].undone
        pieces = [source for whose, source in self.done if whose == exercise]
        undone = undone and any(map(has_header, pieces))
        if self.stopped or undone or (self.sandboxed and judges):
            self.done = [done for done in self.done if done[0] != exercise]
        self.spoilt |= self.sandboxed or undone

    def run(self, source: str) -> str:
        """Run `source`, or make it end; return its id."""
        msg_id, messages, self.stopped = "", [], "Late"
        if self.left > 0:
            msg_id = self.kc.execute(source, store_history=False, allow_stdin=False)
            messages, self.stopped = self.collect(msg_id)
            if self.stopped == "Slow" and any(map(is_import, messages)):
                self.stopped = "Busy"
        if self.stopped:
            self.spoilt = True
            told = [m for m in messages if m["msg_type"] == "error"][:1]
            messages = told or [message("error", msg_id, plain("error", {}))]
        if ROLES[self.place["role"]].judges:  # a warning makes nothing wrong
            messages = [m for m in messages if m["content"].get("name") != "stderr"]
        idle = message("status", msg_id, {"execution_state": "idle"})
        self.inbox = deque([*messages, idle])
        return msg_id

    def collect(self, msg_id: str) -> tuple[list[dict], str | None]:
        """The messages of a running cell, and why it was stopped, if it was."""
        messages, size, verdict, deadline = [], 0, None, 0.0
        clock = Clock(self.process)
        while True:
            message = self.next_message()
            clock.tick()
            if message is None and not self.km.is_alive():
                too_much = self.watch and self.watch.reason
                verdict = verdict or too_much or how_it_ended(self.km)
                break
            if message and message["parent_header"]["msg_id"] == msg_id:
                if message["content"].get("execution_state") == "idle":
                    break
                size += message["size"]
                if size <= OUTPUT_LIMIT:
                    messages.append(message)
            if verdict and monotonic() > deadline:
                break
            if not verdict:
                verdict = "Flood" if size > OUTPUT_LIMIT else clock.over(self.timeout)
                if verdict:
                    deadline = monotonic() + GRACE
                    self.km.interrupt_kernel()
        clock.tell()
        self.left -= clock.counted()[0]
        return messages, verdict

    def next_message(self) -> dict | None:
        socket = self.kc.iopub_channel.socket
        if not socket.poll(100):  # milliseconds
            return None
        return opened(self.kc.session, socket.recv_multipart())

    def get_message(self, stream: str, timeout: float | None = None) -> dict:
        if self.inbox is None:
            return super().get_message(stream, timeout)
        if not self.inbox:
            raise Empty
        return self.inbox.popleft()

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        if self.inbox is None:
            super().await_reply(msg_id, timeout)

    def stop(self) -> None:
        process = self.km.provisioner.process
        self.kc.stop_channels()
        process.kill()
        process.wait()  # at once, while the manager looks ten times a second
        self.km.shutdown_kernel(now=True)

    def is_alive(self) -> bool:
        return True  # a dead one is replaced before the next cell


class Clock:
    """Decides how much of the time that a cell takes counts against it.

    The processor's work for it counts, and all time in which it does nothing. If it
    would work, but other programs do, only a part of the time counts. This is decided
    again for each second or so, because a cell may work first, and then wait.
    """

    def __init__(self, process: psutil.Process | None) -> None:
        self.process, self.before = process, processor_time(process)
        self.lasted, self.seen, self.told = 0.0, monotonic(), 0.0
        self.rested = self.worked = self.awake = 0.0

    def tick(self) -> None:
        """Advance, by a little if this program was itself kept waiting."""
        now = monotonic()
        self.lasted += min(now - self.seen, BREATH)
        self.seen = now
        if self.lasted - self.told >= SPAN:
            self.tell()

    def tell(self) -> None:
        """Add the time since the last call to the time at rest, or to that at work."""
        time = processor_time(self.process)
        span, worked = self.lasted - self.told, time - self.before
        self.told, self.before = self.lasted, time
        if worked < AT_REST * span:
            self.rested += span
        else:
            self.worked += min(worked, span)
            self.awake += span

    def counted(self) -> tuple[float, str]:
        """Return the seconds that count, and their kind if they are too many."""
        patience = self.awake / PATIENCE
        seconds, why = max((self.worked, "Slow"), (patience, "Busy"))
        return self.rested + seconds, "Slow" if self.rested > seconds else why

    def over(self, timeout: float) -> str | None:
        """Return Slow or Busy if more seconds count than `timeout`."""
        seconds, why = self.counted()
        return why if seconds > timeout else None


def worker(pid: int) -> psutil.Process | None:
    """Return the process of a kernel: of all from `pid` on, the one that has worked.

    A sandbox may come before it, or Windows' python.exe of a virtual environment.
    """
    with suppress(psutil.Error):
        first = psutil.Process(pid)
        return max([first, *first.children(recursive=True)], key=processor_time)
    return None


def processor_time(process: psutil.Process | None) -> float:
    """Return the seconds of processor time of a process, or 0 if unknown."""
    with suppress(psutil.Error, AttributeError):
        return sum(process.cpu_times()[:2])  # for the user, and for the system
    return 0.0


def how_it_ended(manager) -> str:
    """Return Died for a kernel that ended by itself, Crashed for one that did not."""
    code = getattr(manager.provisioner.process, "returncode", None) or 0
    return "Crashed" if code < 0 or code in CRASHED else "Died"


def is_import(message: dict) -> bool:
    """Tell whether an error message came while a module was imported."""
    return "<frozen importlib" in "".join(message["content"].get("traceback", ()))


def try_loopback() -> None:
    """Raise OSError if nobody may connect to 127.0.0.1, as a kernel has to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()


# --- the messages of a kernel, checked and rebuilt, because they are not trusted ------


def opened(session: Session, frames: list[bytes]) -> dict | None:
    """Return a kernel's message, or None if it is not one; its content is not trusted.

    If it is longer than a cell may show, only its owner and its length are read.
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
    return message(kind, msg_id, plain(kind, as_table(content))) | {"size": size}


def plain(kind: str, content: dict) -> dict:
    """Return the parts of a message that nbval reads, each of the expected type."""
    if kind == "error":
        lines = content.get("traceback")
        kept = {key: _text(content.get(key))[:KEPT] for key in ("ename", "evalue")}
        lines = lines if isinstance(lines, list) else []
        return {**kept, "traceback": [*map(_text, lines)]}
    if kind == "stream":
        return {key: _text(content.get(key)) for key in ("name", "text")}
    if kind in ("display_data", "execute_result"):
        data = as_table(content.get("data"))
        shown = {key: _text(value) for key, value in data.items()}
        return {"data": shown, "metadata": {}, "execution_count": 1}
    return {"execution_state": _text(content.get("execution_state"))}


def message(kind: str, msg_id: str, content: dict) -> dict:
    return {"msg_type": kind, "parent_header": {"msg_id": msg_id}, "content": content}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
