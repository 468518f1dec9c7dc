"""Driving a planar base: its twist is turned in each tick, reduced as a whole, and the watchdog brings it to rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from robot_rt_control.actions.follow_base_twist_stream import FollowBaseTwistStream
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

DT = 0.001
Drive = Callable[..., ActionHarness]


@pytest.fixture
def drive() -> Drive:
    """A base whose joints are x, y and yaw; it follows what is streamed."""

    def make(turned: float = 0.0, dof: int = 3, **parameters: Any) -> ActionHarness:
        base = FakePart(kind=PartKind.BASE, dof=dof, position=[0.0, 0.0, turned, *[0.0] * (dof - 3)])
        base.live.position_lower[:2], base.live.position_upper[:2] = -100.0, 100.0
        base.live.position_lower[2], base.live.position_upper[2] = -math.inf, math.inf
        given = {"goal_timeout": 0.1, **parameters}
        made = ActionHarness(FollowBaseTwistStream, parts={"part": base}, parameters=given, compiled=True)
        made.start()
        return made

    return make


def positions(h: ActionHarness, ticks: int, *twist: float, every: int = 10) -> np.ndarray:
    """(ticks, dof) commanded positions while this twist is streamed."""
    found = []
    for k in range(ticks):
        if twist and k % every == 0:
            h.stream("goal").write(list(twist))
        assert h.step() == 0
        found.append(np.array(h.part("part").commanded_position[: h.part("part").dof]))
    return np.array(found)


def test_a_base_that_turns_keeps_its_direction_between_two_samples(drive: Drive) -> None:
    h = drive()
    q = positions(h, 3000, 0.5, 0.0, 1.0, every=90)
    v = np.diff(q[1000:], axis=0) / DT
    yaw = q[1000:-1, 2]
    forward = v[:, 0] * np.cos(yaw) + v[:, 1] * np.sin(yaw)
    sideways = -v[:, 0] * np.sin(yaw) + v[:, 1] * np.cos(yaw)
    np.testing.assert_allclose(forward, 0.5, atol=0.005)
    np.testing.assert_allclose(sideways, 0.0, atol=0.03)
    np.testing.assert_allclose(v[:, 2], 1.0, atol=1e-6)
    assert h.state.is_following == 1.0


@pytest.mark.parametrize(
    ("parameters", "direction"),
    [({}, 0.5), ({"heading": 0.2}, 0.7), ({"frame": "joints"}, 0.0), ({"frame": "joints", "heading": -0.3}, -0.3)],
)
def test_the_twist_is_along_the_axes_of_its_frame(
    drive: Drive, parameters: dict[str, Any], direction: float
) -> None:
    h = drive(0.5, **parameters)
    for twist, angle in (((0.3, 0.0, 0.0), direction), ((0.0, 0.3, 0.0), direction + math.pi / 2)):
        q = positions(h, 400, *twist)
        v = (q[-1] - q[-2]) / DT
        np.testing.assert_allclose(v, [0.3 * math.cos(angle), 0.3 * math.sin(angle), 0.0], atol=1e-6)


def test_it_comes_to_rest_by_the_time_out(drive: Drive) -> None:
    h = drive(0.3)
    q = np.concatenate([positions(h, 600, 1.0, 0.0, 0.0), positions(h, 900)])
    assert h.state.is_following == 0.0 and not h.part("part").commanded_velocity[:3].any()
    assert 0.6 < np.hypot(*q[-1, :2]) < 0.8, "[m] 0.6 s and the time-out, then it brakes"
    q = positions(h, 400, -1.0, 0.0, 0.0)
    np.testing.assert_allclose((q[-1] - q[-2]) / DT, [-math.cos(0.3), -math.sin(0.3), 0.0], atol=1e-6)


@pytest.mark.parametrize(
    ("twist", "parameters", "slowed"),
    [
        ((0.5, 0.0, 0.5), {}, 1.0),
        ((3.0, 0.0, 0.5), {}, 0.5),  # joint x: 1.5 m/s
        ((0.3, 0.4, 0.5), {"linear_velocity": 0.25}, 0.5),
        ((0.3, 0.4, 0.5), {"angular_velocity": 0.1}, 0.2),
    ],
)
def test_the_whole_twist_is_reduced_to_keep_a_limit(
    drive: Drive, twist: tuple[float, ...], parameters: dict[str, Any], slowed: float
) -> None:
    h = drive(frame="joints", **parameters)
    q = positions(h, 1000, *twist)
    assert h.state.slowed == pytest.approx(slowed)
    np.testing.assert_allclose((q[-1] - q[-2]) / DT, slowed * np.array(twist), atol=1e-6)


def test_random_twists_keep_all_limits(drive: Drive) -> None:
    h, rng = drive(), np.random.default_rng(3)
    q = np.concatenate([positions(h, int(rng.integers(1, 200)), *rng.normal(0.0, 2.0, 3)) for _ in range(60)])
    part = h.part("part")
    for order, limit in ((1, part.velocity_limit), (2, part.acceleration_limit), (3, part.jerk_limit)):
        highest = np.abs(np.diff(q, order, axis=0)).max(axis=0) / DT**order
        assert (highest <= limit[:3] * (1 + 1e-3) + 1e-6).all(), (order, highest / limit[:3])


def test_other_joints_rest(drive: Drive) -> None:
    q = positions(drive(dof=4), 400, 0.5, 0.0, 0.0)
    assert q[-1, 0] > 0.1 and not q[:, 3].any()


@pytest.mark.parametrize(("frame", "follows"), [("base", 0.0), ("joints", 1.0)])
def test_without_its_yaw_it_comes_to_rest(drive: Drive, frame: str, follows: float) -> None:
    h = drive(frame=frame)
    part, measure = h.part("part"), h.parts["part"].measure

    def blind(*args: Any, **options: Any) -> None:
        measure(*args, **options)
        part.position[2] = math.nan

    positions(h, 400, 0.5, 0.0, 0.0)
    h.parts["part"].measure = blind  # type: ignore[method-assign]
    positions(h, 600, 0.5, 0.0, 0.0)
    assert h.state.is_following == follows and part.commanded_velocity[0] == pytest.approx(0.5 * follows, abs=1e-9)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"yaw": 1}, "follow_base_twist_stream of 'part': x, y, yaw; expected the indices of two prismatic joints and "
         "of one that turns; got 0 (m), 1 (m), 1 (m)"),
        ({"y": 0}, "got 0 (m), 0 (m), 2 (rad)"),
        ({"yaw": 7}, "got 0 (m), 1 (m), 7 (none)"),
    ],
)  # fmt: skip
def test_other_joints_are_refused(drive: Drive, parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        drive(**parameters)
    assert text in str(caught.value)
