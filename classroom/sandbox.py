"""Where submissions run: each notebook's kernel in a sandbox by bubblewrap.

In it there is no network and no other process to see; of this machine's files only
Python, the system's libraries, the package and what check cells import can be read;
what is written goes to a small home in memory that is thrown away. Bubblewrap limits
neither memory nor processes: the limits of the operating system do, and a watch from
outside, which also adds up what many small processes hold.
"""

import json
import os
import shutil
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import psutil
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

from classroom.notebooks import ROOT

HOME = "/home/student"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
FROM_ETC = ("ld.so.cache", "alternatives", "localtime", "fonts", "ssl/openssl.cnf")
VISIBLE = ("minigrad", *(f"classroom/{n}.py" for n in ("__init__", "live", "checks")))
MADE = ("/", "/tmp", "/usr", "/home", HOME)
UIDS = range(61_000, 64_000)  # of nobody; each sandbox that root starts takes one

# Runs inside, before anything else: root's child gives up its rights, limits bind.
ENTER = """
import os, resource, sys
uid, memory, processes, cpu, size, *command = sys.argv[1:]
limits = [("DATA", memory), ("CPU", cpu), ("FSIZE", size), ("CORE", 0)]
limits += [("NPROC", processes), ("NOFILE", 1024), ("MSGQUEUE", 0)]
if int(uid):
    os.setgroups([])
    os.setresgid(*[int(uid)] * 3)
    os.setresuid(*[int(uid)] * 3)
for name, most in limits:
    resource.setrlimit(getattr(resource, "RLIMIT_" + name), (int(most), int(most)))
os.execv(command[0], command)
"""


class NoSandbox(Exception):
    """Submissions cannot be kept apart on this machine; the text says why."""


@dataclass(frozen=True)
class Limits:
    """What one kernel may use."""

    memory: int = 2 << 30  # bytes, of a process and of all together
    processes: int = 64  # and threads
    cpu: int = 120  # seconds of a process
    file: int = 64 << 20  # bytes of a file, and of the home


LIMITS = Limits()


def command(inner: list[str], folder: Path, limits: Limits = LIMITS) -> list[str]:
    """Return the command that runs `inner` in a sandbox which may write in `folder`.

    `folder` is there under the same path, for the kernel's sockets.
    """
    root = os.geteuid() == 0
    words = ["bwrap", "--die-with-parent", "--new-session", "--clearenv"]
    words += [f"--unshare-{what}" for what in ("ipc", "pid", "net", "uts")]
    words += ["--unshare-cgroup-try"]
    if root:
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for place in ("/dev/shm", "/tmp", HOME):
        words += ["--perms", "1777", "--size", str(limits.file), "--tmpfs", place]
    words += _readable()
    words += [*_folders(folder, "0755"), "--bind", str(folder), str(folder)]
    words += ["--chdir", HOME]
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    for name, value in _environment().items():
        words += ["--setenv", name, value]
    uid = UIDS[int.from_bytes(os.urandom(4)) % len(UIDS)] if root else 0
    numbers = [uid, limits.memory, limits.processes, limits.cpu, limits.file]
    enter = [sys.executable, "-I", "-S", "-c", ENTER, *map(str, numbers)]
    return [*words, "--", *enter, *inner]


def _readable() -> list[str]:
    """Return the words that bind what may be read, and no more of the course."""
    words = []
    for place in map(Path, SYSTEM):
        if place.is_symlink():
            words += ["--symlink", os.readlink(place), str(place)]
        elif place.exists():
            words += ["--ro-bind", str(place), str(place)]
    pythons = {Path(p) for p in (sys.prefix, sys.base_prefix, *site.getsitepackages())}
    pythons |= {Path(os.path.realpath(sys.executable)).parent.parent}
    ours = [ROOT / name for name in VISIBLE]
    etc = [Path("/etc") / name for name in FROM_ETC]
    for place in sorted({*pythons, *ours, *etc}):
        if place.exists() and not place.is_relative_to("/usr"):
            words += [*_folders(place, "0755"), "--ro-bind", str(place), str(place)]
    if fonts := _font_list():
        place = f"{HOME}/.cache/matplotlib/{fonts.name}"
        words += [*_folders(Path(place), "1777"), "--ro-bind", str(fonts), place]
    return words


def _folders(place: Path, mode: str) -> list[str]:
    """Return the words that make what leads to a place; bubblewrap makes it private."""
    above = [p for p in reversed(place.parents) if str(p) not in MADE]
    return [word for p in above for word in ("--perms", mode, "--dir", str(p))]


def _font_list() -> Path | None:
    """Return Matplotlib's list of fonts, which takes seconds to make anew."""
    found = sorted(Path(matplotlib.get_cachedir()).glob("fontlist-v*.json"))
    return found[-1] if found else None


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    one = {f"{kind}_NUM_THREADS": "1" for kind in ("OMP", "OPENBLAS", "MKL")}
    about = {"HOME": HOME, "PATH": path, "LANG": "C.UTF-8", "USER": "student"}
    return {**about, **one, "PYTHONDONTWRITEBYTECODE": "1"}


