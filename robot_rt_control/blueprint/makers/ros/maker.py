"""Starts skills made of ROS."""

from __future__ import annotations

from robot_rt_control.blueprint.graph import orders
from robot_rt_control.blueprint.makers.makers import Made
from robot_rt_control.blueprint.makers.ros.connections import Connections
from robot_rt_control.blueprint.makers.ros.works import WORKS
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.text.skill_file import SkillTemplate


class RosMaker:
    """One for each node."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def __call__(self, order: orders.StartSkill, template: SkillTemplate, robot: Robot) -> Made:
        """Start a skill.

        Raises:
            DefinitionError: its type is not installed, or a field cannot be filled.
        """
        assert template.content.is_ is not None
        key = template.content.is_.made
        return WORKS[key](key, order, template, robot, self._connections)
