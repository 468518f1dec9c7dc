"""The builder process: it survives what it builds, and its end does not disturb who asked."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from robot_rt_control.server.builder.built_type import BuiltType
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.vocabulary.errors import CompileError

COUNT = "state.level += params.gain"


def alive(pid):
    """Whether a process runs (a zombie does not)."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition):
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_builds_with_progress_at_the_priority_of_its_server(action_file):
    spec = action_file.write(COUNT)
    said: list[str] = []
    with Builder() as builder:
        first = builder.build(spec, said.append)
        assert builder.pid is not None
        assert os.getpriority(os.PRIO_PROCESS, builder.pid) == os.getpriority(os.PRIO_PROCESS, 0)
        second = builder.build(spec)
        pid = builder.pid
    assert said == ["compiling custom: control", "measuring custom"]
    assert not first.cached and second.cached and first.key == second.key
    assert not alive(pid)


def test_a_refusal_arrives_as_it_was_raised(action_file):
    with Builder() as builder, pytest.raises(CompileError) as refused:
        builder.build(action_file.write("print(1)  # HERE"))
    assert str(refused.value).startswith(f"{action_file.here}: prints; Make it a state variable")


def test_every_build_sees_the_file_as_it_is_then(action_file):
    with Builder() as builder:
        first = builder.build(action_file.write(COUNT))
        second = builder.build(action_file.write("state.level -= params.gain"))
        third = builder.build(action_file.write(COUNT))
    assert first.key != second.key and not second.cached
    assert third.key == first.key and third.cached


def test_one_that_crashes_does_not_stop_the_others(action_file):
    good = action_file.write(COUNT)
    bad = action_file.folder / "bad.py"
    bad.write_text("import os, signal\nprint('on the way')\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    leaving = action_file.folder / "leaving.py"
    leaving.write_text("import os\nos._exit(3)\n")
    with Builder() as builder:
        results = builder.build_many([good, f"{bad}:Custom", f"{leaving}:Custom", "nonsense", good])
    assert isinstance(results[0], BuiltType) and isinstance(results[4], BuiltType)
    assert results[4].cached
    assert str(results[1]).startswith(f"building {bad}:Custom was ended by SIGSEGV. Importing the file")
    assert str(results[2]).startswith(f"building {leaving}:Custom ended with exit code 3")
    assert "expected file.py:Class or module:Class; got 'nonsense'" in str(results[3])


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        ("import sys; sys.exit(4)", "SystemExit: 4"),
        ("raise KeyboardInterrupt('key')", "KeyboardInterrupt: key"),
        ("raise type('Own', (BaseException,), {})('mine')", "Own: mine"),
    ],
)
def test_a_file_that_ends_its_import_is_refused_with_its_line(action_file, ending, shown):
    leaving = action_file.folder / "leaving.py"
    leaving.write_text(f"import math\n{ending}\n")
    with Builder() as builder:
        for ask in (builder.find, lambda file: builder.build(f"{file}:Custom")):
            with pytest.raises(CompileError) as refused:
                ask(str(leaving))
            assert str(refused.value) == (
                f"{leaving}:2: importing failed with {shown}. The file of an action type must be importable by itself"
            )


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("while True:\n    pass\n", "took more than 1 s of processor time"),
        ("import time\nwhile True:\n    time.sleep(100)\n", "did nothing for 1 s"),
    ],
)
def test_an_endless_build_is_ended_and_the_next_one_works(action_file, code, said):
    good = action_file.write(COUNT)
    endless = action_file.folder / "endless.py"
    endless.write_text(code)
    with Builder(timeout=1.0) as builder:
        with pytest.raises(CompileError, match=rf"^{endless}:[123]: building {endless}:Custom {said} and was ended"):
            builder.build(f"{endless}:Custom")
        pid = builder.pid
        builder.timeout = 60.0
        assert builder.build(good).methods == ("control",)
        assert builder.pid == pid, "the process itself lived on"


@pytest.mark.long
def test_waiting_and_computing_count_separately(action_file):
    patient = action_file.folder / "patient.py"
    working = "import time\nend = time.process_time() + 2.0\nwhile time.process_time() < end:\n    pass\n"
    action_file.write(COUNT)
    patient.write_text(working + "time.sleep(2.0)\n" + action_file.path.read_text())
    with Builder(timeout=3.0) as builder:
        assert builder.find(str(patient)) == [f"{patient}:Custom"]


