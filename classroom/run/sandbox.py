"""The sandbox for submissions: bubblewrap runs each notebook's kernel in one.

In the sandbox there is no network, and no other process is visible. Of this machine's
files, a kernel can read only Python, the system's libraries, the package and the
imports of check cells, in separate places. It writes to a small home in memory, which
is thrown away. Landlock (Linux 5.13) refuses files anywhere else, such as among its
sockets, which are on a disk. Bubblewrap limits neither memory nor processes. The
operating system does, and so does a watch from outside, which adds up the memory of
many small processes. A filter of system calls refuses what neither counts, such as
memory without a process.
"""

import ctypes
import errno
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil
import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

from classroom import ROOT
from classroom.all_or_nothing import Trouble
from classroom.run.kernels import await_answer

HOME = "/home/student"
SOCKETS, COURSE, PACKAGES = map(Path, ("/run/kernel", "/course", "/packages"))
PYTHON = Path(os.path.realpath(sys.executable))
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
FROM_ETC = ("ld.so.cache", "alternatives", "localtime", "fonts", "ssl/openssl.cnf")
DOORS = (f"classroom/{name}.py" for name in ("__init__", "live", "checks"))
VISIBLE = ("minigrad", "classroom/cell", *DOORS)
FROM_PROC = "/proc/cpuinfo"  # PyTorch reads it; the rest tells of this machine
MADE = ("/", "/tmp", "/usr", "/home", HOME)
UIDS = range(61_000, 64_000)  # of nobody; each sandbox that root starts takes one
COUNTED = re.compile(r"^Vm(?:RSS|Swap|PTE):\s*(\d+) kB", re.M)
# What one kernel may use
MEMORY = 2 << 30  # bytes, of a process and of all together
PROCESSES = 64  # and threads
CPU = 120  # seconds of a process
FILE = 64 << 20  # bytes of a file, and of the home
ENTRY = 4096  # bytes that a file takes beside its content
MESSAGE = 8 << 20  # bytes of what a kernel may send at once
WAITING = 16  # messages that wait to be read

# What submissions may not call: what takes memory that belongs to no process,
REFUSED = "shmget msgget semget mount open_tree move_mount fsopen unshare setns "
REFUSED += "memfd_create memfd_secret io_uring_setup bpf "
REFUSED += "clone3 "  # clones whose flags a filter cannot read,
REFUSED += "add_key request_key keyctl "  # the keys of whoever started the kernel,
REFUSED += "inotify_init inotify_init1 fanotify_init "  # watching what others read,
# and attributes of files that no quota counts
REFUSED += "setxattr lsetxattr fsetxattr setxattrat"
NEWER = {"memfd_secret": 447, "setxattrat": 463}  # an older libseccomp lacks them
# Landlock's rights to write to files, and to make files, folders, devices, pipes and
# links. A kernel has them only in memory. On a disk it can only make its sockets.
ONLY_IN_MEMORY = 1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 11 | 1 << 12
NAMESPACES = 0x7E020000  # flags of clone
SHARED_ANONYMOUS = 0x21  # flags of mmap: such pages stay when they are not seen
ALLOW, NO_SUCH_CALL = 0x7FFF0000, 0x50000 | errno.ENOSYS  # seccomp.h has these
WRONG_KIND, MASKED_EQUAL = 2, 7

