"""User code in processes of its own: whatever it does becomes an answer, and other sessions are not affected."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.definitions.action_type import parameter_dtype
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.memory.layout import measured_dtype
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.server.code.source import files_digest, load_action_type
from robot_rt_control.server.preparer.axis_view import LIMITS, AxisDescription
from robot_rt_control.server.preparer.process import Preparers, TypeFile, UserClass
from robot_rt_control.server.preparer.remote import Worker
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import CapacityError, CompileError, DefinitionError

FILE = Path(__file__).with_name("user_file.py")
LINES = FILE.read_text().splitlines()
ARM = sample_part(PartKind.ARM, name="arm")


def line(text: str) -> str:
    """File and line of a text that the user's file contains once."""
    (number,) = [i for i, found in enumerate(LINES, 1) if text in found]
    return f"{FILE}:{number}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("subject")


@pytest.fixture(scope="module")
def preparers(folder: Path) -> Iterator[Preparers]:
    os.environ["SUBJECT_FOLDER"] = str(folder)
    made = Preparers()
    yield made
    made.close()
    del os.environ["SUBJECT_FOLDER"]


def loaded(preparers: Preparers, file: Path = FILE) -> TypeFile:
    spec = f"{file}:Subject"
    return preparers.load(spec, files_digest(load_action_type(spec).module))


@pytest.fixture(scope="module")
def file(preparers: Preparers) -> TypeFile:
    return loaded(preparers)


class Made:
    """A worker with one action, and what its records hold."""

    def __init__(
        self, file: TypeFile, name: str = "Subject", given: Mapping[str, str | AxisDescription] | None = None
    ) -> None:
        self.type = load_action_type(f"{FILE}:{name}").action_type
        self.worker = Worker(UserClass(file, name), DeclaredType.of(self.type), [ARM], None)
        self.action = self.worker.create("action 'a'", given or {"arm": "arm"}, None)

    def fill(self, do: str, level: float = 0.0, measured: np.ndarray | None = None) -> Any:
        record = self.action.fill("action 'a'", {"do": do, "level": level}, measured)
        return np.frombuffer(record, parameter_dtype(self.type))[0]

    def degree_limits(self, do: str, level: float) -> np.ndarray:
        return self.action.degree_limits("action 'a'", self.fill(do, level).tobytes(), None)


