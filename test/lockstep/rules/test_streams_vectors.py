"""Rules W18 to W21 of docs/semantics/streams.md: ranges, vectors of any kind, and streams that are resampled."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from push_type import STEPS, Push

from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.client.stream import Stream
from robot_rt_control.memory.layout import gravity_scratch_dtype
from robot_rt_control.model.kinematics.kinematics import gravity_torque
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

_ARM7 = Path(__file__).parents[3] / "config" / "arm7.yaml"
_FILE = Path(__file__).parents[1] / "push_type.py"
DT = 0.001


@pytest.fixture(scope="module")
def shared() -> Iterator[LockstepCell]:
    with LockstepCell(_ARM7, action_types=[Push]) as made:
        yield made


@pytest.fixture
def cell(shared: LockstepCell) -> Iterator[LockstepCell]:
    shared.events.clear()
    yield shared
    for session in shared.server.sessions():
        shared.server.close_session(session.id)
    shared.now += 1.1  # another test's events are not held back
    shared.step(1000)


def begin(cell: LockstepCell, type: str, stream: str, **parameters: Any) -> tuple[Session, Stream]:
    session = cell.session("arm")
    session.add(Action("a", type, parts="arm", **parameters))
    session.start("a")
    cell.step()
    return session, session.stream("a", stream)


def line(text: str) -> str:
    """File and line of a text that the type's file contains once."""
    (number,) = [i for i, found in enumerate(_FILE.read_text().splitlines(), 1) if text in found]
    return f"{_FILE}:{number}"


# --- W18: ranges -----------------------------------------------------------------------------------


def test_W18_a_sample_with_a_value_beyond_its_range_is_refused(cell: LockstepCell) -> None:
    session, stream = begin(cell, "push", "acceleration")
    stream.write([0.5] * 7)
    cell.step()
    text = (
        "stream 'acceleration' of action 'a': value 2 of a sample is beyond its range; expected -2 to 2 rad/s^2; "
        "got -2.5. Is it in the stream's unit?"
    )
    for _ in range(3):
        with pytest.raises(DefinitionError) as refused:
            cell.server.write_stream(session.id, "a", "acceleration", [0.0, 0.0, -2.5, 0.0, 9.0, 0.0, 0.0])
        assert str(refused.value) == text
    cell.step()
    assert [e.reason for e in cell.kinds("stream_refused")] == [f"a sample was refused: {text}"]
    assert session.value("a.speed") == pytest.approx(0.5 * DT), "nothing of it arrived"
    assert session.value("a.acceleration_clamped") == 0.0
    session.add(Action("jog", "follow_twist_stream", parts="arm"))
    with pytest.raises(DefinitionError, match="value 2 of .* is beyond its range; expected -10 to 10 m/s; got 50"):
        cell.server.write_stream(session.id, "jog", "goal", [0.0, 0.0, 50.0, 0.0, 0.0, 0.0])


def test_W18_a_value_beyond_its_range_is_clamped_and_counted_if_declared_so(cell: LockstepCell) -> None:
    session, stream = begin(cell, "push", "wrench", wrench_delay=0.0)
    for force, clamped in ((30.0, 0), (70.0, 2), (-50.0, 2)):
        stream.write([0.0, 0.0, force, 0.0, -5.0, 0.0])
        cell.step(5)
        assert session.value("a.wrench_clamped") == clamped
    assert session.value("a.force") == 50.0 and not cell.kinds("stream_refused")
    session.start("a")
    cell.step()
    assert session.value("a.wrench_clamped") == 0.0, "counted since the start"


def test_W18_users_see_the_range(cell: LockstepCell) -> None:
    (info,) = cell._backend.list_action_types("push")
    shown = [(s.name, list(s.units), list(s.minimum), list(s.maximum), s.beyond) for s in info.streams]
    assert shown == [
        ("acceleration", ["joint/s^2"], [-2.0], [2.0], "refuse"),
        ("wrench", ["N"] * 3 + ["Nm"] * 3, [-50.0] * 3 + [-5.0] * 3, [50.0] * 3 + [5.0] * 3, "clamp"),
    ]
    (info,) = cell._backend.list_action_types("follow_joint_stream")
    assert [(list(s.minimum), list(s.maximum), s.beyond) for s in info.streams] == [([], [], "")] * 2


# --- W19: vectors ----------------------------------------------------------------------------------


def test_W19_joints_follow_streamed_accelerations(cell: LockstepCell) -> None:
    session, stream = begin(cell, "push", "acceleration")
    before = cell.part("arm").commanded_position[:7].copy()
    for k in range(100):
        stream.write([0.4 if k < 50 else -0.4] + [0.0] * 6)
        cell.step()
    assert cell.part("arm").commanded_position[0] - before[0] == pytest.approx(0.4 * 0.05**2, rel=0.05)
    cell.step()
    assert session.value("a.speed") == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_array_equal(cell.part("arm").commanded_position[1:7], before[1:])


