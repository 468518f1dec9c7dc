"""Rules M1 to M8 of docs/semantics/groups.md: motion commands of several parts in one group, planned in the loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arms_cell import LIMITS, arms_file, cell_of, go, limits_kept, on_path, positions

from robot_rt_control.client import Action, MotionCommand, MotionGroup, Reaction
from robot_rt_control.server.runs.runs import Run, plan_action
from robot_rt_control.testing import LockstepCell
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError, ProgramError


def arrivals(q: np.ndarray) -> list[int]:
    """The first row in which each arm is where it ends."""
    return [int(np.flatnonzero((q[:, i] == q[-1, i]).all(axis=1))[0]) for i in range(q.shape[1])]


@pytest.mark.parametrize("n", [2, 8, 32, 64])
def test_M1_all_parts_begin_in_one_tick_and_M3_arrive_in_one(n: int, tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, n)
    session.add(go(n, finish="together"))
    session.start("go")
    q = positions(cell, n, 1900)
    first = (q != q[0]).any(axis=2).argmax(axis=0)
    assert set(first) == {first[0]}
    assert set(arrivals(q)) == {arrivals(q)[0]}
    np.testing.assert_allclose(q[-1, :, 0], 0.3 + 0.05 * (np.arange(n) % 32))


def test_M3_each_arrives_as_soon_as_it_can_or_all_in_one_tick_at_any_speed(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 3)
    session.add(go(3), go(3, "back", -1.0, finish="together"))
    session.start("go")
    own = arrivals(positions(cell, 3, 900))
    assert own == sorted(own) and len(set(own)) == 3
    session.start("back")
    cell.step(100)
    cell.server.set_speed(0.37)
    together = arrivals(positions(cell, 3, 4000))
    assert len(set(together)) == 1 and cell.active("arm0") == "back"


def test_M4_speed_acceleration_and_jerk_do_not_depend_on_each_other(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 1)
    command = MotionCommand(
        part="arm0", position=(1.5, 0.0, 0.0), speed=0.5, acceleration_percent=40.0, jerk_percent=30.0
    )
    session.add(MotionGroup("go", command))
    session.start("go")
    q = positions(cell, 1, 3000)[:, 0, 0]
    v, a = np.diff(q) / 1e-3, np.diff(q, 2) / 1e-6
    jerk = np.diff(a) / 1e-3
    assert v.max() == pytest.approx(0.5 * LIMITS["velocity"], rel=1e-3)
    assert np.abs(a).max() == pytest.approx(0.4 * LIMITS["acceleration"], rel=1e-2)
    assert np.abs(jerk).max() == pytest.approx(0.3 * LIMITS["jerk"], rel=2e-2)


def test_M4_several_commands_of_a_part_follow_each_other_and_take_their_durations(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 1)
    group = MotionGroup("go", MotionCommand(part="arm0", position=(0.2, 0.0, 0.0), duration=1.0))
    group.add(MotionCommand(part="arm0", velocity=(0.0, 0.3, 0.0), time=0.8))
    group.add(MotionCommand(part="arm0", position=(0.0, 0.0, 0.0), duration=1.2))
    session.add(group)
    session.start("go")
    q = positions(cell, 1, 3100)[:, 0]
    np.testing.assert_allclose(q[999], (0.2, 0.0, 0.0), atol=1e-12)
    assert np.diff(q[:, 1])[1300] / 1e-3 == pytest.approx(0.3)
    assert q[1799, 1] > 0.15 and q[1799, 0] == pytest.approx(0.2)
    np.testing.assert_allclose(q[2999], 0.0, atol=1e-12)
    assert np.abs(q[2990] - q[2999]).max() > 0.0


def test_M2_all_mistakes_of_all_commands_are_reported_and_nothing_changes(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    wrong = MotionGroup(
        "go",
        MotionCommand(part="arm0", position=(9.0, 0.0, 0.0), jerk_percent=0.0),
        MotionCommand(part="arm1", position=(0.5, 0.0, 0.0), duration=0.01),
    )
    with pytest.raises(ProgramError) as caught:
        session.add(wrong)
    text = str(caught.value)
    assert "action 'go': motion command 1, of part 'arm0': position of joint 'j0' is outside its limits" in text
    assert "expected -3.0000 to 3.0000; got 9.0000" in text
    assert "jerk_percent; expected above 0, at most 100; got 0" in text
    assert "motion command 2, of part 'arm1': motion to a position: duration; expected at least 0." in text
    session.add(go(2))  # the id is free
    with pytest.raises(DefinitionError, match=r"motion command of part 'arm1'; expected at least one; got none"):
        session.add(_with_parts(MotionGroup("other", MotionCommand(part="arm0", position=(0, 0, 0)))))
    with pytest.raises(DefinitionError, match=r"motion command 1; expected none: only motion groups have them"):
        plain = Action("plain", "hold", parts="arm0")
        plain.commands.append(MotionCommand(part="arm0", position=(0, 0, 0)))
        session.add(plain)


def _with_parts(group: MotionGroup) -> MotionGroup:
    group.parts_of = lambda _: ["arm0", "arm1"]  # type: ignore[method-assign, assignment]
    return group


def test_M5_a_start_that_is_too_far_is_refused_with_part_joint_and_distance(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    session.add(
        MotionGroup(
            "go",
            MotionCommand(part="arm0", position=(0.5, 0.0, 0.0)),
            MotionCommand(part="arm1", position=(0.5, 0.0, 0.0), start=(0.0, 0.1, 0.0), start_tolerance=0.05),
        )
    )
    session.start("go")
    cell.step()
    (refused,) = cell.kinds("command_refused")
    assert "the robot is too far from where the motion begins" in refused.reason
    assert "part 'arm1', start_joint 'j1', start_distance 0.1" in refused.reason
    assert cell.active("arm0") != "go"


def test_M6_a_stopped_group_comes_to_rest_on_its_paths_and_then_ends(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    session.add(go(2, finish="together"), go(2, "back", -1.0, finish="together"))
    session.start("go")
    whole = positions(cell, 2, 900)
    session.start("back")
    cell.step(1500)
    session.remove("go")
    session.add(go(2, "again", finish="together"))
    # from the same start as at first
    session.add(MotionGroup("home", *(MotionCommand(part=f"arm{i}", position=(0, 0, 0)) for i in range(2))))
    session.start("home")
    cell.step(1500)
    session.start("again")
    cell.step(250)
    session.stop("again")
    q = positions(cell, 2, 600)
    assert [e.reason for e in cell.kinds("action_stopped") if e.previous_action == "again"] == ["stopped by a command"]
    assert cell.active("arm0") == "arm0_default_action" or cell.active("arm0") != "again"
    assert (q[-1] == q[-2]).all() and np.abs(q[-1] - whole[-1]).max() > 0.01
    on_path(q, whole)
    limits_kept(q)


@pytest.mark.parametrize("on_failure", ["stop", "continue"])
def test_M7_if_a_part_fails_the_others_stop_on_their_paths_or_go_on(on_failure: str, tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 3)
    failed = Reaction("has_failed", event="one_failed", capture=["progress"])
    session.add(go(3, finish="together", on_failure=on_failure, reactions=[failed]))
    session.start("go")
    cell.step(200)
    cell.server.set_motion(["arm1"], "disable")
    q = positions(cell, 3, 900)
    assert [e.event for e in cell.kinds("reaction_fired")] == ["one_failed"]
    ends = [e.reason for e in cell.kinds("action_stopped") if e.previous_action == "go"]
    if on_failure == "stop":
        assert ends == ["a part of the motion group failed"]
        assert np.abs(q[-1, 0] - (0.3, -0.2, 0.1)).max() > 0.01
    else:
        assert ends == [] and cell.active("arm0") == "go"
        np.testing.assert_allclose(q[-1, 2], (0.4, -0.2, 0.1), atol=1e-12)
    limits_kept(q[:, [0, 2]])


def test_M8_state_variables_and_groups_one_after_the_other_and_again(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 4)
    first = MotionGroup(
        "first", *(MotionCommand(part=f"arm{i}", position=(0.3, 0, 0)) for i in (0, 1)), finish="together"
    )
    second = MotionGroup(
        "second", *(MotionCommand(part=f"arm{i}", position=(-0.3, 0, 0)) for i in (0, 1)), finish="together"
    )
    beside = MotionGroup("beside", *(MotionCommand(part=f"arm{i}", position=(0.1, 0, 0)) for i in (2, 3)))
    first.reactions = [Reaction("is_done", start="second", capture=["progress", "remaining_time"])]
    second.reactions = [Reaction("is_settled", start="first")]
    session.add(first, second, beside)
    session.start("first", "beside")
    cell.step(3000)
    fired = cell.kinds("reaction_fired")
    assert [(e.previous_action, e.current_action) for e in fired[:3]] == [
        ("first", "second"), ("second", "first"), ("first", "second")
    ]  # fmt: skip
    assert fired[0].values == (1.0, 0.0)
    assert cell.active("arm2") == "beside"
    started = [e.tick for e in cell.kinds("action_started") if e.current_action in ("second", "first")]
    assert started[1] == fired[0].tick


def test_M2_the_parameters_of_a_group_cannot_be_changed(tmp_path: Path) -> None:
    _, session = cell_of(tmp_path, 1)
    session.add(go(1))
    with pytest.raises(DefinitionError, match=r"action 'go' is a motion group: its parameters cannot be changed"):
        session.set("go", tolerance=0.1)


def test_M5_a_group_that_is_not_enabled_is_refused(tmp_path: Path) -> None:
    cell = LockstepCell(arms_file(tmp_path, 2), gated=False)
    session = cell.session("arm0", "arm1")
    session.add(go(2))
    cell.server.set_motion(["arm1"], "disable")
    with pytest.raises(CommandRefused, match=r"part 'arm1' is disabled"):
        session.start("go")


@pytest.mark.parametrize("how", ["reaction", "time limit", "session"])
def test_M6_whatever_stops_a_group_it_stops_on_its_path(how: str, tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 2)
    options: dict[str, Any] = {"finish": "together"}
    if how == "reaction":
        options["reactions"] = [Reaction("progress > 0.4", stop=True)]
    if how == "time limit":
        options["time_limit"] = 0.3
    session.add(go(2), go(2, "other", -1.0, **options))
    session.start("go")
    cell.step(1500)
    session.start("other")
    if how == "session":
        cell.step(300)
        session.stop()
    q = positions(cell, 2, 1200)
    (ended,) = (e for e in cell.kinds("action_stopped") if e.previous_action == "other")
    text = {"reaction": "ended by a reaction", "time limit": "its time limit was reached"}
    assert ended.reason == text.get(how, "stopped by a command")
    cell, session = cell_of(tmp_path, 2)
    session.add(go(2), go(2, "other", -1.0, finish="together"))
    session.start("go")
    cell.step(1500)
    session.start("other")
    whole = positions(cell, 2, 1500)
    on_path(q, whole)
    assert 0.05 < abs(q[-1, 0, 0] - whole[-1, 0, 0]) < 0.5
    limits_kept(q)


def test_M3_together_from_motion(tmp_path: Path) -> None:
    cell, session = cell_of(tmp_path, 4)
    session.add(go(4), go(4, "back", -1.0, finish="together"))
    session.start("go")
    cell.step(260)
    session.start("back")
    q = positions(cell, 4, 3000)
    assert np.abs(np.diff(q[:2], axis=0)).max() > 1e-4, "they moved"
    assert len(set(arrivals(q))) == 1
    limits_kept(q)


def test_M1_two_groups_on_one_part_do_not_start_together(tmp_path: Path) -> None:
    _, session = cell_of(tmp_path, 2)
    session.add(go(2), MotionGroup("other", MotionCommand(part="arm1", position=(0.1, 0.0, 0.0))))
    with pytest.raises(DefinitionError, match=r"cannot start together; .* got both move arm1"):
        session.start("go", "other")


def test_M7_a_run_whose_group_has_stopped_says_why(tmp_path: Path) -> None:
    cell = LockstepCell(arms_file(tmp_path, 2))
    commands = [MotionCommand(part=f"arm{i}", position=(1.0, 0.0, 0.0)) for i in range(2)]
    plan = plan_action(cell.server, "motion_group", [], [], until="", timeout=0.0, commands=commands)
    run = Run(cell.server, plan)
    cell.step(200)
    cell.server.set_motion(["arm1"], "disable")
    cell.step_until(lambda: run.update() is not None)
    result = run.update()
    assert result is not None
    assert (result.success, result.message) == (False, "action 'motion_group': a part of the motion group failed")
    run.close()