# --- kernels -----------------------------------------------------------------------


def start_kernel(
    folder: Path, timeout: float, arguments: list[str], limits: Limits = LIMITS
) -> tuple[KernelManager, BlockingKernelClient, "Watch"]:
    """Start a kernel in a sandbox, its sockets in a new folder within `folder`."""
    place = Path(tempfile.mkdtemp(dir=folder))
    place.chmod(0o777)  # so that the kernel, another user, can make its sockets
    launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = KernelSpec(
        argv=command([*launch, *arguments], place, limits),
        language="python",
        display_name="sandbox",
        interrupt_mode="message",  # a signal would end bubblewrap itself
    )
    manager = KernelManager(transport="ipc", connection_file=f"{place}/k.json")
    manager._kernel_spec = spec
    manager.write_connection_file()
    os.chmod(manager.connection_file, 0o644)  # for the kernel, another user, to read
    manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = manager.client()
    client.start_channels()
    watch = Watch(manager, place, limits)
    try:
        client.wait_for_ready(timeout=timeout)
    except RuntimeError:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        raise
    place.chmod(0o755)
    return manager, client, watch


class Watch(threading.Thread):
    """Ends a kernel whose processes hold too much together; `reason` then says what."""

    def __init__(self, manager: KernelManager, folder: Path, limits: Limits):
        super().__init__(daemon=True)
        self.process = psutil.Process(manager.provisioner.pid)
        self.folder, self.limits, self.reason = folder, limits, None
        self.start()

    def run(self) -> None:
        while self.process.is_running() and self.reason is None:
            try:
                if self.too_much():
                    self.reason = "Memory"
                    self.process.kill()
            except (psutil.Error, OSError):
                pass
            time.sleep(0.2)

    def too_much(self) -> bool:
        """Return whether memory, or the files that can be written, are used up."""
        inside = self.process.children(recursive=True)
        held = sum(process.memory_info().rss for process in inside)
        files = [f.stat().st_size for f in self.folder.rglob("*") if f.is_file()]
        return held > self.limits.memory or sum(files) > self.limits.file


# --- seen to work ------------------------------------------------------------------

PROBE = """
import json, os, socket, sys
secret, port = sys.argv[1:]
address = "127.0.0.1", int(port)
def possible(action):
    try:
        action()
    except (OSError, MemoryError, AttributeError):
        return False
    return True
def fork():
    children = []
    try:
        for _ in range(200):
            child = os.fork()
            if not child:
                import time
                time.sleep(5)
                os._exit(0)
            children.append(child)
    finally:
        for child in children:
            os.kill(child, 9)
print(json.dumps({
    "read the course's solutions": possible(lambda: open(secret).read()),
    "open a connection": possible(lambda: socket.create_connection(address, 2)),
    "see other processes": sum(map(str.isdigit, os.listdir("/proc"))) > 4,
    "write into the course": possible(lambda: open(sys.prefix + "/sandbox_probe", "w")),
    "use memory without a limit": possible(lambda: bytearray(8 << 30)),
    "start any number of processes": possible(fork),
    "become another user": possible(lambda: os.setuid(0)) and os.getuid() == 0,
    "run at all": True,
}))
"""


def require() -> None:
    """Raise NoSandbox unless a sandbox has been seen to hold what is tried in it."""
    if sys.platform != "linux":
        raise NoSandbox("bubblewrap, which makes the sandbox, is for Linux only")
    if not shutil.which("bwrap"):
        raise NoSandbox(
            "bubblewrap, which makes the sandbox, is not installed (on Debian and "
            "Ubuntu: `sudo apt install bubblewrap`)"
        )
    found = probe()
    escaped = [what for what, possible in found.items() if possible]
    if escaped != ["run at all"]:
        what = ", ".join(escaped[:-1]) or "nothing, not even run"
        raise NoSandbox(f"in bubblewrap's sandbox a program could {what}")


def probe() -> dict[str, bool]:
    """Return what a program in a sandbox was able to do."""
    secret = next((ROOT / "solutions").glob("*.ipynb"))
    server = socket.create_server(("127.0.0.1", 0))
    with tempfile.TemporaryDirectory() as folder, server:
        port = server.getsockname()[1]
        words = ["-I", "-c", PROBE, str(secret), str(port)]
        run = subprocess.run(
            command([sys.executable, *words], Path(folder)),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=60,
        )
    try:
        return json.loads(run.stdout)
    except ValueError:
        last = run.stderr.strip().splitlines()[-1:] or [f"code {run.returncode}"]
        raise NoSandbox(f"bubblewrap did not work here: {last[0]}") from None