def test_W19_efforts_are_commanded_at_their_rate_and_the_joints_rest_after_the_time_out(cell: LockstepCell) -> None:
    session, stream = begin(cell, "follow_joint_effort_stream", "goal", rate=20.0, goal_timeout=0.1)
    part = cell.part("arm")
    cell.step(5)
    assert session.value("a.is_following") == 0.0 and not part.commanded_effort[:7].any()
    efforts = []
    for _ in range(200):
        stream.write([0.5, 0.0, 0.0, 0.0, 0.0, 0.0, -0.2])
        cell.step()
        efforts.append(part.commanded_effort[:7].copy())
    assert np.diff(np.array(efforts)[:, 0], prepend=0.0)[:24] == pytest.approx(0.02)
    assert efforts[-1] == pytest.approx([0.5, 0.0, 0.0, 0.0, 0.0, 0.0, -0.2])
    assert session.value("a.is_following") == 1.0 and part.velocity[0] > 0.01
    cell.step(101)
    assert session.value("a.goal_timed_out") == 1.0 and session.value("a.is_following") == 0.0
    cell.step(300)
    assert part.at_rest == 1.0 and not part.commanded_effort[:7].any()
    held = part.commanded_position[:7].copy()
    cell.step(50)
    np.testing.assert_array_equal(part.commanded_position[:7], held)
    stream.write([0.5] + [0.0] * 6)
    cell.step()
    assert part.commanded_effort[0] == pytest.approx(0.02), "it continues, again at the rate"
    assert cell.active("arm") == "a" and not cell.kinds("part_faulted", "action_failed")


def test_W19_the_efforts_against_gravity_are_added_on_request(cell: LockstepCell) -> None:
    session, stream = begin(cell, "follow_joint_effort_stream", "goal", gravity=True)
    part = cell.part("arm")
    for _ in range(600):
        stream.write([0.0] * 7)
        cell.step()
    assert session.value("a.is_following") == 1.0
    weight = np.zeros(16)
    gravity_torque(part.chain, part.position, weight, np.zeros(1, gravity_scratch_dtype)[0])
    assert abs(weight[1]) > 1.0
    np.testing.assert_allclose(part.commanded_effort[:7], weight[:7], atol=1.0)


# --- W20, W21: resampled -------------------------------------------------------------------------


def test_W20_what_the_function_makes_of_a_sample_takes_its_place(cell: LockstepCell) -> None:
    session, stream = begin(cell, "push", "wrench", wrench_delay=0.1, wrench_gap="hold", scale=0.5)
    taken: dict[int, float] = {}
    start = cell.tick
    for tick in range(200):
        if tick in (0, 40, 80):
            stream.write([0.0, 0.0, tick / 2.0, 0.0, 0.0, 0.0], time=5.0 + tick * DT)
        now = cell.step() - start
        if not np.isnan(force := session.value("a.force")):
            taken.setdefault(round(force * 1000), now)
    # From the first sample at tick 0 to the next ones at 40 and 80, in four steps each, 100 ticks later.
    assert list(taken) == [round(k * 0.25 * 10 * 1000) for k in range(2 * STEPS + 1)]
    assert np.diff(list(taken.values())).tolist() == [10] * 2 * STEPS
    assert list(taken.values())[0] == pytest.approx(100, abs=1)
    assert session.value("a.wrench_missed") == 0.0 and session.value("a.wrench_late") == 0.0


def test_W20_new_parameters_reach_it_and_each_source_has_an_object_of_its_own(cell: LockstepCell) -> None:
    session, stream = begin(cell, "push", "wrench", wrench_delay=0.0)
    stream.write([0.0, 0.0, 8.0, 0.0, 0.0, 0.0])
    cell.step()
    assert session.value("a.force") == 8.0
    session.set("a", scale=2.0)
    cell.step(8)
    again = session.stream("a", "wrench")
    again.write([0.0, 0.0, 8.0, 0.0, 0.0, 0.0])
    cell.step()
    assert session.value("a.force") == 16.0, "it does not know the other source's sample"


def test_W20_samples_missed_by_the_source_and_late_ones_count(cell: LockstepCell) -> None:
    session, _ = begin(cell, "push", "wrench", wrench_delay=0.0)
    for number, ticks in ((1, 4), (2, 12), (5, 1)):
        assert cell.server.write_stream(session.id, "a", "wrench", [0.0] * 6, sequence=number, time=number * 0.004)
        cell.step(ticks)
    assert session.value("a.wrench_missed") == 2.0
    assert session.value("a.wrench_late") == 6.0, "those that it makes between two samples that have passed"


