"""Markers for RViz (X8), of a cell in lockstep. Their topic: test/unit/server/node/test_scene_markers.py, and over DDS
test/ros/test_markers.py."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_rt_control.client import Action, MotionCommand, MotionGroup
from robot_rt_control.definitions.action_type import ActionType, Slot, StateVariable
from robot_rt_control.drawing.shape import Shape, ShapeKind
from robot_rt_control.model.kinematics.forward import forward
from robot_rt_control.server.markers.goals import AXIS
from robot_rt_control.server.markers.scene import Scene, ScenePictures
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

CONFIG = Path(__file__).parents[3] / "config"
TARGET = [0.3, 0.6, 0.0, 1.4, 0.0, 1.0, 0.2]


@pytest.fixture
def cell() -> Iterator[LockstepCell]:
    with LockstepCell(CONFIG / "arm7.yaml") as made:
        yield made


def shown(pictures: ScenePictures, namespace: str) -> list[Shape]:
    picture = pictures.look()
    assert picture is not None
    return [shape for shape in picture.shapes if shape.namespace == namespace]


def goal(pictures: ScenePictures) -> tuple[float, float, float]:
    """Where the goal's ball is, at the origin of its axes."""
    ball, axes = shown(pictures, "goal")
    assert (ball.frame, ball.kind, axes.kind) == ("world", ShapeKind.SPHERE, ShapeKind.LINES)
    assert axes.points[::2] == ball.points * 3
    return ball.points[0]


def tool_at(cell: LockstepCell, q: list[float]) -> np.ndarray:
    p = np.zeros(3)
    forward(cell.part("arm").chain, np.array(q), p, np.zeros(4))
    return p


def test_X8_the_goal_is_where_the_tool_arrives(cell: LockstepCell) -> None:
    pictures, session = ScenePictures(cell.server.core), cell.session("arm")
    assert shown(pictures, "goal") == [], "the default action has none"
    session.add(
        Action("joints", "move_joint", position=TARGET),
        Action("offset", "move_linear", offset=[0.0, 0.0, 0.05], frame="tool"),
        MotionGroup("group", MotionCommand(part="arm", position=(0.1, *TARGET[1:]))),
        Action("drift", "velocity_move", linear=[0.0, 0.0, 0.01]),
    )
    for name in ("joints", "offset", "group"):
        session.start(name)
        cell.step(5)
        there = goal(pictures)
        assert math.dist(there, cell.part("arm").tool_position) > 0.01
        cell.step_until(lambda name=name: session.value(f"{name}.is_done") == 1.0)  # type: ignore[misc]
        assert there == goal(pictures) == pytest.approx(cell.part("arm").tool_position, abs=1e-4), name
        axes = np.array(shown(pictures, "goal")[1].points[1::2]) - there
        expected = AXIS * Rotation.from_quat(cell.part("arm").tool_orientation).as_matrix().T
        np.testing.assert_allclose(axes, expected, atol=1e-4, err_msg=name)
    session.start("joints")
    cell.step(20)
    session.set("joints", position=[0.2, *TARGET[1:]])
    cell.step(2)
    assert goal(pictures) == pytest.approx(tool_at(cell, [0.2, *TARGET[1:]]))
    session.start("drift")
    cell.step(2)
    assert shown(pictures, "goal") == [], "a motion without an end has no goal"


class Aims(ActionType):
    """Says where the tool is to go, as a user's type may; it knows it from its third tick on."""

    name = "aims"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    state_variables = (StateVariable(name="goal_position", length=3, unit="m", description="Goal of the tool."),)
    State = {"ticks": float}

    @staticmethod
    def sense(state, params, arm):
        state.ticks += 1.0
        for i in range(3):
            state.goal_position[i] = 0.1 * i
        if state.ticks < 3.0:
            state.goal_position[1] = math.nan

    @staticmethod
    def control(state, params, arm):
        arm.command_mode = int(CommandMode.POSITION)
        for j in range(arm.dof):
            arm.position_command[j] = arm.commanded_position[j]


def test_X8_an_action_type_of_a_user_shows_its_goal_by_state_variables() -> None:
    with LockstepCell(CONFIG / "arm7.yaml", action_types=[Aims], interpreted=True) as cell:
        pictures, session = ScenePictures(cell.server.core), cell.session("arm")
        session.add(Action("aim", "aims"))
        session.start("aim")
        cell.step(2)
        assert shown(pictures, "goal") == [], "unknown"
        cell.step()
        (ball,) = shown(pictures, "goal")
        assert ball.points == ((0.0, 0.1, 0.2),)


