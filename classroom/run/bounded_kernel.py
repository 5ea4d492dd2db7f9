"""A kernel in which no cell can hang, flood or kill what comes after it.

nbval alone would wait twice the time-out for a kernel that is dead, and keep 100 MB of
output many times over.
"""

import subprocess
from collections import deque
from pathlib import Path
from queue import Empty
from time import monotonic

from nbval.kernel import RunningKernel

from classroom.run.kernels import start_new_kernel
from classroom.run.messages import OUTPUT_LIMIT, message, opened, plain

MEMORY_LIMIT = 4 << 30  # bytes that the kernel may hold (not on Windows)
GRACE = 1.5  # seconds an interrupted cell has to stop
CHECKS = "check", "hidden"

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
            from classroom.run.sandbox import start_kernel

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
        msg_id = self.run(cell_input)
        if self.place["role"] != "hidden" and not self.stopped:
            self.done.append((self.place["exercise"], self.place["role"], cell_input))
        return msg_id

    def forget(self, exercise: str, role: str) -> None:
        """Note that an exercise failed. Its cells stay, as in the learner's own kernel.

        But what had to be stopped is not run again, nor what only a law refused; nor,
        where it is graded, what a check did: that it took back a piece of the package
        is not trusted there.
        """
        by_law = role == "law"
        if self.stopped or by_law or (self.sandboxed and role in CHECKS):
            self.done = [d for d in self.done if d[0] != exercise or not d[1]]
        self.spoilt |= self.sandboxed or by_law

    def run(self, source: str) -> str:
        """Run `source`, or make it end; return its id."""
        msg_id, messages, self.stopped = "", [], "Late"
        if self.left > 0:
            start = monotonic()
            msg_id = self.kc.execute(source, store_history=False, allow_stdin=False)
            messages, self.stopped = self.collect(msg_id)
            self.left -= monotonic() - start
        if self.stopped:
            self.spoilt = True
            told = [m for m in messages if m["msg_type"] == "error"][:1]
            messages = told or [message("error", msg_id, plain("error", {}))]
        if self.place["role"] in CHECKS:  # a warning makes nothing wrong
            messages = [m for m in messages if m["content"].get("name") != "stderr"]
        idle = message("status", msg_id, {"execution_state": "idle"})
        self.inbox = deque([*messages, idle])
        return msg_id

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
                    return messages, verdict
                size += message["size"]
                if size <= OUTPUT_LIMIT:
                    messages.append(message)
            stop = "Flood" if size > OUTPUT_LIMIT else "Slow"
            if verdict and monotonic() > deadline:
                return messages, verdict
            if not verdict and (size > OUTPUT_LIMIT or monotonic() > deadline):
                verdict, deadline = stop, monotonic() + GRACE
                self.km.interrupt_kernel()

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

    def is_alive(self) -> bool:
        return True  # a dead one is replaced before the next cell
