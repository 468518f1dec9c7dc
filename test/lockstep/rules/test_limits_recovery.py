"""Rule L14 of docs/semantics/limits.md: recovery programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rules.changed_workcell import changed_workcell

from robot_rt_control.bringup.bringup import BringupOptions, processes
from robot_rt_control.client.actions import Action
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import OperationalState
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError, SessionError

HOME = {
    "name": "maintenance_pose",
    "start": ["home"],
    "actions": {"home": {"type": "move_joint", "parts": ["left"], "parameters": {"position": [0.5, -0.5]}}},
}
HOSTED = "robot_rt_control.hardware.mock_plugin:MockPlugin"


def make(folder: Path, hardware: str | None = None, **recovery: Any) -> LockstepCell:
    return LockstepCell(
        changed_workcell(folder, {"parts/left/recovery": {"program": HOME, "cooldown": 5.0, **recovery}}, hardware)
    )


@pytest.fixture
def home(tmp_path: Path) -> Iterator[LockstepCell]:
    with make(tmp_path) as made:
        yield made


@pytest.fixture
def automatic(tmp_path: Path) -> Iterator[LockstepCell]:
    with make(tmp_path, automatic=True) as made:
        yield made


def state(cell: LockstepCell) -> str:
    return OperationalState(int(cell.part("left").operational_state)).name.lower()


def fault(cell: LockstepCell) -> None:
    """Let the part fault while no session holds it."""
    session = cell.session("left")
    session.add(Action("bad", "writer", parts="left", kind=1))
    session.start("bad")
    cell.step()
    assert state(cell) == "faulted"
    session.close()


def events(cell: LockstepCell) -> list[tuple[str, str]]:
    return [(e.kind, e.reason) for e in cell.kinds("recovery_started", "recovery_ended")]


def run(cell: LockstepCell, ticks: int = 3000) -> None:
    for _ in range(ticks // 50):
        cell.now += 0.05
        cell.step(50)


def test_L14_on_request_the_fault_is_cleared_the_motion_enabled_and_the_program_run(home: LockstepCell) -> None:
    fault(home)
    run(home, 500)
    assert state(home) == "faulted" and not events(home), "not by itself"
    (session,) = home.recoveries.recover(["left"])
    assert home.server.session_of_part("left") == session
    run(home)
    assert events(home) == [("recovery_started", "program maintenance_pose"), ("recovery_ended", "done")]
    assert {e.session for e in home.kinds("recovery_started", "recovery_ended")} == {session}
    assert state(home) == "enabled" and home.active("left") == "default"
    assert home.part("left").position[:2].tolist() == pytest.approx([0.5, -0.5])
    assert home.server.session_of_part("left") == "", "the part is free again"


def test_L14_without_names_all_faulted_parts_with_a_program_are_recovered(home: LockstepCell) -> None:
    with pytest.raises(DefinitionError, match="nothing to recover; .* parts with a recovery program: left"):
        home.recoveries.recover()
    fault(home)
    home.step()
    assert len(home.recoveries.recover()) == 1
    run(home)
    assert events(home)[-1] == ("recovery_ended", "done")


def test_L14_it_is_refused_while_a_session_holds_the_part_and_while_stopped(home: LockstepCell) -> None:
    fault(home)
    session = home.session("left")
    with pytest.raises(SessionError) as refused:
        home.recoveries.recover(["left"])
    assert str(refused.value) == (
        f"recovery of part 'left' was refused; expected a part that no session holds; got session {session.id!r} "
        "holds it. Close the session first"
    )
    session.close()
    home.server.protective_stop(True)
    home.step()
    with pytest.raises(CommandRefused, match="a protective stop holds all parts. Release it first"):
        home.recoveries.recover(["left"])
    with pytest.raises(DefinitionError, match="part 'right' has no recovery program; expected one of: left"):
        home.recoveries.recover(["right"])
    with pytest.raises(DefinitionError, match="did you mean 'left'"):
        home.recoveries.recover(["lefd"])
    assert not events(home)


def test_L14_a_recovery_that_is_broken_off_says_why(home: LockstepCell) -> None:
    fault(home)
    home.recoveries.recover(["left"])
    run(home, 200)
    home.server.protective_stop(True)
    run(home, 200)
    assert events(home)[-1] == ("recovery_ended", "failed: action 'home': a protective stop")
    assert home.server.session_of_part("left") == ""


def test_L14_by_itself_only_where_the_workcell_says_so(automatic: LockstepCell) -> None:
    fault(automatic)
    run(automatic)
    assert events(automatic) == [("recovery_started", "program maintenance_pose"), ("recovery_ended", "done")]
    assert state(automatic) == "enabled"


def test_L14_by_itself_it_waits_until_no_session_holds_the_part(automatic: LockstepCell) -> None:
    session = automatic.session("left")
    session.add(Action("bad", "writer", parts="left", kind=1))
    session.start("bad")
    run(automatic, 1000)
    assert state(automatic) == "faulted" and not events(automatic)
    session.close()
    run(automatic)
    assert events(automatic)[-1] == ("recovery_ended", "done")


def test_L14_by_itself_it_waits_until_the_fault_can_be_cleared(tmp_path: Path) -> None:
    with make(tmp_path, HOSTED, automatic=True) as cell:
        cell.silence("first")
        run(cell, 1000)
        assert state(cell) == "faulted"
        cell.silence("first", False)
        run(cell, 4000)
        assert events(cell)[-1] == ("recovery_ended", "done") and state(cell) == "enabled"


def test_L14_a_part_that_faults_again_within_the_cooldown_is_left_to_people(automatic: LockstepCell) -> None:
    cell = automatic
    fault(cell)
    run(cell)
    fault(cell)
    run(cell, 20_000)
    assert events(cell)[2:] == [
        (
            "recovery_ended",
            "not recovered by itself: it faulted again within 5 s of its last one. "
            "Look for the cause, then recover it by hand",
        )
    ]
    assert state(cell) == "faulted"
    cell.recoveries.recover(["left"])
    run(cell)
    assert events(cell)[-1] == ("recovery_ended", "done")
    cell.now += 10.0
    fault(cell)
    run(cell)
    assert state(cell) == "enabled", "later it is recovered by itself again"


@pytest.mark.parametrize(
    ("recovery", "words"),
    [
        ({"program": "nothing.yaml"}, "parts.left.recovery.program"),
        ({"program": {"actions": {"a": {"type": "hold", "parts": ["left"]}}}}, "a program that starts no action"),
        ({"program": {"start": ["b"], "actions": {}}}, "recovery"),
        ({"program": HOME, "automatic": "sometimes"}, "automatic"),
        ({"program": HOME, "timeout": 0}, "timeout"),
    ],
)
def test_a_recovery_that_is_not_valid_is_refused_with_the_workcell_before_anything_starts(
    tmp_path: Path, recovery: dict[str, Any], words: str
) -> None:
    with pytest.raises(DefinitionError, match=words) as cell:
        LockstepCell(changed_workcell(tmp_path, {"parts/left/recovery": recovery}))
    (file,) = tmp_path.glob("*.yaml")
    with pytest.raises(DefinitionError) as bringup:
        processes(BringupOptions(workcell=file), find=lambda *_: None)
    assert str(bringup.value) == str(cell.value)


@pytest.mark.beyond_border("the loop's memory is written")
@pytest.mark.parametrize("before", [True, False])
def test_L32_after_a_protective_stop_no_part_recovers_by_itself(automatic: LockstepCell, before: bool) -> None:
    """Whether it faulted before the stop or during it."""
    session = automatic.session("left")
    session.add(Action("bad", "writer", parts="left", kind=1))
    if before:
        session.start("bad")
        automatic.step()
    automatic.server.protective_stop(True, source="door")
    automatic.step()
    if not before:
        limits = automatic.executor.world.memory.limits[0]
        limits.velocity[0] *= -1.0
        automatic.step()
        limits.velocity[0] *= -1.0
    assert state(automatic) == "faulted"
    session.close()
    automatic.server.protective_stop(False)
    run(automatic)
    reason = "not recovered by itself: a protective stop came. Release it, then recover the part by hand"
    assert events(automatic) == [("recovery_ended", reason)] and state(automatic) == "faulted"
    automatic.recoveries.recover(["left"])
    run(automatic)
    assert events(automatic)[1:] == [("recovery_started", "program maintenance_pose"), ("recovery_ended", "done")]