# Runs inside, before anything else: root's child gives up its rights, limits bind.
ENTER = """
import ctypes, os, resource, struct, sys
uid, memory, processes, cpu, size, calls, rights, *command = sys.argv[1:]
limits = [("DATA", memory), ("CPU", cpu), ("FSIZE", size), ("CORE", 0)]
limits += [("NPROC", processes), ("NOFILE", 256), ("MSGQUEUE", 0)]
if int(uid):
    os.setgroups([])
    os.setresgid(*[int(uid)] * 3)
    os.setresuid(*[int(uid)] * 3)
for name, most in limits:
    resource.setrlimit(getattr(resource, "RLIMIT_" + name), (int(most), int(most)))
calls = ctypes.create_string_buffer(bytes.fromhex(calls))
program = struct.pack("HP", len(calls) // 8, ctypes.addressof(calls))
system = ctypes.CDLL(None)
prctl, call, rights = system.prctl, system.syscall, int(rights)
private = prctl(38, 1, 0, 0, 0) == 0  # no new privileges
if (version := call(444, None, 0, 1)) > 0:  # the system has Landlock
    rights |= (version > 1) << 13  # files may move between folders where they may be
    rules = call(444, struct.pack("Q", rights), 8, 0)
    for place in "/dev", "/tmp", os.environ["HOME"]:
        call(445, rules, 1, struct.pack("=Qi", rights, os.open(place, os.O_PATH)), 0)
    private = private and call(446, rules, 0) == 0
if not private or prctl(22, 2, program):  # the filter
    sys.exit("this system cannot filter system calls")
os.execv(command[0], command)
"""


class NoSandbox(Trouble):
    """Submissions cannot be kept apart on this machine."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"Submissions would run without a sandbox: {why}. To run them "
            "anyway, with your permissions and your files, give --unsafe."
        )


def command(inner: list[str], folder: Path) -> list[str]:
    """Return the command that runs `inner` in a sandbox which may write in `folder`.

    `folder`, for the kernel's sockets, is called SOCKETS there. `inner` is the task for
    Python.
    """
    root = os.geteuid() == 0
    words = ["bwrap", "--die-with-parent", "--new-session", "--clearenv"]
    words += [f"--unshare-{what}" for what in ("ipc", "pid", "net", "uts")]
    words += ["--unshare-cgroup-try"]
    if root:
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user"]
    words += ["--dir", "/proc", "--ro-bind-try", FROM_PROC, FROM_PROC, "--dev", "/dev"]
    words += ["--dev-bind", "/dev/null", "/dev/zero"]  # mapped, it is memory unseen
    for place in ("/dev/shm", "/tmp", HOME):
        words += ["--perms", "1777", "--size", str(FILE), "--tmpfs", place]
    words += _readable()
    words += [*_folders(SOCKETS, "0755"), "--bind", str(folder), str(SOCKETS)]
    words += ["--chdir", HOME]
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    for name, value in _environment().items():
        words += ["--setenv", name, value]
    uid = UIDS[int.from_bytes(os.urandom(4)) % len(UIDS)] if root else 0
    numbers = [uid, MEMORY, PROCESSES, CPU, FILE]
    enter = ["-I", "-S", "-c", ENTER, *map(str, numbers), refused_calls().hex()]
    enter.append(str(ONLY_IN_MEMORY))
    python = str(_inside(PYTHON))
    return [*words, "--", python, *enter, python, *inner]


class Compare(ctypes.Structure):
    """A rule's question: does an argument, where `mask` is 1, have the bits `bits`?"""

    _fields_ = [("place", ctypes.c_uint), ("how", ctypes.c_int)]
    _fields_ += [("mask", ctypes.c_uint64), ("bits", ctypes.c_uint64)]


@cache
def refused_calls() -> bytes:
    """Return the filter that refuses the calls in REFUSED, in the system's own code.

    Raises NoSandbox if libseccomp, which makes it, is missing or fails.
    """
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        raise NoSandbox(
            "libseccomp, which filters system calls, is not installed (on Debian and "
            "Ubuntu: `sudo apt install libseccomp2`)"
        ) from None
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))
    asked = [(name, 0, 0) for name in REFUSED.split()]
    asked += [("clone", 0, 1 << n) for n in range(32) if NAMESPACES >> n & 1]
    asked += [("mmap", 3, SHARED_ANONYMOUS)]
    # What another kind of machine would call has other numbers
    failed = library.seccomp_attr_set(rules, WRONG_KIND, NO_SUCH_CALL)
    for name, place, bits in asked:
        number = library.seccomp_syscall_resolve_name(name.encode())
        number = NEWER.get(name, number) if number == -1 else number
        if_so = ctypes.byref(Compare(place, MASKED_EQUAL, bits, bits))
        words = rules, NO_SUCH_CALL, number, int(bits > 0), if_so
        failed = failed or number == -1 or library.seccomp_rule_add_array(*words)
    with tempfile.TemporaryFile() as file:
        if failed or library.seccomp_export_bpf(rules, file.fileno()):
            raise NoSandbox("libseccomp could not make the filter of system calls")
        file.seek(0)
        return file.read()


