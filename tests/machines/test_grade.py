"""Grading: what each hand-in deserves, and that it costs nobody else anything."""

import csv
import ctypes
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from classroom import ROOT
from classroom import __main__ as commands
from classroom.all_or_nothing import Trouble
from classroom.author.chapters import chapters, first_fence
from classroom.author.printed import drawn_cell
from classroom.cell.drawn import REFUSED, same_numbers
from classroom.notebook.pristine import Chapter
from classroom.run import sandbox
from classroom.run.judge import run_answers
from classroom.run.verdict import OTHER_INPUTS, Result
from classroom.teacher import tasks
from classroom.teacher.cluster import workers_of
from classroom.teacher.grade import grade_command
from classroom.teacher.points import by_case
from classroom.teacher.students import HandIn, printable
from tests.course import hostile
from tests.course.test_release import command

CHAPTER = Chapter(hostile.BLANK)

needs_sandbox = pytest.mark.skipif(
    not shutil.which("bwrap"), reason="bubblewrap is not installed"
)
pytestmark = [pytest.mark.linux, needs_sandbox]
SEED = "a seed for the tests"
SECONDS = 3  # for a cell


def graded(folder, out, *words):
    """Grade a folder; return what grades.json says, by student."""
    for _ in range(3):
        code, said = command("grade", folder, "--out", out, "--seed", SEED, *words)
        if "The machine was busy" not in said:
            break  # else the same command tries again, as it says
    assert code == 0, said
    found = json.loads((out / "grades.json").read_text("utf-8"))
    return {each["student"]: each for each in found}


def grade_answers(slug, answers):
    """Grade answers as a task; return {exercise: status, message, parts}."""
    [printed] = tasks.reference_lines(slug, [SEED])
    return tasks.grade_answers(slug, answers, SEED, printed, 20)


def statuses(student):
    return {name: each["status"] for name, each in student["exercises"].items()}


# --- the collection -----------------------------------------------------------------


@pytest.mark.long
def test_each_hand_in_gets_what_it_deserves_and_leaves_nothing_behind(tmp_path):
    folder, outside = tmp_path / "class", Path("/tmp/outside.ipynb")
    for name, (code, _) in hostile.answers().items():
        made = hostile.notebook(hostile.SOLVED | {"4.3": code})
        hostile.written(folder / name.replace("/", "-"), made)
    for name, (make, *_) in hostile.FILES.items():
        make(folder / name.replace("/", "-"))
    found = graded(folder, tmp_path / "out", "--timeout", SECONDS)
    problems = []
    for name, (_, expected) in hostile.answers().items():
        student = found[name.replace("/", "-")]
        got = statuses(student)
        others = {got[other] for other in ("4.1", "4.2")}
        if got["4.3"] not in expected or others != {"passed"}:
            problems.append((name, got, student["exercises"]["4.3"]["message"]))
        if "found: " in str(student) and "found: nothing" not in str(student):
            problems.append((name, "found something", str(student)))
    for name, (_, points, told) in hostile.FILES.items():
        student = found[printable(name.replace("/", "-"))]
        if student["points"] != points or told not in str(student["remarks"]):
            problems.append((name, student["points"], student["remarks"]))
    assert not problems, "\n".join(map(str, problems))
    assert len(found) == len(hostile.answers()) + len(hostile.FILES) >= 40
    assert not outside.exists()
    running = [p.info["cmdline"] or [] for p in psutil.process_iter(["cmdline"])]
    assert not [command for command in running if "4321" in command]


# --- a class ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small_class(tmp_path_factory):
    """Return a folder with five students, as folders and zips, and their names."""
    folder = tmp_path_factory.mktemp("class")
    hostile.written(folder / "ada" / "home" / "work", hostile.honest())
    for name, wrong in ("bo", hostile.WRONG), ("cy", hostile.WRONG + "#"):
        made = hostile.notebook(hostile.SOLVED | {"4.3": wrong})
        hostile.written(folder / name, made)
    entries = [(f"di/{hostile.FILE}", hostile.MADE)]
    (folder / "di.zip").write_bytes(hostile.zipped(entries))
    hostile.written(folder / "ed", hostile.notebook({}))
    return folder