def test_W20_interpreted_it_runs_in_this_process() -> None:
    with LockstepCell(_ARM7, action_types=[Push], interpreted=True) as cell:
        session, stream = begin(cell, "push", "wrench", trouble="raise", wrench_delay=0.0)
        stream.write([0.0, 3.0, 4.0, 0.0, 0.0, 0.0])
        cell.step()
        assert session.value("a.force") == 5.0
        stream.write([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        cell.step()
        assert "resample_wrench of action type 'push' failed with ValueError" in cell.kinds("stream_refused")[0].reason


def refused(cell: LockstepCell, session: Session, force: float = -1.0) -> str:
    """Why a sample is refused."""
    with pytest.raises(RobotControlError) as error:
        cell.server.write_stream(session.id, "a", "wrench", [force, 0.0, 0.0, 0.0, 0.0, 0.0])
    return str(error.value)


@pytest.mark.parametrize(
    ("trouble", "force", "text"),
    [
        ("raise", -1.0, "resample_wrench of action type 'push' failed with ValueError: no model of a pull; got "),
        ("wrong", -1.0, "a sample has the wrong length (made by resample_wrench); expected 6 values; got 2"),
        ("wrong", -2.0, "result of resample_wrench; expected a list of samples: (time, values); got 3 "),
    ],
)
def test_W21_a_sample_with_which_the_function_fails_is_refused(
    cell: LockstepCell, trouble: str, force: float, text: str
) -> None:
    session, stream = begin(cell, "push", "wrench", trouble=trouble, wrench_delay=0.0)
    why = refused(cell, session, force)
    assert why.startswith("stream 'wrench' of action 'a': ") and text in why
    if trouble == "raise":
        assert f"got the exception at {line('no model of a pull')}. " in why
    cell.step()
    assert [e.reason for e in cell.kinds("stream_refused")] == [f"a sample was refused: {why}"]
    stream.write([0.0, 0.0, 7.0, 0.0, 0.0, 0.0])
    cell.step()
    assert session.value("a.force") == 7.0, "the next one is taken"


@pytest.mark.parametrize(
    ("trouble", "how"),
    [("vanish", "exit code 3"), ("hang", "took more than 0.3 s of processor time at ")],
)
def test_W21_a_crash_or_a_hang_ends_this_stream_until_it_is_opened_again(
    cell: LockstepCell, monkeypatch: pytest.MonkeyPatch, trouble: str, how: str
) -> None:
    monkeypatch.setattr(defaults, "RESAMPLE_LIMIT_S", 0.3)
    session, stream = begin(cell, "push", "wrench", trouble=trouble, wrench_delay=0.0)
    why = refused(cell, session)
    assert f"stream 'wrench' of action 'a': resample_wrench of action type 'push' ended its process; got {how}" in why
    if trouble == "hang":
        lines = [line(text) for text in ('while self.trouble == "hang"', "            pass")]
        assert any(place in why for place in lines)
    assert why.endswith("load it again, or open the stream again") and refused(cell, session, 1.0) == why
    accelerations = session.stream("a", "acceleration")
    accelerations.write([1.0] * 7)
    session.set("a", scale=3.0)
    cell.step(2)
    assert session.value("a.speed") == pytest.approx(DT), "other streams and parameters are not affected"
    again = session.stream("a", "wrench")
    again.write([0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    cell.step()
    assert session.value("a.force") == 6.0
    assert cell.active("arm") == "a"


def test_W21_while_it_computes_others_are_served_and_a_few_samples_wait(
    cell: LockstepCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(defaults, "RESAMPLE_LIMIT_S", 0.5)
    monkeypatch.setattr(cell._attachment.streams, "_threads", True)  # as with an executor in another process
    session, _ = begin(cell, "push", "wrench", trouble="hang", wrench_delay=0.0)
    written = 0
    while cell.server.write_stream(session.id, "a", "wrench", [-1.0] + [0.0] * 5):
        written += 1
        assert written <= capacities.STREAM_QUEUE + 1
    assert written >= capacities.STREAM_QUEUE
    session.stream("a", "acceleration").write([1.0] * 7)
    cell.step(2)
    assert session.value("a.speed") == pytest.approx(DT)
    (event,) = cell.kinds("stream_refused")
    assert "16 samples wait for its function: it is slower than its source" in event.reason
    deadline = time.monotonic() + 60.0
    while not any("ended its process; got took more than 0.5 s" in e.reason for e in cell.kinds("stream_refused")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
        cell.now += 1.1
        cell.step()


def test_W21_its_process_ends_with_the_action(cell: LockstepCell) -> None:
    session, stream = begin(cell, "push", "wrench")
    stream.write([0.0] * 6)
    preparer = cell._attachment.preparer
    workers = [worker for key, worker in preparer._workers.items() if key[2]]
    assert [worker.is_gone for worker in workers] == [False]
    session.stop("a")
    cell.step()
    session.remove("a")
    cell.step()
    assert [worker.is_gone for worker in workers] == [True]
    assert not [key for key in preparer._workers if key[2]]
