"""course.py, which sets everything up, and the commands lab and test."""

import ast
import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbformat.v4 import new_code_cell, new_notebook, new_output

from classroom import __main__ as commands
from classroom.author import testing
from classroom.learner import lab
from classroom.notebook.files import COURSE, DIGESTS, Unreadable, digests, write_whole

ROOT = Path(__file__).resolve().parents[2]

TEXT = (ROOT / "tests" / "machines" / "small_course.md").read_text("utf-8")
SMALL_COURSE = dict(re.findall(r"## (\S+)\n\n```\w+\n(.*?\n)```", TEXT, re.DOTALL))
COMMAND = SMALL_COURSE["classroom/__main__.py"]


def write_course(folder):
    """Write the small course, with the real course.py, into `folder`."""
    (folder / "classroom").mkdir(parents=True)
    (folder / "chapters").mkdir()  # without it, it is a release to students
    shutil.copy(ROOT / "course.py", folder)
    (folder / "classroom" / "__init__.py").touch()
    shutil.copy(ROOT / "classroom" / "all_or_nothing.py", folder / "classroom")
    for path, text in SMALL_COURSE.items():
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def start(folder, *words, python=sys.executable, **env):
    """Start `course.py` in `folder` as a learner would, without a network or uv."""
    unwanted = ("CI", "CONDA_DEFAULT_ENV")
    kept = {key: value for key, value in os.environ.items() if key not in unwanted}
    return subprocess.Popen(
        [python, str(folder / "course.py"), *words],
        env={**kept, "PIP_NO_INDEX": "1", "PATH": "", "PYTHONUTF8": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def finish(process):
    """Wait for a started course.py; return its exit code and what it printed."""
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in out + err
    return process.returncode, out, err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The small course, in a path that is awkward."""
    return write_course(tmp_path_factory.mktemp("place") / "내 강의 (one)")


@pytest.fixture(scope="module")
def installed(folder):
    """What came of installing it, after an earlier install was broken off."""
    if os.name != "nt":
        os.killpg(half_made(folder).pid, signal.SIGKILL)
    return finish(start(folder, "check", "4"))


def half_made(folder):
    """Start an install, and return it when there is a .venv that cannot be used."""
    process = start(folder, "check")
    while not (folder / ".venv").exists():
        assert process.poll() is None
        time.sleep(0.01)
    return process


@pytest.mark.posix
def test_an_interrupted_install_is_quiet(tmp_path):
    folder = write_course(tmp_path / "course")
    process = half_made(folder)
    assert "right now" in finish(start(folder, "check"))[2]  # a second one
    os.killpg(process.pid, signal.SIGINT)
    code, _, err = finish(process)
    assert (code, err.strip()) == (130, course_in(folder).STOPPED)


def test_the_next_use_installs_and_hands_over(folder, installed):
    code, out, err = installed
    assert (code, err) == (7, "")
    assert "Making .venv" in out
    assert out.splitlines()[-1] == f"['check', '4'] {ascii(str(folder / '.venv'))}"


def test_words_and_exit_code_are_passed_through(folder, installed, tmp_path):
    """And a file where the learner stands replaces no module."""
    words = ["lab", "--no-browser", "--port=9", "두 단어"]
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    with contextlib.chdir(tmp_path):
        code, out, err = finish(start(folder, *words))
    assert (code, err) == (7, "")
    assert out.startswith(ascii(words))


# From here on course.py runs in this process, and only notes what it would run.


def course_in(folder):
    """Return the module course.py of `folder`."""
    spec = importlib.util.spec_from_file_location("course_copy", folder / "course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A module course.py which notes in `course.ran` what it would install or run."""
    for name in ("CI", "CONDA_DEFAULT_ENV"):
        monkeypatch.delenv(name, raising=False)
    module = course_in(write_course(tmp_path / "course"))
    module.ran, module.commands, module.real_run = [], [], module.run

    def run(command):
        module.commands.append(command)
        makes = "venv" in map(str, command)
        module.ran.append("venv" if makes else str(command[-1]))
        if makes:
            module.PYTHON.parent.mkdir(parents=True)
            module.PYTHON.touch()

    module.run = run
    module.hand_over = lambda python, words: 0
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    return module


def test_a_learner_installs_what_learners_need_and_keeps_what_tests_need(
    course, monkeypatch
):
    assert course.main(["grade", "--help"]) == course.main(["build", "-h"]) == 0
    assert course.main(["check"]) == course.main(["progress"]) == 0
    assert course.ran == ["venv", ".[course]"]
    course.main(["test"])
    course.main(["build"])
    course.main(["lab"])
    monkeypatch.setenv("CI", "true")
    course.main(["test"])
    course.main(["site"])
    installs = [".[course]", ".[course,dev]", ".[compare,course,dev,site]"]
    assert course.ran == ["venv", *installs]


def test_a_changed_pyproject_brings_the_venv_up_to_date(course):
    course.main(["test"])
    with open(course.ROOT / "pyproject.toml", "a") as file:
        file.write("# changed\n")
    course.main(["check"])
    assert course.ran == ["venv", ".[course,dev]", ".[course,dev]"]


@pytest.mark.posix
def test_another_patch_release_in_another_folder_is_the_same_python(course, tmp_path):
    def link_to(version):
        python = tmp_path / version / "python3.13"
        python.parent.mkdir()
        python.touch()
        course.PYTHON.unlink()
        course.PYTHON.symlink_to(python)

    course.main(["check"])
    link_to("3.13.1")
    course.STAMP.write_text(json.dumps(course.fingerprint({"extras": ["course"]})))
    link_to("3.13.2")
    course.main(["check"])
    assert course.ran == ["venv", ".[course]"]
    shutil.rmtree(tmp_path / "3.13.2")
    course.main(["check"])
    assert course.ran == ["venv", ".[course]"] * 2


def test_a_new_venv_is_made_by_the_python_outside(course, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(course.PYTHON))
    course.main(["check"])
    made_by = [command[0] for command in course.commands]
    assert made_by == [sys._base_executable, course.PYTHON]


@pytest.mark.parametrize("damage", ["no stamp", "no python", "spoilt", "moved"])
def test_a_half_made_or_moved_venv_is_made_anew(course, damage):
    course.main(["test"])
    stamp = json.loads(course.STAMP.read_text())
    if damage.startswith("no "):
        {"stamp": course.STAMP, "python": course.PYTHON}[damage[3:]].unlink()
    elif damage == "spoilt":
        course.STAMP.write_text('{"extras": ["cou')
    else:
        course.STAMP.write_text(json.dumps({**stamp, "root": "/before"}))
    course.main(["check"])
    again = ".[course,dev]" if damage in ("no python", "moved") else ".[course]"
    assert course.ran == ["venv", ".[course,dev]", "venv", again]


@pytest.mark.parametrize("place", ["lib/python3.13", "Lib"])
def test_a_venv_that_has_lost_a_package_is_made_anew(course, place):
    """By `uv sync`, `pip uninstall` or a virus scanner."""
    packages = course.VENV / place / "site-packages"

    def install(command):
        for name in ("numpy", "rich", "rich-14.0.dist-info"):
            (packages / name).mkdir(parents=True, exist_ok=True)
        course.noted(command)

    course.noted, course.run = course.run, install
    course.main(["check"])
    (packages / "rich-14.0.dist-info").rename(packages / "rich-14.1.dist-info")
    course.main(["check"])  # a learner took a newer one
    assert course.ran == ["venv", ".[course]"]
    (packages / "rich").rmdir()
    course.main(["check"])
    assert course.ran == ["venv", ".[course]"] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="a link needs rights there")
def test_a_venv_that_is_a_link_is_parted_from_what_it_leads_to(course, tmp_path):
    (tmp_path / "other" / "lib").mkdir(parents=True)
    course.VENV.symlink_to(tmp_path / "other")
    assert course.main(["check"]) == 0
    assert course.PYTHON.exists() and not course.VENV.is_symlink()
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["lib"]


INSTALLERS = (ROOT / "tests" / "machines" / "installers.md").read_text("utf-8")
OUTPUTS = re.findall(r"## ([^\n]+): (\w+)\n\n```\n(.*?)\n```", INSTALLERS, re.DOTALL)


@pytest.fixture
def failing(course, capsys):
    """Return what is told if the next install fails and prints the given text."""

    def install(output):
        course.main(["check"])
        program = f"import sys; print({output!r}); sys.exit(1)"
        course.run = lambda command: course.real_run([sys.executable, "-c", program])
        assert course.main(["build"]) == 1
        return " ".join(capsys.readouterr().err.split())

    return install


@pytest.mark.parametrize(("name", "paragraph", "output"), OUTPUTS)
def test_a_failed_install_is_explained(course, failing, name, paragraph, output):
    told = getattr(course, paragraph).format(root=course.ROOT, line="LINE")
    before, _, after = told.partition("LINE")
    assert failing(output).startswith(before) and failing(output).endswith(after)
    assert course.STAMP.exists()  # what was there before can still be used


def test_a_home_that_is_closed_is_named(failing):
    cause = "cause: failed to create directory `/home/x/.cache`: "
    cause += "Read-only file system (os error 30)"
    told = failing(f"error: Failed to initialize cache at `.cache/uv`\n{cause}")
    assert told.startswith(f"A file cannot be written: {cause}.")
    assert "If the file is elsewhere, give yourself permission" in told


def test_an_unknown_failure_is_quoted_and_the_next_run_starts_anew(course, failing):
    told = failing("Collecting numpy\nERROR: a strange thing")
    assert "ERROR: a strange thing" in told and not course.STAMP.exists()
    told = failing("ValueError: no\nerror: subprocess-exited-with-error\n" * 3)
    assert told.endswith("ValueError: no / ValueError: no / ValueError: no")


def test_a_full_disk_is_noticed_even_if_nothing_says_so(course, failing, monkeypatch):
    full = types.SimpleNamespace(free=1000)
    monkeypatch.setattr(course.shutil, "disk_usage", lambda path: full)
    told = failing("ensurepip returned non-zero exit status 1")
    assert told.startswith("The disk is full")


def test_without_the_venv_package_it_says_how_to_get_it(course, monkeypatch, capsys):
    monkeypatch.setattr(course.importlib.util, "find_spec", lambda name: None)
    assert course.main(["lab"]) == 1
    assert "apt install python3-venv" in capsys.readouterr().err
    assert course.ran == []


def test_uv_is_used_if_it_is_there_and_needs_no_venv_package(course, monkeypatch):
    monkeypatch.setattr(course.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(course.shutil, "which", lambda name: f"/somewhere/{name}")
    assert course.main(["lab"]) == 0
    expected = [["/somewhere/uv", *words] for words in (["venv", "--seed"], ["pip"])]
    assert [c[:n] for c, n in zip(course.commands, (3, 2), strict=True)] == expected


@pytest.mark.posix
def test_a_read_only_course_says_so(capsys):
    folder, me = Path(tempfile.mkdtemp()).resolve(), os.geteuid()
    course = course_in(write_course(folder / "course"))
    for path in (folder / "course", folder):
        path.chmod(0o555)
    if me == 0:  # root may write everywhere
        os.seteuid(65534)
    try:
        assert course.main(["lab"]) == 1
    finally:
        os.seteuid(me)
        (folder / "course").chmod(0o755)
        shutil.rmtree(folder)
    err = capsys.readouterr().err
    err = " ".join(err.split())
    assert "Permission denied" in err and f"own folder, {folder / 'course'}." in err


@pytest.mark.posix
@pytest.mark.parametrize("safe_path", ["", "1"])
def test_any_command_first_finishes_what_was_cut_off(folder, installed, safe_path):
    """Here and not in classroom/, of which only half may be the newer one."""
    files = folder / ".minigrad" / "change" / "files"
    (files / "classroom").mkdir(parents=True)
    newer = COMMAND.replace("exit(7)", "exit(8)")
    (files / "classroom" / "__main__.py").write_text(newer)
    journal = {"told": ["It is told."], "gone": [], "before": {}, "commit": ""}
    (files.parent / "journal.json").write_text(json.dumps(journal))
    process = start(folder, "progress", PYTHONSAFEPATH=safe_path)
    code, out, err = finish(process)
    (folder / "classroom" / "__main__.py").write_text(COMMAND)
    assert (code, err) == (8, "")
    assert "It is finished now:\nIt is told.\n['progress']" in out
    assert not files.exists()


def test_an_unknown_command_is_told_what_is_possible(course, capsys):
    assert course.main(["chek"]) == 2
    told = "There is no command `chek`. Did you mean `check`? "
    told += f"`{COURSE} --help` lists all.\n"
    assert capsys.readouterr().err == told and course.ran == []


def test_what_a_learner_types_comes_before_what_is_for_others(course, capsys):
    help = []
    for words in [], ["help"], ["--help"], ["-h"]:
        assert course.main(words) == 0
        help.append(capsys.readouterr().out)
    assert len({*help}) == 1 and course.main(["--version"]) == 0
    usage, version = help[0].splitlines(), capsys.readouterr().out
    assert version.startswith("minigrad ") and "Python 3." in version
    heading = usage.index("For people who teach or write chapters:")
    names = [
        [line.split()[0] for line in part if line.startswith("  ")]
        for part in (usage[:heading], usage[heading:])
    ]
    assert names == [course.LEARNERS, [*course.WITH_SOURCES]]
    assert {"hint", "next"} <= {*names[0]} and "grade" in names[1]
    assert course.ran == []


def test_course_py_offers_the_commands_that_exist(course):
    help = commands.command_line().format_help()
    assert set(re.findall(r"^    (\w+) ", help, re.MULTILINE)) == {*course.COMMANDS}


def test_an_old_python_can_read_the_file_and_says_so():
    text = (ROOT / "course.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 6))
    pretend = "import sys; sys.version_info = (3, 8, 10); sys.version = '3.8.10 (x)'\n"
    command = [sys.executable, "-c", pretend + text]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("The course needs Python 3.11 or newer")
    assert "this is Python 3.8.10" in done.stderr
    assert "Traceback" not in done.stderr


# The command lab.

LESSONS = "00_before", "01_slope", "02_graph"


@pytest.fixture
def launched(tmp_path, monkeypatch):
    """Let `lab` find some notebooks in a folder, and note how it starts JupyterLab."""
    from jupyterlab.labapp import LabApp

    monkeypatch.setattr(lab, "ROOT", tmp_path)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")  # lab sets these: restore them after
    monkeypatch.setenv("JUPYTER_PATH", "")
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "")
    monkeypatch.setenv("PYTHONSTARTUP", "")
    monkeypatch.setattr(lab, "greet", lambda begin: None)  # JupyterLab does not start
    (tmp_path / "notebooks").mkdir()
    # An output that JupyterLab shows only if it is trusted
    output = new_output("display_data", {"image/svg+xml": "<svg></svg>"})
    cell = new_code_cell("draw(x)", outputs=[output], execution_count=1)
    for name in LESSONS:
        path = tmp_path / "notebooks" / f"{name}.ipynb"
        nbformat.write(new_notebook(cells=[cell]), path)
    started = []
    monkeypatch.setattr(LabApp, "launch_instance", started.append)
    return started


def test_lab_opens_home_or_what_is_named_and_passes_words_on(launched, tmp_path):
    pristine = tmp_path / "classroom" / "pristine"
    pristine.mkdir(parents=True)
    places = {
        "--no-browser": "home.md",
        "4": "notebooks/04_blame.ipynb",
        "4.3": "exercises/04_blame.ipynb#cell-id=exercise-4-3",
    }
    shutil.copy(ROOT / "classroom" / "pristine" / "04_blame.ipynb", pristine)
    (tmp_path / "notebooks" / "04_blame.ipynb").touch()
    for word, place in places.items():
        words = [word, "--port=9"] if word[0] == "4" else [word]
        assert lab.lab_command(words) == 0
        begin, root = f"--LabApp.default_url=/lab/tree/{place}", str(tmp_path)
        others = words[word[0] == "4" :]
        quiet = [*lab.QUIET, "--Application.log_level=ERROR"]
        expected = [f"--ServerApp.root_dir={root}", begin, *quiet, *others]
        assert launched.pop() == expected
    assert lab.lab_command(["--debug"]) == 0  # who wants Jupyter's log has it
    assert launched.pop()[-2:] == [lab.QUIET[-1], "--debug"]
    assert os.environ["PYTHONSTARTUP"].startswith(str(tmp_path))
    config = str(tmp_path / "classroom" / "jupyter")  # which asks nothing
    assert os.environ["JUPYTER_CONFIG_PATH"] == config
    with pytest.raises(Unreadable, match="no exercise 4.9. Chapter 4 has 4.1"):
        lab.lab_command(["4.9"])
    shutil.rmtree(pristine)
    assert lab.address("", tmp_path) == "/lab"


def test_a_second_lab_finds_the_first(launched, tmp_path, monkeypatch, capsys):
    server = {"root_dir": str(tmp_path), "pid": 7, "token": "abc", "url": "http://x/"}
    there = [{**server, "root_dir": "/elsewhere"}]
    monkeypatch.setattr("jupyter_server.serverapp.list_running_servers", lambda: there)
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert lab.lab_command([]) == 0 and len(launched) == 1
    there.append(server)
    assert lab.lab_command([]) == 0 and len(launched) == 1
    assert opened == ["http://x/lab?token=abc"]  # nothing is here to begin with
    assert f"already open with this course: {opened[0]}" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["config", "data", "runtime"])
def test_lab_opens_though_jupyters_folders_in_the_home_are_closed(
    launched, tmp_path, capsys, monkeypatch, kind
):
    closed, name = tmp_path / "a file" / kind, f"JUPYTER_{kind.upper()}_DIR"
    closed.parent.touch()
    monkeypatch.setenv(name, str(closed))
    assert lab.lab_command([]) == 0 and len(launched) == 1
    ours = tmp_path / ".minigrad" / "jupyter" / kind
    assert os.environ[name] == str(ours) and ours.is_dir()
    told = capsys.readouterr().out
    assert f"Cannot write to {closed}: " in told and f"uses {ours} instead" in told


def test_lab_trusts_the_lessons_that_are_as_built_and_no_others(launched, tmp_path):
    friends = [tmp_path / "exercises" / "01_slope.ipynb"]  # whose outputs nobody ran
    friends += [tmp_path / "notebooks" / f"{name}.ipynb" for name in ("02_new", "03_n")]
    theirs = nbformat.read(tmp_path / "notebooks" / f"{LESSONS[0]}.ipynb", as_version=4)
    friends[0].parent.mkdir()
    (tmp_path / DIGESTS).parent.mkdir()
    nbformat.write(theirs, friends[2])
    write_whole(tmp_path / DIGESTS, digests(tmp_path))
    theirs.metadata.title = "a friend's"
    for path in friends:
        nbformat.write(theirs, path)
    (tmp_path / "notebooks" / f"{LESSONS[1]}.ipynb").write_text("<<<<<<< mine")
    assert lab.lab_command([]) == 0
    notary = nbformat.sign.NotebookNotary(data_dir=str(tmp_path / "data"))
    lesson = tmp_path / "notebooks" / f"{LESSONS[0]}.ipynb"
    for path in lesson, *friends:
        signed = notary.check_signature(nbformat.read(path, as_version=4))
        assert signed == (path == lesson)


def test_a_kernel_of_lab_starts_without_a_word_in_the_terminal(launched, capfd):
    lab.lab_command([])
    kernel, client = start_new_kernel()
    client.stop_channels()
    kernel.shutdown_kernel(now=True)
    assert "--IPKernelApp.log_level=ERROR" in kernel.kernel_spec.argv
    assert capfd.readouterr() == ("", "")


# The commands themselves.


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("hint", "Name one exercise, as `python3 course.py hint 4.2` does."),
        ("next 4", "`next` does not take 4. `next` takes no further words.\n"),
        ("check --bogus", "`check` does not take --bogus. `check` takes chapters (4, "),
        ("grade x", "the following arguments are required: --out. `grade` takes a zip"),
    ],
)
def test_wrong_words_are_answered_with_what_the_command_takes(words, told):
    command = [sys.executable, "-m", "classroom", *words.split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 2 and done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1
    assert ("For example: `" in told) <= (f"`{COURSE} hint 4.2`" in done.stderr)


@pytest.mark.posix
def test_what_nobody_reads_ends_without_a_word():
    for program in ["-P", "-m", "classroom", "hint", "4.2"], ["course.py", "--help"]:
        unread, output = os.pipe()
        os.close(unread)
        command = [sys.executable, *program]
        done = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.PIPE)
        os.close(output)
        assert (done.returncode, done.stderr) == (141, b"")


