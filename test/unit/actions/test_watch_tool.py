from __future__ import annotations

import math

import numpy as np
import pytest

from robot_rt_control.actions.watch_tool import WatchTool
from robot_rt_control.model.kinematics.kinematics import quaternion_to_matrix
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

WEIGHT = np.array([0.5, -1.0, -8.0])
BENT = (0.2, 0.3, 0.1, -1.6, 0.4, 1.2, 0.0)


class Watched:
    """A watch on a sensor that reads a weight, on a bent arm."""

    def __init__(self, **parameters: object) -> None:
        self.arm = FakeArm(position=BENT)
        self.sensor = FakePart(name="sensor", kind=PartKind.FORCE_TORQUE_SENSOR)
        self.sensor.live.wrench[:] = (*WEIGHT, 0.0, 0.0, 0.0)
        self.h = ActionHarness(
            WatchTool,
            parts={"sensor": self.sensor, "arm": self.arm},
            parameters={"samples": 5, **parameters},
            compiled=True,
        )
        self.h.start()

    def push(self, world: np.ndarray) -> None:
        """From now on the tool pushes with a force [N], in world axes."""
        self.sensor.live.wrench[:3] = WEIGHT - self.rotation.T @ world

    @property
    def rotation(self) -> np.ndarray:
        R = np.zeros((3, 3))
        quaternion_to_matrix(self.arm.live.tool_orientation, R)
        return R

    @property
    def felt(self) -> tuple[float, float, float]:
        s = self.h.state
        return float(s.push_x), float(s.push_y), float(s.push_z)


def test_until_the_zero_is_taken_all_is_unknown_then_the_weight_is_gone():
    w = Watched()
    w.h.step(4)
    assert w.h.state.is_ready == 0.0 and math.isnan(w.h.state.push) and math.isnan(w.h.state.x)
    w.h.step()
    assert w.h.state.is_ready == 1.0 and w.h.state.push == pytest.approx(0.0, abs=1e-12)
    assert w.h.state.displacement == 0.0


def test_the_push_is_told_in_world_axes_positive_where_the_tool_pushes():
    w = Watched()
    w.h.step(5)
    w.push(np.array([3.0, -2.0, 6.0]))
    w.h.step()
    assert w.felt == pytest.approx((3.0, -2.0, 6.0))
    assert w.h.state.push == pytest.approx(7.0) and w.h.state.peak == pytest.approx(7.0)
    w.push(np.zeros(3))
    w.h.step()
    assert w.h.state.push == pytest.approx(0.0, abs=1e-9) and w.h.state.peak == pytest.approx(7.0)


def test_a_heading_and_the_tool_frame_turn_the_axes():
    w = Watched(heading=math.pi / 2)
    w.h.step(5)
    w.push(np.array([0.0, 4.0, 1.0]))
    w.h.step()
    assert w.felt == pytest.approx((4.0, 0.0, 1.0))
    w = Watched(frame="tool")
    w.h.step(5)
    w.push(w.rotation @ [1.0, 2.0, 3.0])
    w.h.step()
    assert w.felt == pytest.approx((1.0, 2.0, 3.0))


def test_a_sensor_that_is_mounted_turned_is_turned_back():
    half = math.radians(45)
    w = Watched(frame="tool", mounting=[0.0, 0.0, math.sin(half), math.cos(half)])  # its x is the tool's y
    w.h.step(5)
    w.sensor.live.wrench[:3] = WEIGHT - [2.0, 0.0, 0.0]
    w.h.step()
    assert w.felt == pytest.approx((0.0, 2.0, 0.0))


def test_the_way_of_the_tool_is_counted_from_the_zero():
    w = Watched()
    w.h.step(5)
    start = np.array(w.arm.live.tool_position)
    w.arm.live.commanded_position[0] += 0.1
    w.h.step(2)
    way = np.array(w.arm.live.tool_position) - start
    assert (w.h.state.x, w.h.state.y, w.h.state.z) == pytest.approx(tuple(way))
    assert w.h.state.displacement == pytest.approx(float(np.linalg.norm(way)))
    w = Watched(frame="tool")
    w.h.step(5)
    back = w.rotation.T
    start = np.array(w.arm.live.tool_position)
    w.arm.live.commanded_position[0] += 0.1
    w.h.step(2)
    expected = back @ (np.array(w.arm.live.tool_position) - start)
    assert (w.h.state.x, w.h.state.y, w.h.state.z) == pytest.approx(tuple(expected))


def test_a_lost_sensor_is_unknown_and_its_return_is_known_again():
    w = Watched(smoothing=0.01)
    w.h.step(5)
    w.sensor.live.wrench[0] = math.nan
    w.h.step(3)
    assert math.isnan(w.h.state.push) and math.isnan(w.h.state.push_z) and w.h.state.peak == pytest.approx(0.0)
    w.sensor.live.wrench[0] = WEIGHT[0]
    w.h.step()
    assert w.h.state.push == pytest.approx(0.0, abs=1e-9)


def test_missing_values_are_no_part_of_the_zero():
    w = Watched()
    w.sensor.live.wrench[0] = math.nan
    w.h.step(20)
    assert w.h.state.is_ready == 0.0
    w.sensor.live.wrench[0] = WEIGHT[0]
    w.h.step(5)
    assert w.h.state.is_ready == 1.0 and w.h.state.push == pytest.approx(0.0, abs=1e-12)


def test_smoothing_approaches_the_force_with_its_time_constant():
    w = Watched(smoothing=0.05)
    w.h.step(5)
    w.push(np.array([0.0, 0.0, 10.0]))
    w.h.step(50)
    assert w.h.state.push_z == pytest.approx(10.0 * (1 - math.exp(-1)), rel=0.02)


def test_the_signal_zero_takes_it_anew():
    w = Watched()
    w.h.step(5)
    w.push(np.array([0.0, 0.0, 5.0]))
    w.h.step()
    w.h.signal("zero")
    w.h.step(2)
    assert w.h.state.is_ready == 0.0 and math.isnan(w.h.state.push)
    w.h.step(5)
    assert w.h.state.is_ready == 1.0 and w.h.state.push == pytest.approx(0.0, abs=1e-9)
    assert w.h.state.peak == pytest.approx(0.0, abs=1e-9)


def test_a_mounting_that_is_no_orientation_is_refused():
    with pytest.raises(DefinitionError, match="watch_tool of 'sensor': mounting; expected a quaternion"):
        Watched(mounting=[0.0, 0.0, 0.0, 0.5])
