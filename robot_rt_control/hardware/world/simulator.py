"""What the plugins of all simulators share: their parameters, and what tests and demonstrations ask of a simulation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import ClassVar, Protocol

import numpy as np

from robot_rt_control.drawing.shape import Shape
from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.interfaces import InterfaceDescription
from robot_rt_control.hardware.parameters import Vector, checked
from robot_rt_control.hardware.plugin import CallbackReturn, HardwarePlugin
from robot_rt_control.hardware.world.drawn_objects import DrawnObjects, Solid, solids_of
from robot_rt_control.hardware.world.parameters import CameraParameters, SimulatorParameters
from robot_rt_control.hardware.world.png import write_png
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.interfaces import tool_interface
from robot_rt_control.text.document import Path
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError, unknown
from robot_rt_control.vocabulary.part_kinds import JOINT_INTERFACES, JOINTED_KINDS


class ObjectJoint(Protocol):
    """A joint of an object or a robot, with a drive of its own if it belongs to no part."""

    def position(self) -> float:
        """[rad or m]"""

    def drive(self, goal: float, force: float, speed: float | None = None) -> None:
        """To a position, with at most this force [Nm or N] and speed [rad/s or m/s]; without force it is free."""

    def place(self, position: float) -> None:
        """Put it there, at rest."""


class SimulatedWorld(Protocol):
    """A world in which objects and robots have names."""

    @property
    def objects(self) -> Mapping[str, object]:
        """By name, in the order of the description."""

    @property
    def robots(self) -> Mapping[str, object]:
        """By the names of their parts."""

    @property
    def substeps(self) -> int:
        """Steps of the simulation in a period of the loop."""

    def object_pose(self, name: str, link: str | None = None) -> Pose:
        """X_WO: of an object's frame in the world, or of a link of it. Raises: HardwareError, there is none."""

    def part_link_pose(self, part: str, link: str, item: str) -> Pose:
        """X_WL: of a link of a part's robot. Raises: HardwareError, there is none; `item` is what asks."""

    def object_joint(self, body: str, joint: str, item: str) -> ObjectJoint:
        """A revolute or prismatic joint of an object or a part's robot. Raises: HardwareError, there is none."""

    def move_object(self, name: str, pose: Pose) -> None:
        """Put an object somewhere else, at rest. Raises: HardwareError, there is none."""

    def seen_as(self, name: str) -> list[int]:
        """Numbers of an object, of a part's whole robot, or of one `<part>.<link>` in `picture_and_bodies`."""

    def move_link(self, part: str, name: str, pose: Pose) -> None:
        """Put a whole robot so that one of its links is there, its joints as they are: for pictures."""

    def push(self, name: str, force: Vector, place: Vector, link: str | None = None) -> None:
        """Let a force [N] act at a place [m], both in the world, in the next step of the simulation.

        Args:
            name: of an object, or of a part: its robot.
            link: of it; None: its root link.

        Raises:
            HardwareError: there is none.
        """

    def contact_force(self, one: str, other: str) -> float:
        """[N] Sum of the normal forces between two bodies in the last step: objects, or robots by a part's name."""

    def close(self) -> None:
        """Release it; may be repeated."""


def has_io(part: HardwarePart) -> bool:
    """Whether the simulation reads inputs of the part, or acts by its outputs; those of sensor parts are sensors."""
    return (part.kind == PartKind.IO or part.kind in JOINTED_KINDS) and bool(part.inputs or part.outputs)


def n_of_joints(part: HardwarePart) -> int:
    """How many of a part's states, and of its commands, are those of its joints: the first ones."""
    return len(JOINT_INTERFACES) * len(part.joint_names)


