"""Actions and programs that run in a session of their own, from start to end."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.server.runs.runs import Run, RunResult, plan_action, plan_program
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.vocabulary.errors import RobotControlError

PROGRAM = """
start: [one]
actions:
  one: {type: wait, parts: arm, parameters: {duration: 0.003}, reactions: [{when: is_done, start: two, event: half}]}
  two: {type: wait, parts: arm, parameters: {duration: 0.004}, reactions: [{when: is_done, event: full}]}
"""


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(RobotControlError) as error:
        call()
    return str(error.value)


def action(bench: ServerBench, *, until: str = "", timeout: float = 0.0, **values: Any) -> Run:
    parameters = [ParameterValue(name=n, value=v) for n, v in values.items()]
    return Run(bench.server, plan_action(bench.server, "wait", ["arm"], parameters, until=until, timeout=timeout))


def finish(bench: ServerBench, run: Run, ticks: int = 50) -> RunResult:
    for _ in range(ticks):
        result = run.update()
        if result is not None:
            run.close()
            bench.step()
            return result
        bench.step()
    raise AssertionError("the run did not end")


def test_an_action_runs_until_it_is_done_and_its_part_takes_its_default(bench: ServerBench) -> None:
    run = action(bench, duration=0.005)
    bench.step(2)
    progress = run.progress()
    assert (progress.active, progress.last_event) == (("wait",), "")
    assert progress.elapsed == pytest.approx(0.002)
    assert progress.progress == pytest.approx(0.6)
    result = finish(bench, run)
    assert (result.success, result.message, result.ticks, result.last_event) == (True, "", 4, "done")
    assert bench.active("arm") == "default"
    assert bench.server.sessions() == []


def test_a_condition_may_end_it_instead(bench: ServerBench) -> None:
    result = finish(bench, action(bench, until="elapsed > 0.0025 and arm.at_rest", duration=50.0))
    assert (result.success, result.ticks) == (True, 2)


def test_an_action_without_is_done_needs_a_condition(bench: ServerBench) -> None:
    assert refusal(lambda: plan_action(bench.server, "both", ["arm"], [], until="", timeout=0.0)) == (
        "action type 'both' has no state variable 'is_done'; expected a condition in `until`; got none. Say when the "
        "action is to end, such as 'time > 10'"
    )
    parts = ["arm=arm", "tool=gripper", "eye=rangefinder"]
    plan = plan_action(bench.server, "both", parts, [], until="time > 0", timeout=0.0)
    assert plan.parts == ("arm", "gripper")
    assert finish(bench, Run(bench.server, plan)).success


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"duration": 50.0, "timeout": 0.01}, "it took longer than its timeout of 0.01 s"),
        ({"duration": 50.0, "fail_after": 0.003}, "action 'wait' failed: status 7 of the action's own code"),
    ],
)
def test_a_run_that_fails_says_why(bench: ServerBench, values: dict[str, Any], message: str) -> None:
    result = finish(bench, action(bench, **values))
    assert (result.success, result.message) == (False, message)
    assert bench.server.sessions() == []


def test_a_fault_of_its_part_ends_it(bench: ServerBench) -> None:
    result = finish(bench, action(bench, duration=50.0, poison=1))
    assert (result.success, result.message) == (False, "action 'wait': a part was faulted")
    (event,) = bench.kinds("part_faulted")
    assert (event.part, event.reason) == ("arm", "the action wrote a command that is not finite (joint_1)")


def test_disabling_its_part_ends_it(bench: ServerBench) -> None:
    run = action(bench, duration=50.0)
    bench.server.set_motion(["arm"], "disable")
    result = finish(bench, run)
    assert (result.success, result.message) == (False, "its action was stopped before its end")


def test_what_cannot_start_leaves_nothing_behind(bench: ServerBench) -> None:
    assert "has no parameter 'durtion'" in refusal(lambda: action(bench, durtion=1.0))
    assert "there is no such state variable" in refusal(lambda: action(bench, until="is_dnoe"))
    assert "timeout; expected a time in seconds" in refusal(lambda: action(bench, timeout=-1.0))
    held = bench.server.open_session("by_hand", ["arm"], 0.0)
    assert "part 'arm' is taken" in refusal(lambda: action(bench))
    assert bench.server.sessions() == [held]
    bench.server.close_session(held.id)
    bench.server.set_motion(["arm"], "disable")
    assert "part 'arm' is disabled" in refusal(lambda: action(bench))
    assert bench.server.sessions() == []


def test_a_cancelled_run_stops_with_the_default_action(bench: ServerBench) -> None:
    run = action(bench, duration=50.0)
    bench.step(3)
    result = run.cancelled()
    run.close()
    assert (result.success, result.message, result.ticks) == (False, "cancelled", 3)
    assert bench.active("arm") == "default"


def test_a_program_ends_when_all_that_is_active_is_done(bench: ServerBench) -> None:
    run = Run(bench.server, plan_program(bench.server, PROGRAM, until_event="", timeout=0.0))
    bench.step(4)
    assert run.progress().active == ("two",)
    assert run.progress().last_event == "half"
    result = finish(bench, run)
    assert (result.success, result.last_event) == (True, "full")
    assert bench.active("arm") == "default"


def test_a_program_ends_with_its_event(bench: ServerBench, tmp_path: Path) -> None:
    file = tmp_path / "program.yaml"
    file.write_text(PROGRAM)
    result = finish(bench, Run(bench.server, plan_program(bench.server, str(file), until_event="half", timeout=0.0)))
    assert (result.success, result.last_event, result.ticks) == (True, "half", 2)


def test_a_run_ends_with_the_last_event_although_nobody_has_handed_it_out(bench: ServerBench) -> None:
    run = Run(bench.server, plan_program(bench.server, PROGRAM, until_event="", timeout=0.0))
    for _ in range(20):
        bench.executor.step(1)  # the snapshot is there at once, the events wait in their ring
        result = run.update()
        if result is not None:
            break
    assert result is not None and (result.success, result.last_event) == (True, "full")
    run.close()


def test_in_the_middle_of_a_switch_a_run_has_not_ended(bench: ServerBench) -> None:
    run = Run(bench.server, plan_program(bench.server, PROGRAM, until_event="", timeout=0.0))
    bench.step(4)
    assert run.progress().active == ("two",) and run.update() is None
    stopped = bench.kinds("action_stopped", previous_action="one")[0]
    run._take(dataclasses.replace(stopped, previous_action="two"))  # the first event of a switch has come, but no more
    assert run.progress().active == () and run.update() is None
    run.close()


def test_bad_programs_are_refused(bench: ServerBench) -> None:
    def plan(text: str, until: str = "") -> str:
        return refusal(lambda: plan_program(bench.server, text, until_event=until, timeout=0.0))

    assert "cannot be read" in plan("/nowhere/program.yaml")
    assert "the program starts no action" in plan("actions: {a: {type: wait, parts: arm}}")
    assert "expected one of: full, half; got 'ful'" in plan(PROGRAM, "ful")
    assert "unknown action type" in plan("{start: a, actions: {a: {type: wiat, parts: arm}}}")


def test_a_gated_run_goes_on_with_the_steps(gated: ServerBench) -> None:
    gated.step()
    run = action(gated, duration=0.004)
    assert run.update() is None
    assert run.progress().elapsed == 0.0
    gated.step(2)
    assert run.progress().active == ("wait",)
    result = finish(gated, run)
    assert (result.success, result.ticks) == (True, 3)
    assert gated.active("arm") == "default"
    assert gated.server.sessions() == []
