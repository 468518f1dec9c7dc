"""Starting processes, watching them, and bringing them down, with small processes in place of nodes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from robot_rt_control.bringup.supervised_process import SupervisedProcess
from robot_rt_control.bringup.supervisor import Supervisor
from robot_rt_control.vocabulary.errors import RobotControlError

from .conftest import IMPATIENT, PATIENT, PRELUDE, Run, alive, eventually, fake, running

GOOD = "ready(); wait()"


def pid_of(run: Run, name: str) -> int:
    return int(re.findall(rf"started {name} \(process (\d+)\)", run.text)[-1])


def test_all_start_and_end_in_the_reverse_order() -> None:
    with running(fake("driver", GOOD), fake("executor", GOOD), fake("server", GOOD)) as run:
        assert run.ready.wait(120.0)
        assert "executor is up after" in run.text
        assert "all is up after" in run.text
        assert run.stop() == 0
    assert "ending, in this order: server, executor, driver" in run.text
    assert (
        run.position("server ended with exit code 0")
        < run.position("[executor] interrupted")
        < run.position("executor ended with exit code 0")
        < run.position("[driver]   interrupted")
        < run.position("driver ended with exit code 0")
    )


def test_no_process_waits_for_another_one_to_come_up() -> None:
    with running(fake("executor", "wait()"), fake("server", "wait()"), fake("frames", GOOD)) as run:
        assert run.says("frames is up after")
        assert pid_of(run, "executor") and pid_of(run, "server") and "all is up" not in run.text
        assert run.stop() == 0


SAYS = """
def say(text):
    address = os.environ["NOTIFY_SOCKET"]
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(text, "\\0" + address[1:])
def on(number, text):
    signal.signal(number, lambda *_: say(text))