class SimulatorPlugin(HardwarePlugin):
    """One simulated world. `read` looks, `write` sets the drives and steps by one period.

    The same commands give the same states, bit by bit, in each run.
    """

    simulated = True
    engine: ClassVar[str]
    """Name of the plugin."""
    parameter_model: ClassVar[type[SimulatorParameters]] = SimulatorParameters

    parameters: SimulatorParameters
    _drawn: DrawnObjects | None = None

    def on_init(self, info: HardwareInfo) -> CallbackReturn:
        self.info = info
        where = f"hardware {info.name!r}, parameters of the {self.engine} plugin"
        self.parameters = checked(self.parameter_model, info.parameters, where, self.line)
        self._check_names()
        self._check_io()
        return CallbackReturn.SUCCESS

    def line(self, path: Path) -> str:
        """What an error about one of the parameters begins with: file and line, if there is a file."""
        return self.info.where("devices", self.info.name, *(path if path[:1] == ("world",) else (self.engine, *path)))

    def _check_names(self) -> None:
        """A body is an object or a part's robot, by its name."""
        robots = {part.name for part in self.info.parts if part.kind in JOINTED_KINDS}
        for thing in self.parameters.world.objects:
            if thing.name in robots:
                what = f"{self.line(('world', 'objects'))}hardware {self.info.name!r}: world.objects: {thing.name!r}"
                raise HardwareError(what, expected="a name that no part with joints has")

    def _check_io(self) -> None:
        """Each entry of `world.io` is a part with inputs or outputs, and the only one that speaks of its inputs."""
        known = [part.name for part in self.info.parts if has_io(part)]
        for name in self.parameters.world.io:
            what = f"hardware {self.info.name!r}: world.io.{name}"
            if name not in known:
                raise HardwareError(what, expected=unknown("part with inputs or outputs", name, known), got=repr(name))
            if name in self.parameters.world.sensors:
                raise HardwareError(what, expected="its inputs here or in world.sensors, not in both")

    def export_command_interfaces(self) -> list[InterfaceDescription]:
        return super().export_command_interfaces() + [
            tool_interface(part.name) for part in self.info.parts if part.tools
        ]

    # --- beyond the contract: what tests and demonstrations ask of a simulation --------------------------

    @property
    @abstractmethod
    def world(self) -> SimulatedWorld:
        """The simulated world. Raises: HardwareError, when the plugin is not configured."""

    def object_pose(self, name: str) -> Pose:
        """X_WO: where an object is."""
        return self.world.object_pose(name)

    def move_object(self, name: str, pose: Pose) -> None:
        """Put an object somewhere else, at rest."""
        self.world.move_object(name, pose)

    def drawn_objects(self) -> list[Shape]:
        """What RViz and browsers draw of the world beside robots, where it is now."""
        if self._drawn is None:
            self._drawn = DrawnObjects(self.solids())
        return self._drawn.shapes(self.world)

    def solids(self) -> list[Solid]:
        """The shapes of all objects."""
        return solids_of(self.info.name, self.parameters.world.objects)

    @property
    def has_window(self) -> bool:
        """Whether the scene is shown in a window."""
        return self.parameters.gui

    def take_picture(self, path: str | FilePath, width: int = 0, height: int = 0) -> np.ndarray:
        """Write what the camera sees as PNG; returns uint8 of shape (height, width, 3).

        Args:
            path: of the file.
            width, height: [pixels]; 0: as the parameters say.

        Raises:
            HardwareError: the size is not possible.
        """
        camera = self.parameters.world.camera
        if width or height:
            size = {"width": width or camera.width, "height": height or camera.height}
            camera = checked(CameraParameters, camera.model_dump() | size, "size of the picture")
        pixels, _ = self.picture_and_bodies(camera)
        write_png(pixels, path)
        return pixels

    @abstractmethod
    def picture_and_bodies(self, camera: CameraParameters) -> tuple[np.ndarray, np.ndarray]:
        """What the camera sees now: uint8 (height, width, 3), red green blue, first row on top; and int (height,
        width) what is seen where, as of `seen_as`, or -1."""