@pytest.fixture(scope="module")
def report(small_class, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    return out, graded(small_class, out, "--chapters", "3-4")


def sheet(out):
    """Return the rows of grades.csv by student."""
    with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_the_grades_are_a_row_for_each_student(report):
    out, found = report
    rows = sheet(out)
    assert list(rows) == ["ada", "bo", "cy", "di", "ed"]
    assert [row["points"] for row in rows.values()] == ["3", "2", "2", "3", "0"]
    assert [row["4.3"] for row in rows.values()] == ["1", "0", "0", "1", "0"]
    assert {row["4.1"] for row in rows.values()} == {"passed", "not yet filled in"}
    assert {row["of"] for row in rows.values()} == {"3"}
    assert [each["points"] for each in found.values()] == [3, 2, 2, 3, 0]


def test_pages_tell_what_was_wrong_and_on_which_input(report):
    out, _ = report
    paths = (out / "students").iterdir()
    pages = {path.name.split("-")[0]: path.read_text("utf-8") for path in paths}
    assert set(pages) == {"ada", "bo", "cy", "di", "ed"}
    assert "the blame at a, b, c = 2.0, 3.0, 5.0" in pages["bo"]
    assert "your answer: [1, 1, 1]" in pages["bo"]
    assert "Hint 2 of exercise 4.3 is about this mistake" in pages["bo"]
    assert "return [1.0, 1.0, 1.0]" in pages["bo"]
    assert "3 of 3 points" in pages["ada"] and "your answer" not in pages["ada"]
    index = (out / "index.html").read_text("utf-8")
    assert "2 ×" in index and 'class="bar passed"' in index


def test_nothing_hidden_is_in_the_report(report):
    out, _ = report
    kinds = {".html", ".csv", ".json", ".jsonl"}
    files = [path for path in out.rglob("*") if path.suffix in kinds]
    text = "".join(path.read_text("utf-8") for path in files)
    for each in hostile.CHAPTER.exercises.values():
        assert each.drawn.splitlines()[0] not in text and "rng" not in text
    assert SEED not in text


def test_the_same_hand_ins_always_get_the_same_grades(small_class, report, tmp_path):
    out, found = report
    assert graded(small_class, tmp_path, "--seed", "another") == found


def test_an_interrupted_run_goes_on_where_it_was(
    small_class, report, tmp_path, monkeypatch
):
    out, found = report
    lines = (out / "graded.jsonl").read_text("utf-8").splitlines(keepends=True)
    kept = json.loads(lines[0])
    kept["grades"]["4.1"] = ["wrong", "from the file"]
    (tmp_path / "graded.jsonl").write_text(json.dumps(kept) + "\n" + lines[1][:30])
    left = []
    monkeypatch.setattr(tasks, "grade_answers", lambda *task: left.append(task) or {})
    assert grade_command(small_class, tmp_path, "3-4", seed=SEED) == 0
    again = json.loads((tmp_path / "grades.json").read_text("utf-8"))
    assert [each["student"] for each in again] == [*found]
    assert "from the file" in str(again) and len(left) == len(lines) - 1 > 0


def test_what_our_side_fails_costs_nobody_points(small_class, tmp_path, monkeypatch):
    broken = Mock(side_effect=OSError("no space left"))
    monkeypatch.setattr("classroom.teacher.tasks.reference_lines", broken)
    out = tmp_path / "out"
    assert grade_command(path=small_class, out=out, seed=SEED, unsafe=True) == 1
    rows = sheet(out)
    assert rows["ada"]["4.3"] == "" and "of the machine" in rows["ada"]["remarks"]
    assert rows["ada"]["points"] == ""
    page = next((out / "students").glob("ada-*")).read_text("utf-8")
    assert "Not graded" in page and "of 3" not in page
    assert rows["ed"]["4.3"] == rows["ed"]["points"] == "0"
    assert rows["ed"]["remarks"] == ""
    assert (out / "graded.jsonl").read_text("utf-8") == ""  # so that it is tried again


# Exams, threads, the longest, large arrays, PyTorch, and what measures memory
IN_SANDBOX = 6, 10, 12, 14, 15, 20, 25, 29


@pytest.mark.long
def test_solutions_pass_and_get_full_points_also_near_the_limits(tmp_path):
    """That all solutions pass without a sandbox, test_answers.py proves."""
    known = [chapters()[number] for number in IN_SANDBOX]
    whole = [chapter for chapter in known if not chapter.missing]
    (tmp_path / "class" / "ada").mkdir(parents=True)
    for chapter in whole:
        blank = hostile.BLANK.with_name(f"{chapter.slug}.ipynb")
        solved = {name: each.solved for name, each in chapter.exercises.items()}
        made = hostile.notebook(solved, blank)
        hostile.written(tmp_path / "class" / "ada", made, blank.name)
    numbers = ",".join(str(chapter.number) for chapter in whole)
    words = "--chapters", numbers, "--timeout", "120"  # for a machine that is busy
    ada = graded(tmp_path / "class", tmp_path / "out", *words)["ada"]
    named = {name for chapter in whole for name in chapter.exercises}
    assert statuses(ada) == dict.fromkeys(named, "passed")
    assert ada["points"] == ada["of"] and not ada["remarks"]
    missing = {chapter.missing for chapter in known} - {None, ""}
    if missing:
        pytest.skip(f"{missing} is not installed; all other chapters are graded")


def test_drawn_inputs_decide_and_only_a_learner_is_told_which():
    """Where an answer is graded, what it says could tell of the secret inputs.

    The right parts of another wrong answer earn their points.
    """
    exercises = hostile.CHAPTER.exercises
    odd = "blame = predict_blame\ndef predict_blame(a, b, c):\n"
    odd += "    return blame(a, b, c) if c < 1e9 else [0, 0, 1]"
    answers = {name: [source] for name, source in hostile.SOLVED.items()}
    answers["4.2"] = [exercises["4.2"].wrong["forgets the slope of tanh"]]
    answers["4.3"] = [f"{exercises['4.3'].solved}\n{odd}"]
    grades = grade_answers(hostile.CHAPTER.slug, answers)
    assert grades["4.1"][:2] == ("passed", "")
    assert grades["4.3"][:2] == ("wrong", OTHER_INPUTS)
    found = Result(*grades["4.2"])
    assert found.status == "wrong" and found.share == 0.5
    assert found.parts == {"slope_table": True, "neuron_blame": False}
    found = run_answers(CHAPTER.path, answers, 20)
    told = f"{REFUSED}\n    predict_blame(0.36, 2.73, 300000000000.0)\n"
    told += "    your answer: 0.00000 0.00000 1.00000\n"
    told += "    expected:    2.73000 0.36000 1.00000"
    assert found["4.3"] == Result("wrong", told) and found["4.1"].status == "passed"


# --- what cannot be done ------------------------------------------------------------


def test_without_a_sandbox_nothing_runs(small_class, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # no bwrap there
    code, said = command("grade", small_class, "--out", tmp_path / "out")
    assert code == 2 and "bubblewrap" in said and "--unsafe" in said
    assert not (tmp_path / "out" / "grades.csv").exists()


def test_what_cannot_be_graded_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    hostile.written(tmp_path / "class" / "ada", hostile.honest())
    for folder in "empty", "mine":
        (tmp_path / folder).mkdir()
    mine = [tmp_path / "file", tmp_path / "mine" / "grades.csv"]
    for path in mine:
        path.write_text("mine")
    for words, told in {
        "nowhere --out out": "There is nothing at",
        "empty --out out": "no student",
        "class --out out --chapters x": "Chapters x: give numbers",
        "class --out class/report": "is inside the submissions",
        "class --out file": "file: File exists.",
        "class --out file/report": "file/report: Not a directory.",
        "class --out mine": "contains other files",
    }.items():
        monkeypatch.setattr(sys, "argv", ["classroom", "grade", *words.split()])
        with pytest.raises(SystemExit) as ended:
            commands.main()
        assert told in f"{ended.value.code} {capsys.readouterr().err}", words
    assert [path.read_text() for path in mine] == ["mine", "mine"]


def test_a_sandbox_gets_nothing_of_the_seed(tmp_path, monkeypatch):
    """Answers have inputs of their own, the same ones until the course changes.

    So it does not matter what an answer finds out about the inputs of another run.
    """
    ledger, given = tasks.Ledger(tmp_path / "graded.jsonl", (SEED, 20, True)), []

    def run(notebook, timeout, folder):
        given.append(json.dumps(notebook))
        return [], "stopped here"

    def drawn(answer):
        given.clear()
        hand_in = HandIn(hostile.CHAPTER.slug, "", {"4.3": [answer]})
        new = {ledger.key_of(hand_in): hand_in}
        [[_, grades, problem]] = map(
            tasks.outcome, tasks.tasks_of(new, ledger.settings)
        )
        assert "stopped here" in f"{grades} {problem}" and SEED not in str(given)
        return set(re.findall(r"Random\('[0-9a-f]{20,} \S+", "".join(given)))

    monkeypatch.setattr(tasks, "run_notebook", run)
    first = drawn(hostile.WRONG)
    assert first and first == drawn(hostile.WRONG)
    others = [drawn(f"{hostile.WRONG}#{k}") for k in range(3)]
    monkeypatch.setattr(tasks, "course_digest", lambda: "a newer course")
    several = [first, *others, drawn(hostile.WRONG)]
    assert len(set.union(*several)) == sum(map(len, several))


def test_pythons_own_names_mean_these_in_a_hidden_check_that_leaves_none(capsys):
    own = {"print": lambda *words: None, "sum": lambda numbers: 7, "f": math.sqrt}
    names, text = {**own}, "y = rng.random()\nprint(sum([1, 2]), f(4))"
    exec(drawn_cell("4.1", text, "s")["source"], names)
    assert capsys.readouterr().out == "3 2.0\n"
    assert names.pop("__builtins__") and names == own


def test_a_last_digit_may_differ_by_one_and_nothing_else():
    assert same_numbers("a 1.00000 2", "a 1.00001 2")
    for other in "a 1.00002 2", "a 1.00000 3", "a 1.00000 2 1.0", "a 1.0 2", "a nan 2":
        assert not same_numbers("a 1.00000 2", other)


def test_the_sandbox_holds(tmp_path):
    text = (ROOT / "tests" / "machines" / "breakout.md").read_text("utf-8")
    secret = next((ROOT / "solutions").glob("*.ipynb"))
    tmp_path.chmod(0o777)  # as where a kernel makes its sockets
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        words = ["-I", "-c", first_fence(text), str(secret), port]
        run = subprocess.run(sandbox.command(words, tmp_path), capture_output=True)
    found = json.loads(run.stdout)
    assert [what for what, possible in found.items() if possible] == ["run at all"]
    assert len(found) == 15
    sandbox.require()


def test_a_sandbox_that_does_not_work_is_told_of(tmp_path, monkeypatch):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho no namespaces >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(sandbox.NoSandbox, match="did not work here: no namespaces"):
        sandbox.require()


def test_no_secret_lies_where_submissions_can_read(tmp_path, monkeypatch):
    lib = sandbox.PYTHON.parents[1] / "lib"
    with pytest.raises(sandbox.NoSandbox, match="can be read, also .*report"):
        sandbox.require(lib / "report")
    monkeypatch.setattr(sandbox, "ROOT", Path("/usr/share/course"))
    with pytest.raises(sandbox.NoSandbox, match="/usr can be read, also /usr/share"):
        sandbox.require(tmp_path)


def test_without_a_filter_of_system_calls_there_is_no_sandbox(monkeypatch):
    sandbox.refused_calls.cache_clear()
    monkeypatch.setattr(sandbox, "REFUSED", "no_such_call")
    with pytest.raises(sandbox.NoSandbox, match="could not make the filter"):
        sandbox.require()
    monkeypatch.setattr(ctypes, "CDLL", Mock(side_effect=OSError))
    with pytest.raises(sandbox.NoSandbox, match="apt install libseccomp2"):
        sandbox.require()


def test_a_file_without_a_name_counts_as_long_as_it_is_open(tmp_path):
    device = tmp_path.stat().st_dev
    with (tmp_path / "a").open("wb") as file:
        before = sandbox.nameless(os.getpid(), device)
        file.truncate(70 << 20)
        (tmp_path / "a").unlink()
        assert sandbox.nameless(os.getpid(), device) - before == 70 << 20
    assert sandbox.nameless(os.getpid(), device) == before


def test_a_process_or_a_file_that_has_gone_counts_nothing():
    mine = sandbox.memory_of(os.getpid())
    assert mine > psutil.Process().memory_info().rss // 2
    assert sandbox.memory_of(1 << 30) == sandbox.nameless(1 << 30, 0) == 0
    assert sandbox.size_of(Path("/nowhere")) == 0
    assert sandbox.size_of(Path(__file__)) > Path(__file__).stat().st_size


# --- parts, and many machines ---------------------------------------------------------


def test_parts_may_be_values():
    arrays = next(chapter for chapter in chapters() if chapter.number == 8)
    right = arrays.exercises["8.1"].solved
    wrong = right.replace("np.full(shape, g / np.prod(shape))", "np.full(shape, g)")
    assert wrong != right
    found = Result(*grade_answers(arrays.slug, {"8.1": [wrong]})["8.1"])
    assert found.status == "wrong"
    assert found.parts == {"layer": True, "mean": False}


def test_cases_of_an_exam_earn_at_most_what_hidden_results_do():
    """The table of cases comes from the answer's own kernel."""
    exam = next(chapter for chapter in chapters() if chapter.number == 6)
    solved = {name: [each.solved] for name, each in exam.exercises.items()}
    wrong = exam.exercises["6.2"].wrong["clears the number"]
    answers = {"6.1": solved["6.1"], "6.2": [wrong]}
    found = Result(*grade_answers(exam.slug, answers)["6.2"])
    right = [case for case, earned in found.parts.items() if earned]
    assert len(found.parts) == 6 and 2 < len(right) < 6 and 0 < found.share < 1
    assert found.message.endswith("of the results are right. No more can be earned.")
    cases, table = ["a", "b"], "done     a\ndone     b\nwrong    c"
    assert by_case([*cases, "c"], table, 1 / 3) == {"a": 0.5, "b": 0.5, "c": 0}
    assert by_case([*cases, "c"], table, 1.0) == {"a": 1, "b": 1, "c": 0}


CALLS_ITSELF = """\
def walk_back(node, g=1.0):
    node.grad += g
    for parent, slope in node.edges:
        walk_back(parent, g * slope)
"""


def test_an_engine_that_calls_itself_earns_something_with_long_chains():
    """Only one of the hidden results needs depth, as only two of seven rows do.

    And one that forgets a second use earns something for what is used once.
    """
    exam = next(chapter for chapter in chapters() if chapter.number == 6)
    ours, rest = (exam.exercises[name].solved for name in ("6.1", "6.3"))
    before, after = ours[: ours.index("def walk_back")], ours[ours.index("def make") :]
    engine = f"{before}{CALLS_ITSELF}{after}"
    found = grade_answers(exam.slug, {"6.1": [engine], "6.3": [rest]})
    found = Result(*found["6.3"])
    assert found.status == "wrong" and found.message.startswith("5 of 7 rows are done.")
    assert found.share == pytest.approx(2 / 3, abs=1e-3)
    answers = {"6.1": [engine.replace("node.grad += g", "node.grad = g")]}
    found = Result(*grade_answers(exam.slug, answers)["6.1"])
    assert found.status == "wrong" and 0.4 < found.share <= 0.5


def test_a_cluster_grades_although_a_worker_is_killed(tmp_path, monkeypatch):
    """Over TLS. A worker without a sandbox is refused before anything runs."""
    distributed = pytest.importorskip("distributed")
    import dask

    key, cert, place = (tmp_path / name for name in ("key", "cert", "scheduler.json"))
    words = ["-subj", "/CN=localhost", "-keyout", key, "-out", cert]
    openssl = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *words]
    subprocess.run(openssl, check=True, capture_output=True)
    tls = {"CA_FILE": cert} | {
        f"{role}__{what}": path
        for role in ("SCHEDULER", "WORKER", "CLIENT")
        for what, path in (("CERT", cert), ("KEY", key))
    }
    for name, path in tls.items():
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", str(path))
    dask.config.refresh()
    running = []

    def start(*words, path=os.environ["PATH"]):
        command = [sys.executable, "-m", "dask", *words, "--scheduler-file", place]
        env = {**os.environ, "PATH": path}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        running.append(subprocess.Popen(command, cwd=ROOT, env=env, **quiet))
        return running[-1]

    worker = "worker", "--no-nanny", "--nthreads", "1", "--no-dashboard"
    try:
        start("scheduler", "--protocol", "tls", "--port", "0", "--no-dashboard")
        killed, _ = start(*worker), start(*worker)
        without = start(*worker, path="/nowhere")
        while not place.exists():
            time.sleep(0.1)
        with distributed.Client(scheduler_file=str(place)) as client:
            client.wait_for_workers(3, timeout=60)
            address = client.scheduler.address
            assert address.startswith("tls://")
            with pytest.raises(Trouble, match="Nothing was graded.\n.*bubblewrap"):
                workers_of(address, True)
            without.kill()
            while len(client.scheduler_info()["workers"]) > 2:
                time.sleep(0.1)
        answers = hostile.SOLVED["4.3"], hostile.SOLVED["4.3"] + "\n#", hostile.WRONG
        [printed] = tasks.reference_lines(CHAPTER.slug, [SEED])
        bounds = SEED, printed, SECONDS, True
        words = [(CHAPTER.slug, {"4.3": [code]}, *bounds) for code in answers]
        given = [(k, each, "") for k, each in enumerate(words)]
        found = {}
        for task, grades, problem in workers_of(address, True)(given):
            killed.kill()
            assert not problem
            found[task] = grades["4.3"][0]
        assert found == {0: "passed", 1: "passed", 2: "wrong"}
    finally:
        for process in running:
            process.kill()
        monkeypatch.undo()
        dask.config.refresh()