def test_X8_trajectories_show_their_planned_way_and_the_tool_the_way_that_it_went(cell: LockstepCell) -> None:
    pictures, session = ScenePictures(cell.server.core), cell.session("arm")
    start = [float(q) for q in cell.part("arm").commanded_position[:7]]
    middle, end = [q + 0.1 for q in start], [q + 0.1 * (-1) ** j for j, q in enumerate(start)]
    session.add(
        Action("track", "track_trajectory", times=[0.0, 1.0, 2.0], positions=[*start, *middle, *start]),
        MotionGroup("back", MotionCommand(part="arm", position=tuple(start), start=tuple(end)), profile="async"),
    )
    session.start("track")
    cell.step()
    (other,) = shown(pictures, "planned_path")
    assert other.points[-1] == pytest.approx(tool_at(cell, start), abs=1e-9)
    session.set("track", positions=[*start, *middle, *end])
    cell.step()
    (planned,) = shown(pictures, "planned_path")
    assert (planned.frame, planned.kind) == ("world", ShapeKind.LINE_STRIP)
    for k, q in ((0, start), (-1, end)):
        assert planned.points[k] == pytest.approx(tool_at(cell, q), abs=1e-9)
    to_middle = np.linalg.norm(np.array(planned.points) - tool_at(cell, middle), axis=1)
    assert to_middle.min() < 2e-3 and goal(pictures) == planned.points[-1]
    assert shown(pictures, "path") == []
    for _ in range(10):
        cell.step(100)
        assert shown(pictures, "planned_path") == [planned]
    (way,) = shown(pictures, "path")
    assert way.points[-1] == pytest.approx(tool_at(cell, middle), abs=1e-3), "halfway"
    apart = [min(math.dist(p, q) for q in planned.points) for p in way.points]
    assert len(way.points) > 5 and max(apart) < 2e-3, "it follows the plan"
    cell.step(1100)
    session.start("back")
    cell.step()
    (returning,) = shown(pictures, "planned_path")
    assert returning.points[0] == pytest.approx(tool_at(cell, end), abs=1e-9)
    assert returning.points[-1] == pytest.approx(tool_at(cell, start), abs=1e-9)
    pictures.forget()
    assert shown(pictures, "path") == [], "nobody looked"


def test_X8_forces_rays_and_limits_show_what_is_measured(cell: LockstepCell) -> None:
    pictures, session = ScenePictures(cell.server.core), cell.session("arm")
    frames = cell.workcell.frame_names()
    for axis, force in zip("xyz", (0.0, 3.0, 4.0), strict=True):
        cell.set_sensor(f"wrist/force.{axis}", force)
    cell.set_sensor("rangefinder/distance", 0.25)
    cell.step()
    (arrow,) = shown(pictures, "contact_force")
    assert arrow.frame == frames["wrist"] and arrow.points[1] == pytest.approx((0.0, 0.06, 0.08))
    ray, dot = shown(pictures, "rays")
    assert ray.frame == frames["rangefinder"] and ray.points[1] == dot.points[0] == (0.25, 0.0, 0.0)
    assert shown(pictures, "limits") == [], "the open gripper is no news"
    low = float(cell.part("arm").position_lower[3])
    session.add(Action("fold", "move_joint", position=[0.0, 0.0, 0.0, low, 0.0, 0.0, 0.0]))
    session.start("fold")
    cell.step_until(lambda: session.value("fold.is_done") == 1.0)
    ball, text = shown(pictures, "limits")
    assert ball.frame == text.frame == "link_4" and text.text.startswith("joint_4: ")
    cell.set_sensor("rangefinder/distance", math.nan)
    cell.set_sensor("wrist/force.x", math.nan)
    cell.step()
    (grey,) = shown(pictures, "rays")
    assert grey.points[1] == (4.0, 0.0, 0.0) and shown(pictures, "contact_force") == []
    cell.server.detach("a test")
    assert pictures.look() is None


def test_X8_unknown_joint_positions_show_neither_path_nor_limits() -> None:
    workcell = CONFIG / "arm7.yaml"
    with LockstepCell(workcell) as cell:
        scene, view = Scene(cell.workcell), cell.view
        arm = view.measured(cell.workcell.part("arm").index)
        for k in range(3):
            arm.tool_position[:] = (0.1 * k, 0.0, 0.0)
            before = scene.shapes(view, ())
        assert {shape.namespace for shape in before} == {"path", "rays"}
        arm.position[:], arm.velocity[:], arm.tool_position[:] = math.nan, math.nan, math.nan
        assert {shape.namespace for shape in scene.shapes(view, ())} == {"rays"}


def test_X8_a_faulted_part_is_shown_with_its_fault() -> None:
    with LockstepCell(CONFIG / "arm7.yaml") as cell:
        pictures, frame = ScenePictures(cell.server.core), cell.workcell.frame_names()["arm"]
        cell.step()
        assert shown(pictures, "faults") == []
        cell.set_sensor("arm/joint_1/position", math.nan)
        cell.step_until(lambda: cell.view.fault(cell.workcell.part("arm").index) != "", at_most=1000)
        ball, text = shown(pictures, "faults")
        assert ball.frame == text.frame == frame
        assert text.text == f"arm: {cell.view.fault(cell.workcell.part('arm').index)}"