"""


def test_I18_what_is_not_up_yet_is_named_every_now_and_then() -> None:
    code = SAYS + "on(signal.SIGUSR1, b'READY=1'); print('handles', flush=True)\nwhile True: time.sleep(1)"
    late = fake("late", code)
    patience = replace(PATIENT, report_s=0.05)
    with running(fake("good", GOOD), late, patience=patience) as run:
        assert run.says("handles")
        assert run.says("still waiting for late (")
        assert "all is up" not in run.text
        os.kill(pid_of(run, "late"), signal.SIGUSR1)
        assert run.ready.wait(120.0)
        assert run.says("all is up after")
        assert run.stop() == 0


def test_I18_all_is_up_is_only_said_if_all_is_well() -> None:
    text = "STATUS=part 'arm' is faulted: the hardware's data is too old"
    code = SAYS + f"say({text!r}.encode()); on(signal.SIGUSR1, b'STATUS='); ready()\nwhile True: time.sleep(1)"
    with running(fake("executor", code), fake("server", GOOD)) as run:
        assert run.ready.wait(120.0)
        assert run.says("executor: part 'arm' is faulted: the hardware's data is too old")
        assert "but not all is well" in run.text and "all is up" not in run.text
        os.kill(pid_of(run, "executor"), signal.SIGUSR1)
        assert run.says("executor: all is well again")
        assert run.stop() == 0


def test_I18_a_process_that_has_ended_is_not_waited_for_if_the_others_can_do_without() -> None:
    with running(fake("executor", GOOD), fake("viewer", "sys.exit(7)", required=False)) as run:
        assert run.ready.wait(120.0)
        assert run.says("ended with exit code 7") and run.says("but not all is well")
        assert "all is up" not in run.text
        assert run.stop() == 0


def test_processes_that_do_not_report_are_not_waited_for() -> None:
    with running(fake("viewer", "wait()", reports_ready=False), fake("executor", GOOD)) as run:
        assert run.ready.wait(120.0)
        assert run.stop() == 0


def test_a_required_process_that_fails_brings_all_down() -> None:
    failing = fake(
        "server", "print('one'); print('two', file=sys.stderr); sys.exit(3)", consequence="the executor goes to safety"
    )
    with running(fake("executor", GOOD), failing) as run:
        assert run.end() == 3
    assert re.search(
        r"server \(process \d+\) ended with exit code 3 after [\d.]+ s; the executor goes to safety. Its last lines:\n"
        r"(\[workcell\] +(one|two)\n){2}",  # two pipes: which line comes first is open
        run.text,
    )
    # How it ended is open: the signal may have come while its Python was still starting.
    assert "ending, in this order: executor" in run.text
    assert not alive(pid_of(run, "executor"))


def test_links_of_an_ended_editor_are_not_printed_again() -> None:
    link = "http://127.0.0.1:8765/#token=abc"
    editor = fake("editor", f"print('Edit and operate:  {link}'); print('lost'); sys.exit(3)")
    with running(editor) as run:
        assert run.end() == 3
    assert run.text.count(link) == 1 and run.text.index("Its last lines:") < run.text.rindex("lost")


def test_a_required_process_that_is_killed_is_a_failure() -> None:
    with running(fake("executor", GOOD)) as run:
        assert run.ready.wait(120.0)
        os.kill(pid_of(run, "executor"), signal.SIGKILL)
        assert run.end() == 1
    assert re.search(r"executor \(process \d+\) was ended by SIGKILL after [\d.]+ s, and had written nothing", run.text)


def test_a_required_process_that_ends_well_ends_all_well() -> None:
    with running(fake("executor", GOOD), fake("application", "ready()")) as run:
        assert run.end() == 0
    assert run.position("application (process") < run.position("ending, in this order: executor")


def test_the_others_stay_when_one_ends_that_is_not_required() -> None:
    with running(fake("executor", GOOD), fake("viewer", "sys.exit(7)", required=False)) as run:
        assert run.says("ended with exit code 7")
        assert not eventually(lambda: "ending" in run.text, 0.3)
        assert alive(pid_of(run, "executor"))
        assert run.stop() == 0


def test_a_process_that_ignores_signals_is_pressed_harder() -> None:
    deaf = fake("deaf", "ignore('SIGINT', 'SIGTERM'); ready()\nwhile True: time.sleep(1)")
    hard = fake("hard", "ignore('SIGINT'); ready()\nwhile True: time.sleep(1)")
    with running(fake("good", GOOD), deaf, hard, patience=IMPATIENT) as run:
        assert run.ready.wait(120.0)
        assert run.stop() == 1
    assert "hard did not end within 1 s of SIGINT: SIGTERM" in run.text
    assert "hard was ended by SIGTERM" in run.text
    assert "deaf did not end: SIGKILL" in run.text
    assert "deaf was ended by SIGKILL" in run.text
    assert run.position("deaf was ended") < run.text.rindex("good "), "the one below is ended last"


def test_the_second_request_hurries_and_the_third_kills() -> None:
    deaf = "ignore('SIGINT', 'SIGTERM'); ready()\nwhile True: time.sleep(1)"
    with running(fake("a", deaf), fake("b", GOOD), fake("c", deaf)) as run:
        assert run.ready.wait(120.0)
        run.supervisor.stop()
        assert run.says("ending, in this order: c, b, a")
        run.supervisor.stop()
        assert run.says("b was ended by SIGTERM")
        run.supervisor.stop()
        assert run.end() == 1
    assert "faster: SIGTERM to all, SIGKILL in 60 s; once more: at once" in run.text
    assert "a was ended by SIGKILL" in run.text and "c was ended by SIGKILL" in run.text


def test_hurrying_alone_ends_everything() -> None:
    deaf = "ignore('SIGINT', 'SIGTERM'); ready()\nwhile True: time.sleep(1)"
    with running(fake("a", deaf), fake("b", GOOD), patience=IMPATIENT) as run:
        assert run.ready.wait(120.0)
        run.supervisor.stop()
        run.supervisor.stop()
        assert run.end() == 1
    assert "a was ended by SIGKILL" in run.text


def test_a_failed_process_is_started_again(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = f"""
if not os.path.exists({str(mark)!r}):
    open({str(mark)!r}, "w").close()
    sys.exit(5)
ready(); wait()
"""
    with running(fake("executor", code), restart="on-failure") as run:
        assert run.ready.wait(120.0)
        assert run.text.count("started executor") == 2
        assert "executor is restarted in 0.05 s" in run.text
        assert run.stop() == 0


def test_a_process_that_fails_again_and_again_is_given_up() -> None:
    with running(fake("other", GOOD), fake("server", "sys.exit(5)"), restart="on-failure") as run:
        assert run.end() == 5
    assert run.text.count("started server") == 3
    assert "server failed 3 times within 60 s: it is not restarted" in run.text
    assert not alive(pid_of(run, "other"))


def test_a_process_that_ends_well_is_not_started_again() -> None:
    with running(fake("program", "print('done')"), restart="on-failure") as run:
        assert run.end() == 0
    assert run.text.count("started program") == 1


def test_a_program_that_is_not_there_brings_all_down() -> None:
    with running(fake("executor", GOOD), SupervisedProcess(name="bad", command=["/no/such/program"])) as run:
        assert run.end() == 1
    assert "bad cannot be started: [Errno 2] No such file or directory: '/no/such/program'" in run.text
    assert "executor" in run.text


def test_nothing_of_a_process_is_left_behind() -> None:
    code = """
if os.fork() == 0:
    ignore('SIGINT', 'SIGTERM')
    print("child", os.getpid(), flush=True)
    time.sleep(60)