@pytest.fixture
def made(file: TypeFile) -> Iterator[Made]:
    made = Made(file)
    yield made
    made.worker.leave()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def exists(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_record_is_filled_elsewhere_from_values_and_what_was_measured(made: Made) -> None:
    measured = np.zeros(1, measured_dtype)
    measured[0]["position"][0] = 0.25
    record = made.fill("work", 2.5, measured)
    assert (record.level, record.position, record.fills) == (2.5, 0.25, 1)
    assert len({os.getpid(), record.imported_in, record.pid}) == 3, "imported once, and forked from there"
    assert made.fill("work").pid == record.pid, "the same object"


@pytest.mark.parametrize(
    ("do", "error", "place"),
    [
        ("fail", "failed with ValueError: no", 'raise ValueError("no")'),
        ("leave", "failed with SystemExit: 3", "sys.exit(3)"),
        ("interrupt", "failed with KeyboardInterrupt: ", "raise KeyboardInterrupt"),
    ],
)
def test_an_exception_has_the_authors_line_and_the_object_lives_on(made: Made, do: str, error: str, place: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        made.fill(do)
    assert str(refused.value) == (
        f"action 'a': prepare_parameters of action type 'subject' {error}; got the exception at {line(place)}. "
        "Correct the action type's code and load it again"
    )
    assert made.fill("work").fills == 1


def test_refusals_keep_kind_and_fields(made: Made) -> None:
    with pytest.raises(DefinitionError) as refused:
        made.fill("refuse")
    error = refused.value
    assert (error.what, error.expected, error.got, error.hint) == ("action 'a': too far", "near", "far", "Come closer")
    with pytest.raises(CapacityError, match="^action 'a': too many$"):
        made.fill("exceed")


@pytest.mark.parametrize(
    ("do", "how", "place"),
    [
        ("crash", "SIGSEGV", "ctypes.string_at(0)"),
        ("vanish", "exit code 3", "getattr(self, values"),
        ("signal_itself", "signal 40", "getattr(self, values"),
    ],
)
def test_a_crash_has_the_authors_line_and_ends_no_other_worker(
    file: TypeFile, made: Made, do: str, how: str, place: str
) -> None:
    crashing = Made(file)
    with pytest.raises(DefinitionError) as refused:
        crashing.fill(do)
    # A process that ends itself does not say where: the line is that of the method.
    at = line(place) if do == "crash" else f"{FILE}:{int(line(place).rpartition(':')[2]) - 1}"
    assert str(refused.value) == (
        f"action 'a': prepare_parameters of action type 'subject' ended its process; got {how} at {at}. "
        "Correct the action type's code and load it again"
    )
    with pytest.raises(DefinitionError, match="^action 'a': the process that prepares it has ended. It keeps"):
        crashing.fill("work")
    assert crashing.worker.is_gone and not made.worker.is_gone
    assert made.fill("work").fills == 1


def test_a_crash_in_create(file: TypeFile) -> None:
    with pytest.raises(DefinitionError) as refused:
        Made(file, "Gone")
    assert "create of action type 'gone' ended its process; got exit code 4 at " in str(refused.value)


def end_while(made: Made, do: str, hangs: Path) -> str:
    """What refuses a request that hangs when its session ends."""
    errors = []

    def fill() -> None:
        try:
            made.fill(do)
        except DefinitionError as error:
            errors.append(str(error))

    hangs.unlink(missing_ok=True)
    thread = threading.Thread(target=fill)
    thread.start()
    until(hangs.exists)
    made.worker.leave()
    thread.join(60.0)
    (error,) = errors
    return error


def test_code_that_hangs_ends_with_its_session_and_says_where_it_was(file: TypeFile, folder: Path) -> None:
    made = Made(file)
    error = end_while(made, "hang", folder / "hangs")
    first = line("while True:")
    second = f"{FILE}:{int(first.rpartition(':')[2]) + 1}"
    assert error in [
        "action 'a': prepare_parameters of action type 'subject' had not returned when its session ended; "
        f"got it was still running at {at}. Correct the action type's code and load it again"
        for at in (first, second)
    ]
    with pytest.raises(DefinitionError, match="has ended"):
        made.fill("work")


def test_a_law_sees_its_degree_of_freedom(file: TypeFile) -> None:
    measured = np.zeros(1, measured_dtype)
    measured[0]["position"][1] = 0.25
    joint = AxisDescription(part="arm", name=ARM.joint_names[1], joint_type=ARM.joint_types[1])
    law = Made(file, "OwnLaw", {"axis": joint})
    record = law.fill("work", measured=measured)
    assert (record.position, record.velocity_limit, record.n_parts) == (0.25, ARM.record.velocity_limit[1], 1)
    law.worker.leave()

    limits = tuple(0.5 if name == "velocity_limit" else 0.0 for name in LIMITS)
    law = Made(file, "OwnLaw", {"axis": AxisDescription(part="arm", name="s", joint_type="prismatic", limits=limits)})
    record = law.fill("work", measured=measured)
    assert (record.position, record.velocity_limit) == (0.0, 0.5)
    with pytest.raises(DefinitionError, match="action type 'own_law' failed with ValueError: no; got the exception at"):
        law.fill("fail")
    law.worker.leave()


def test_declared_degrees_of_freedom_get_their_limits_elsewhere(file: TypeFile) -> None:
    made = Made(file, "OwnDegrees")
    first, second = made.degree_limits("work", 0.5)
    assert dict(zip(LIMITS, first, strict=True)) == {n: -np.inf if n == "position_lower" else np.inf for n in LIMITS}
    assert dict(zip(LIMITS, second, strict=True))["velocity_limit"] == 0.5
    for level in (-1.0, np.nan):
        with pytest.raises(DefinitionError) as refused:
            made.degree_limits("work", level)
        assert str(refused.value) == (
            "action 'a': prepare_degrees: velocity_limit of degree of freedom 'turn'; expected a number, at least 0; "
            f"got {level:g}"
        )
    with pytest.raises(DefinitionError) as refused:
        made.degree_limits("fail", 0.5)
    assert str(refused.value) == (
        "action 'a': prepare_degrees of action type 'own_degrees' failed with ValueError: no; "
        f"got the exception at {line('raise ValueError')}. Correct the action type's code and load it again"
    )
    with pytest.raises(DefinitionError) as refused:
        made.degree_limits("crash", 0.5)
    assert str(refused.value) == (
        "action 'a': prepare_degrees of action type 'own_degrees' ended its process; got SIGSEGV at "
        f"{line('ctypes.string_at(0)')}. Correct the action type's code and load it again"
    )


def test_two_workers_run_at_the_same_time(file: TypeFile) -> None:
    one, two = Made(file), Made(file)
    found: list[float] = []
    threads = [
        threading.Thread(target=lambda m=m, level=level: found.append(m.fill("meet", level).level))
        for m, level in ((one, 0.0), (two, 1.0))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert sorted(found) == [0.0, 1.0], "each has waited for the other"
    one.worker.leave()
    two.worker.leave()


def test_requests_of_one_action_run_one_after_the_other(made: Made) -> None:
    threads = [threading.Thread(target=made.fill, args=("work",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert made.fill("work").fills == 9


def test_objects_that_nobody_needs_are_dropped(made: Made) -> None:
    more = [made.worker.create(f"action {i}", {"arm": "arm"}, None) for i in range(3)]
    assert made.fill("work").alive == 4
    more.clear()
    gc.collect()
    assert made.fill("work").alive == 1


def test_a_large_record_arrives(file: TypeFile) -> None:
    made = Made(file, "Large")
    assert (made.fill("work", 0.5).table == 0.5).all()
    made.worker.leave()


def test_an_edited_file_is_not_read_again(preparers: Preparers, tmp_path: Path) -> None:
    copy = tmp_path / "copy.py"
    copy.write_text(FILE.read_text())
    file = loaded(preparers, copy)
    assert loaded(preparers, copy) is file, "one process for each file"
    copy.write_text(FILE.read_text().replace("self.fills = fills + 1", "self.fills = fills + 10"))
    made = Made(file)
    record = made.fill("work")
    assert record.fills == 1
    os.kill(record.imported_in, signal.SIGKILL)
    until(lambda: not exists(record.pid))
    assert made.worker.is_gone, "with the process that forked it"
    with pytest.raises(CompileError, match=r"copy.py:Subject is not what was built. Its file, or one that it imports,"):
        Made(file)
    copy.write_text(FILE.read_text())
    assert Made(file).fill("work").fills == 1, "it is imported again"


def test_a_file_whose_import_ends_its_process(preparers: Preparers, tmp_path: Path) -> None:
    ending = tmp_path / "ending.py"
    ending.write_text("import os\nos._exit(5)\n")
    with pytest.raises(CompileError, match=r"^importing .*ending.py:A ended its process \(exit code 5\)"):
        preparers.load(f"{ending}:A", "")
    ending.write_text("raise RuntimeError('today')\n")
    with pytest.raises(CompileError, match=r"ending.py:1: importing failed with RuntimeError: today"):
        preparers.load(f"{ending}:A", "")


@pytest.mark.parametrize("end", ["hang up", "kill the worker", "close the server"])
def test_K21_processes_that_create_leaves_behind_end_with_their_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setenv("SUBJECT_FOLDER", str(tmp_path))
    preparers = Preparers()
    file = loaded(preparers)
    ending, other = Made(file), Made(file)

    def left(made: Made) -> tuple[int, list[int]]:
        (tmp_path / "left").unlink(missing_ok=True)
        worker = int(made.fill("leave_behind").pid)
        until(lambda: (tmp_path / "left").exists() and len((tmp_path / "left").read_text().split()) == 2)
        return worker, [int(word) for word in (tmp_path / "left").read_text().split()]

    worker, daemons = left(ending)
    _, others = left(other)
    time.sleep(0.3)
    assert all(map(exists, daemons + others)), "they live as long as the session does"
    if end == "hang up":
        ending.worker.leave()
    elif end == "kill the worker":
        os.kill(worker, signal.SIGKILL)
    else:
        preparers.close()
        assert not any(map(exists, others))
    until(lambda: not any(map(exists, daemons)))
    if end != "close the server":
        assert all(map(exists, others)), "those of other sessions live on"
    preparers.close()
    assert not any(map(exists, others))


SERVER = """
import sys, threading
from {module} import *
preparers = Preparers()
made = Made(loaded(preparers))
print(preparers.pid, made.fill("work").imported_in, made.fill("speak").pid, flush=True)
threading.Thread(target=made.fill, args=("hang",), daemon=True).start()
sys.stdin.readline()
"""


def test_all_processes_end_with_the_server_and_prints_go_to_its_log(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(SERVER.format(module=Path(__file__).stem))
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "PYTHONPATH": path, "SUBJECT_FOLDER": str(tmp_path)},
        )
        with server:
            assert server.stdout is not None
            pids = [int(word) for word in server.stdout.readline().split()]
            until((tmp_path / "hangs").exists)
            assert len(pids) == 3 and all(map(exists, pids))
            server.kill()
    until(lambda: not any(map(exists, pids)))
    assert (tmp_path / "log").read_text() == "a word of the author's\n"


def test_code_that_ignores_its_end_is_killed_and_a_preparer_that_died_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBJECT_FOLDER", str(tmp_path))
    preparers = Preparers(patience=0.1)
    file = loaded(preparers)
    error = end_while(Made(file), "ignore", tmp_path / "hangs")
    assert f"had not returned when its session ended; got it was still running at {FILE}:" in error

    first = preparers.pid
    assert first is not None
    made = Made(file)
    os.kill(first, signal.SIGKILL)
    until(lambda: made.worker.is_gone)
    assert Made(file).fill("work").fills == 1
    assert preparers.pid != first
    preparers.close()
    with pytest.raises(CompileError, match="the builder is closed"):
        Made(file)