def test_an_unforeseen_error_is_one_line_and_says_how_to_report(monkeypatch, capsys):
    monkeypatch.setattr(commands, "run", lambda words: {}["missing"])
    monkeypatch.setattr(sys, "argv", ["classroom", "check", "4"])
    with pytest.raises(SystemExit) as ended:
        commands.main()
    assert "KeyError: 'missing' (test_course.py, line" in ended.value.code
    assert ended.value.code.endswith("-X dev -m classroom check 4")
    assert "\n" not in ended.value.code


def test_what_the_system_refuses_is_told_with_its_cause(monkeypatch):
    error = PermissionError(13, "Permission denied", "/closed/x")
    monkeypatch.setattr(commands, "run", Mock(side_effect=error))
    with pytest.raises(SystemExit) as ended:
        commands.main()
    assert ended.value.code.startswith("/closed/x: Permission denied. Fix that")


# The command test.


@pytest.mark.parametrize(
    ("code", "told"), [(0, "all passed"), (1, "failed: Tests, Notebooks show")]
)
def test_parts_that_fail_are_named(monkeypatch, capsys, code, told):
    def call(command, cwd, env):
        return code if "pytest" in command else 0

    monkeypatch.setattr(testing.subprocess, "call", call)
    assert testing.test_command([]) == code
    assert f"5 parts, {told}" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "plugin"),
    [("-k slope", ""), ("-n2 a.py", "xdist"), ("--nbval a", "nbval")],
)
def test_words_go_to_pytest_alone_with_no_plugin_but_what_they_ask_for(
    monkeypatch, words, plugin
):
    call = Mock()
    monkeypatch.setattr(testing.subprocess, "call", call)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "")
    testing.test_command(words.split())
    (called,) = call.call_args_list
    plugins = ["-p", f"{plugin}.plugin"] if plugin else []
    assert called.args == ([*testing.PYTEST, *plugins, *words.split()],)
    assert os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] == "1"


def test_what_sends_python_and_pip_elsewhere_is_left_out(monkeypatch):
    """Without bytecode, each of the many processes compiles all that it imports."""
    unwanted = ["PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "PIP_TARGET"]
    unwanted += ["PYTHONOPTIMIZE", "PIP_NO_BINARY", "UV_PYTHON", "UV_NO_EDITABLE"]
    wanted = ["PIP_INDEX_URL", "PIP_CERT", "UV_DEFAULT_INDEX", "PYTHONUTF8", "PIPE"]
    for name in (*unwanted, *wanted, "PIP_USER"):
        monkeypatch.setenv(name, "1")
    call = Mock(return_value=0)
    monkeypatch.setattr(os, "execve", lambda *words: call(env=words[-1]))
    monkeypatch.setattr(subprocess, "call", call)
    course_in(ROOT).hand_over(sys.executable, ["check"])
    handed = call.call_args.kwargs["env"]
    assert not set(unwanted) & set(handed) and handed["PIP_USER"] == "0"
    assert set(wanted) <= set(handed)
