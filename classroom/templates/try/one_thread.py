"""Threads for a browser's tab, which has only one.

A second thread runs to its end as soon as it starts, and waiting for an event or for
the thread ends at once. Each thread still has its own `threading.local`.
"""

import _threading_local
import threading
from sys import exc_info
from threading import Thread, get_ident


def start(thread: Thread) -> None:
    """Run a thread, which is the current one meanwhile.

    Raises RuntimeError for a daemon, which would not end.
    """
    if thread.daemon:
        raise RuntimeError("can't start new thread")
    active = threading._active
    outer, active[get_ident()] = active.get(get_ident()), thread
    thread._started.set()
    try:
        thread.run()
    except Exception:
        threading.excepthook(threading.ExceptHookArgs((*exc_info(), thread)))
    finally:
        active[get_ident()] = outer
        thread._is_stopped = True


threading.local = _threading_local.local
Thread.start = start
Thread.join = lambda thread, timeout=None: None
threading.Event.wait = lambda event, timeout=None: event.is_set()