def _readable() -> list[str]:
    """Return bubblewrap's options for all readable places."""
    words = []
    for place in map(Path, SYSTEM):
        if place.is_symlink():
            words += ["--symlink", os.readlink(place), str(place)]
        elif place.exists():
            words += ["--ro-bind", str(place), str(place)]
    for place in sorted(_places()):
        inside = _inside(place)
        words += [*_folders(inside, "0755"), "--ro-bind", str(place), str(inside)]
    # Matplotlib's list of fonts, which takes seconds to make anew
    import matplotlib  # here: it takes a third of a second, and a grader has it twice

    for fonts in sorted(Path(matplotlib.get_cachedir()).glob("fontlist-v*.json"))[-1:]:
        place = f"{HOME}/.cache/matplotlib/{fonts.name}"
        words += [*_folders(Path(place), "1777"), "--ro-bind", str(fonts), place]
    return words


@cache
def _places() -> dict[Path, Path]:
    """Map the readable places, besides the system, to their places in the sandbox."""
    places = {ROOT / name: COURSE / name for name in VISIBLE}
    places |= {Path("/etc") / name: Path("/etc") / name for name in FROM_ETC}
    places[PYTHON.parents[1]] = Path("/python")
    for n, kind in enumerate(("purelib", "platlib")):
        places.setdefault(Path(sysconfig.get_path(kind)), PACKAGES / str(n))
    usr = Path("/usr")
    return {p: q for p, q in places.items() if p.exists() and not p.is_relative_to(usr)}


def _inside(path: Path) -> Path:
    """Return where a file of this machine is in the sandbox."""
    for place, inside in _places().items():
        if path.is_relative_to(place):
            return inside / path.relative_to(place)
    return path


def _folders(place: Path, mode: str) -> list[str]:
    """Return the options that make the folders above a place readable."""
    above = [p for p in reversed(place.parents) if str(p) not in MADE]
    return [word for p in above for word in ("--perms", mode, "--dir", str(p))]


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(_inside(PYTHON).parent), "/usr/bin", "/bin"])
    packages = [_inside(Path(sysconfig.get_path(p))) for p in ("purelib", "platlib")]
    found = os.pathsep.join(map(str, [COURSE, *dict.fromkeys(packages)]))
    one = {f"{kind}_NUM_THREADS": "1" for kind in ("OMP", "OPENBLAS", "MKL")}
    about = {"HOME": HOME, "PATH": path, "LANG": "C.UTF-8", "USER": "student"}
    return {**about, **one, "PYTHONPATH": found, "PYTHONDONTWRITEBYTECODE": "1"}


# --- kernels -----------------------------------------------------------------------


def start_kernel(
    folder: Path, timeout: float, arguments: list[str]
) -> tuple[KernelManager, BlockingKernelClient, "Watch"]:
    """Start a kernel in a sandbox, its sockets in a new folder within `folder`."""
    place = Path(tempfile.mkdtemp(dir=folder))
    place.chmod(0o777)  # so that the kernel, another user, can make its sockets
    launch = ["-m", "ipykernel_launcher", "-f", str(SOCKETS / "k.json")]
    spec = KernelSpec(
        argv=command([*launch, *arguments], place),
        language="python",
        display_name="sandbox",
        interrupt_mode="message",  # a signal would end bubblewrap itself
    )
    ours = place / "ours.json"
    manager = KernelManager(
        transport="ipc", connection_file=str(ours), context=_bounded_context()
    )
    manager._kernel_spec = spec
    manager.write_connection_file()
    told = ours.read_text("utf-8").replace(str(place), str(SOCKETS))
    (place / "k.json").write_text(told, encoding="utf-8")
    manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ours.unlink()
    client = manager.client(context=_bounded_context())
    client.start_channels(stdin=False, hb=False, control=False)
    watch = Watch(manager, place)
    await_answer(manager, client, timeout)
    place.chmod(0o755)
    return manager, client, watch


