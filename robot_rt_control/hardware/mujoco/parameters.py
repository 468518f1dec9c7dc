"""What the plugin `mujoco` takes beside what every simulator takes: a scene from an MJCF file.

    mujoco:
      mjcf: scene.xml              # relative to the workcell file, package://…, file://… or absolute
      keyframe: home               # where it begins; the parts' joints begin at their start_position
      camera: overview             # a camera of the MJCF, for pictures; default: world.camera
      sensors:
        tool: [tool_pos, tool_quat]  # sensors of the MJCF, if they are not called like the part
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from robot_rt_control.hardware.world.parameters import SimulatorParameters
from robot_rt_control.text.schema import refuse

_Names = Annotated[tuple[str, ...], Field(min_length=1)]


class MujocoParameters(SimulatorParameters):
    mjcf: str | None = None
    """Path of an MJCF file in which the parts' robots are. Default: they come from their URDFs."""
    keyframe: str | None = None
    """Name of a keyframe of the MJCF at which its bodies begin. Default: as the MJCF places them."""
    camera: str | None = None
    """Name of a camera of the MJCF that takes the pictures. Default: world.camera."""
    sensors: dict[str, _Names] = Field(default_factory=dict)
    """By a sensor part's name: the MJCF's sensors that give its values, in order. Default: see scene_sensors.py."""

    @model_validator(mode="after")
    def _of_a_scene(self) -> MujocoParameters:
        for key in ("keyframe", "camera", "sensors"):
            if getattr(self, key) and self.mjcf is None:
                raise refuse("mjcf, the file that has them", key=key)
        return self