def test_a_builder_killed_in_the_middle_is_told_and_replaced(action_file):
    good = action_file.write(COUNT)
    slow, mark = action_file.folder / "slow.py", action_file.folder / "mark"
    slow.write_text(f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(100)\n")
    with Builder() as builder:
        errors: list[CompileError] = []

        def ask():
            try:
                builder.build(f"{slow}:Custom")
            except CompileError as error:
                errors.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        assert wait_for(lambda: mark.exists() and mark.read_text())
        child, pid = int(mark.read_text()), builder.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        thread.join(timeout=60)
        assert "slow.py:Custom: the builder process ended in the middle. Was it killed?" in str(errors[0])
        assert wait_for(lambda: not alive(child)), "what it was building ends with it"
        assert builder.build(good).declared.name == "custom"
        assert builder.pid != pid


def test_a_stopped_builder_counts_as_hung(action_file, monkeypatch):
    spec = action_file.write(COUNT)
    with Builder() as builder:
        builder.build(spec)
        assert builder.pid is not None
        os.kill(builder.pid, signal.SIGSTOP)
        monkeypatch.setattr("robot_rt_control.server.builder.process._SILENCE_S", 0.5)
        with pytest.raises(CompileError, match="the builder hangs. It was ended; the next request starts a new one"):
            builder.build(spec)
        monkeypatch.setattr("robot_rt_control.server.builder.process._SILENCE_S", 10.0)
        assert builder.build(spec).cached


def test_the_builder_ends_with_its_server(action_file):
    builder = Builder()
    builder.build(action_file.write(COUNT))
    process = builder._process
    assert process is not None
    process._near.close()
    assert process._process.wait(timeout=60) == 0
    builder.close()


def test_a_closed_builder_says_so(action_file):
    builder = Builder()
    builder.close()
    with pytest.raises(CompileError, match="the builder is closed. Make a new Builder"):
        builder.build(action_file.write(COUNT))
    with pytest.raises(ValueError, match="timeout = 0: expected seconds, more than 0"):
        Builder(timeout=0)


def test_a_failing_listener_is_not_taken_for_a_failing_builder(action_file):
    def listen(text):
        raise ValueError(f"cannot show {text}")

    with Builder() as builder:
        new = action_file.write(f"state.level = {time.time_ns()}.0")  # what is in the cache says nothing
        with pytest.raises(ValueError, match="cannot show compiling custom"):
            builder.build(new, listen)
        assert builder.build(action_file.write("state.level = 1.0")).methods == ("control",)


def test_files_are_found_from_where_they_are_asked_for(action_file, monkeypatch):
    spec = action_file.write(COUNT)
    with Builder() as builder:
        builder.build(spec)
        monkeypatch.chdir(action_file.folder)
        assert builder.build("custom_action.py:Custom").cached


def test_K19_nothing_is_imported_from_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "yaml.py").write_text("open('imported', 'w')\n")  # a name of what the package itself imports
    (tmp_path / "strange_types.py").write_text("open('imported', 'w')\n")
    monkeypatch.chdir(tmp_path)
    with Builder() as builder:
        with pytest.raises(CompileError, match="strange_types: importing failed with ModuleNotFoundError"):
            builder.find("strange_types")
        builder.preparers.control()
    assert not (tmp_path / "imported").exists()


SERVER = """
import json, sys
from robot_rt_control.processes import python
print(json.dumps(python.import_path()))
"""


def test_K19_a_server_started_by_its_module_hands_its_working_directory_to_nobody(tmp_path, monkeypatch):
    # What Python knows of its main module is all that tells how it was started.
    program = "import importlib.machinery, sys\n"
    program += "sys.path.insert(0, __import__('os').getcwd())\n"
    program += "__spec__ = importlib.machinery.ModuleSpec('robot_rt_control.server.node.node', None)\n"
    command = [sys.executable, "-P", "-c", program + SERVER]
    for safe in (True, False):
        if not safe:
            command.remove("-P")
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert (str(tmp_path) in json.loads(done.stdout)) == safe, "as its user has put it there, or Python itself"


def test_K21_processes_that_an_import_starts_end_with_the_request(tmp_path):
    file, proof = tmp_path / "starting.py", tmp_path / "pid"
    file.write_text(
        "import os, sys\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        f"    code = 'import os, time; open(\"{proof}\", \"w\").write(str(os.getpid())); time.sleep(1000)'\n"
        "    os.execv(sys.executable, [sys.executable, '-S', '-c', code])\n"
        f"while not os.path.exists({str(proof)!r}) or not open({str(proof)!r}).read(): pass\n"
    )
    with Builder() as builder:
        with pytest.raises(CompileError, match="no action type"):
            builder.find(str(file))
        pid = int(proof.read_text())
        assert wait_for(lambda: not alive(pid)), "while the builder lives on"
