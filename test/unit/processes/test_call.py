"""A call in a process of its own, against real processes."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.processes.call import KeptProcess, ProcessLost, call
from robot_rt_control.processes.work_watch import WorkWatch
from robot_rt_control.vocabulary.errors import CompileError, InternalError, RobotControlError

MODULE = """
import os, signal, time
from robot_rt_control.processes.call import answer
from robot_rt_control.vocabulary.errors import CompileError

def act(question):
    print("printed")
    os.write(1, b"written")
    if question == "refuse":
        raise CompileError("a type", expected="this", got="that", hint="Do it")
    if question == "fail":
        raise ValueError("odd")
    if question == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if question == "leave":
        os._exit(3)
    if question == "exit":
        raise SystemExit
    if question == "hang":
        time.sleep(3600.0)
    return [question, os.getpid()]

if __name__ == "__main__":
    answer(act)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "called_module.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "called_module"


def test_the_answer_is_that_of_another_process_whatever_it_prints(module: str) -> None:
    question: Any = {"many": ["ä" * 100_000]}
    found, pid = call(module, question, limit=60.0)
    assert found == question and pid != os.getpid()


def test_a_refusal_keeps_its_class_and_fields(module: str) -> None:
    with pytest.raises(CompileError) as refused:
        call(module, "refuse", limit=60.0)
    error = refused.value
    assert (error.what, error.expected, error.got, error.hint) == ("a type", "this", "that", "Do it")
    with pytest.raises(InternalError, match="internal error in act: ValueError: odd"):
        call(module, "fail", limit=60.0)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("die", "was ended by SIGKILL"),
        ("leave", "ended with exit code 3"),
        ("exit", "ended with exit code 0"),
    ],
)
def test_an_end_without_an_answer_is_told_in_words(module: str, how: str, words: str) -> None:
    with pytest.raises(RobotControlError, match=f"the process of called_module {words}"):
        call(module, how, limit=60.0)


def test_one_that_does_nothing_is_ended(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    idle = partial(WorkWatch, idle_s=0.5)  # its start may take longer: of processor time
    monkeypatch.setattr("robot_rt_control.processes.call.WorkWatch", lambda pid, **_: idle(pid, processor_s=60.0))
    with pytest.raises(RobotControlError, match="did nothing for 0.5 s and was ended"):
        call(module, "hang", limit=0.5)


def test_a_kept_process_answers_one_question_after_the_other_and_is_started_anew(module: str) -> None:
    kept = KeptProcess(module, limit=60.0)
    try:
        first = kept.ask("a")
        assert kept.ask("b") == ["b", first[1]] and first[0] == "a"
        with pytest.raises(CompileError):
            kept.ask("refuse")
        assert kept.ask("c")[1] == first[1], "a refusal is an answer"
        with pytest.raises(ProcessLost, match="was ended by SIGKILL"):
            kept.ask("die")
        assert kept.ask("d")[1] != first[1]
    finally:
        kept.close()
    kept.close()
