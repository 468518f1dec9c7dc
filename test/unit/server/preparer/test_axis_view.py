"""What a law sees of its degree of freedom when it is defined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_rt_control.actions.govern_tool import GovernTool
from robot_rt_control.definitions.action_type import parameter_dtype
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.server.preparer.axis_view import degree_limits, degree_views, joint_views
from robot_rt_control.server.preparer.part_view import PartView
from robot_rt_control.vocabulary.enums import PartKind


@pytest.fixture
def arm() -> PartView:
    described = sample_part(PartKind.ARM, name="arm", dof=7, position=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    for record in (described.initial_record, *(tool.record for tool in described.tools)):
        record.velocity_limit[3] = 0.7
    return PartView(described, lambda: None)


def test_a_joint_is_a_part_with_one_joint(arm: PartView) -> None:
    views = joint_views(arm)
    assert tuple(views) == arm.joint_names
    view = views[arm.joint_names[3]]
    assert (view.name, view.kind, view.dof) == (f"arm.{arm.joint_names[3]}", PartKind.AXIS, 1)
    assert view.joint_units == ("rad",) and not view.has_kinematics
    assert view.limits("velocity_limit").tolist() == [0.7]
    assert view.commanded_position.tolist() == [pytest.approx(0.3)]


def test_a_declared_degree_of_freedom_has_the_limits_of_its_type(arm: PartView) -> None:
    action = GovernTool({"arm": arm})
    params: Any = np.zeros(1, parameter_dtype(GovernTool))[0]
    params.velocity[:3], params.velocity[3:] = 0.25, 0.5
    params.acceleration[:] = params.jerk[:] = 1.0
    views = degree_views(arm, GovernTool.degrees_of_freedom, degree_limits(action, params))
    assert list(views) == ["x", "y", "z", "rx", "ry", "rz"]
    assert views["z"].name == "arm.z" and views["z"].joint_units == ("m",) and views["rx"].joint_units == ("rad",)
    assert [float(views[name].limits("velocity_limit")[0]) for name in ("z", "rx")] == [0.25, 0.5]
    assert views["x"].limits("position_upper").tolist() == [np.inf], "what the type does not limit is not limited"