@cache
def _bounded_context() -> zmq.Context:
    """Return a context whose sockets buffer only a few small messages."""
    context = zmq.Context()
    context.setsockopt(zmq.MAXMSGSIZE, MESSAGE)
    context.setsockopt(zmq.RCVHWM, WAITING)
    return context


class Watch(threading.Thread):
    """Ends a kernel whose processes hold too much together; `reason` then says what."""

    def __init__(self, manager: KernelManager, folder: Path):
        super().__init__(daemon=True)
        self.process = psutil.Process(manager.provisioner.pid)
        self.folder, self.reason = folder, None
        self.start()

    def run(self) -> None:
        while self.process.is_running() and self.reason is None:
            with suppress(psutil.Error):
                if self.too_much():
                    self.reason = "Memory"
                    self.process.kill()
            time.sleep(0.2)

    def too_much(self) -> bool:
        """Return whether memory, or the files that can be written, are used up."""
        inside = self.process.children(recursive=True)
        held = sum(memory_of(process.pid) for process in inside)
        files = sum(map(size_of, self.folder.rglob("*")))
        device = self.folder.stat().st_dev
        files += sum(nameless(process.pid, device) for process in inside)
        return held > MEMORY or files > FILE


def memory_of(process: int) -> int:
    """Return the bytes that a process holds, pages swapped out and tables included."""
    with suppress(OSError):  # it has ended
        told = Path(f"/proc/{process}/status").read_text("utf-8", "replace")
        return 1024 * sum(map(int, COUNTED.findall(told)))
    return 0


def size_of(path: Path) -> int:
    """Return the bytes of a file, and of its entry."""
    with suppress(OSError):  # it is gone
        return ENTRY + path.lstat().st_size
    return 0


def nameless(process: int, device: int) -> int:
    """Return the bytes of files of a device that only this process still knows."""
    found = {}
    with suppress(OSError):  # it has ended
        for place in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                about = place.stat()
                if about.st_dev == device and not about.st_nlink:
                    found[about.st_ino] = about.st_size
    return sum(found.values())


def require(*secrets: Path) -> None:
    """Raise NoSandbox unless a program runs in a sandbox here, and sees no secret.

    The course, with its solutions, is always a secret. If something else cannot be kept
    from the program, bubblewrap or ENTER ends it at once.
    """
    shown = [*map(Path, SYSTEM), *_places()]
    for secret in (ROOT, *secrets):
        for place in (p.resolve() for p in shown if p.exists()):
            if secret.resolve().is_relative_to(place):
                raise NoSandbox(f"everything in {place} can be read, also {secret}")
    if sys.platform != "linux":
        raise NoSandbox("bubblewrap, which makes the sandbox, runs only on Linux")
    if not shutil.which("bwrap"):
        raise NoSandbox(
            "bubblewrap, which makes the sandbox, is not installed (on Debian and "
            "Ubuntu: `sudo apt install bubblewrap`)"
        )
    with tempfile.TemporaryDirectory() as folder:
        words = command(["-c", ""], Path(folder))
        quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        run = subprocess.run(words, timeout=60, **quiet)
    if run.returncode:
        said = run.stderr.strip().splitlines() or [f"code {run.returncode}"]
        raise NoSandbox(f"bubblewrap did not work here: {said[-1]}")