else:
    time.sleep(0.2); ready(); wait()
"""
    with running(fake("executor", code)) as run:
        assert run.ready.wait(120.0)
        assert run.says("child ")
        child = int(re.findall(r"child (\d+)", run.text)[0])
        assert alive(child)
        assert run.stop() == 0
    assert eventually(lambda: not alive(child))


def test_output_is_shown_line_by_line_whatever_it_is() -> None:
    code = r"""
sys.stdout.buffer.write(b"whole\nbroken \xff\r\nha"); sys.stdout.buffer.flush(); time.sleep(0.1)
sys.stdout.buffer.write(b"lf\nno end of line")
"""
    with running(fake("talker", code)) as run:
        assert run.end() == 0
    lines = [line for line in run.text.split("\n") if line.startswith("[talker]")]
    assert lines == ["[talker]   whole", "[talker]   broken \ufffd", "[talker]   half", "[talker]   no end of line"]


def test_a_lot_of_output_arrives_whole() -> None:
    code = "for i in range(20000): print('line', i)"
    with running(fake("talker", code)) as run:
        assert run.end() == 0
    assert re.findall(r"\[talker\] +line (\d+)\n", run.text) == [str(i) for i in range(20000)]


def test_an_unknown_policy_is_an_error() -> None:
    with pytest.raises(RobotControlError) as caught:
        Supervisor([], restart="always")
    assert str(caught.value) == "restart; expected one of: never, on-failure; got 'always'"


SUPERVISOR = '''
import sys
from robot_rt_control.bringup.supervised_process import SupervisedProcess
from robot_rt_control.bringup.supervisor import Supervisor
code = {prelude!r} + """
signal.signal(signal.SIGUSR1, lambda *_: print("something", flush=True))
print("pid", os.getpid(), flush=True); ready(); wait()
"""
processes = [SupervisedProcess(name=n, command=[sys.executable, "-S", "-c", code]) for n in ("one", "two")]
sys.exit(Supervisor(processes).run())
'''


@pytest.fixture
def supervisor_process() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SUPERVISOR.format(prelude=PRELUDE))],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def pids_when_up(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout is not None
    pids = []
    for line in process.stdout:
        pids += [int(pid) for pid in re.findall(r"pid (\d+)", line)]
        if "all is up" in line:
            return pids
    raise AssertionError("it has ended")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_bring_all_down(supervisor_process: subprocess.Popen[str], number: signal.Signals) -> None:
    pids = pids_when_up(supervisor_process)
    os.killpg(supervisor_process.pid, number)  # as a terminal does: to the whole group
    rest, _ = supervisor_process.communicate(timeout=120)
    assert supervisor_process.returncode == 0
    assert f"{number.name}: bringing all down; once more: faster" in rest
    assert rest.index("two ended with exit code 0") < rest.index("one ended with exit code 0")
    assert not any(alive(pid) for pid in pids)


def test_processes_end_with_their_supervisor(supervisor_process: subprocess.Popen[str]) -> None:
    pids = pids_when_up(supervisor_process)
    assert len(pids) == 2 and all(alive(pid) for pid in pids)
    supervisor_process.kill()
    supervisor_process.communicate(timeout=120)
    assert eventually(lambda: not any(alive(pid) for pid in pids))


def test_a_supervisor_can_be_tied_to_whoever_starts_it(tmp_path: Path) -> None:
    starter = f"""
import signal, subprocess, sys, time
from robot_rt_control.processes.parent_death import end_with_parent
with open({str(tmp_path / "log")!r}, "w") as log:
    subprocess.Popen(
        [sys.executable, "-c", {SUPERVISOR.format(prelude=PRELUDE)!r}],
        stdout=log, start_new_session=True, preexec_fn=end_with_parent(signal.SIGINT),
    )
time.sleep(60)
"""
    log = tmp_path / "log"
    process = subprocess.Popen([sys.executable, "-c", starter])
    assert eventually(lambda: log.exists() and "all is up" in log.read_text())
    process.kill()
    process.wait()
    assert eventually(lambda: "one ended with exit code 0" in log.read_text())
    assert "SIGINT: bringing all down" in log.read_text()
    assert not any(alive(int(pid)) for pid in re.findall(r"pid (\d+)", log.read_text()))


def test_all_end_when_nobody_reads(supervisor_process: subprocess.Popen[str]) -> None:
    pids = pids_when_up(supervisor_process)
    assert supervisor_process.stdout is not None
    supervisor_process.stdout.close()
    os.kill(pids[0], signal.SIGUSR1)
    assert supervisor_process.wait(120) == 1
    assert not any(alive(pid) for pid in pids)
