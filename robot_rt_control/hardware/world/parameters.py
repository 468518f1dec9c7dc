"""The simulated world of a device: `world:` in the workcell file, checked as a whole before anything is built.

    world:
      gravity: [0, 0, -9.81]
      objects:
        - {name: floor, plane: true}
        - {name: cube, box: {size: [0.04, 0.04, 0.04]}, pose: {position: [0.5, 0, 0.02]}, mass: 0.1}
      surfaces:
        - {body: arm, link: lbr_iiwa_link_7, stiffness: 2.0e+4, damping: 100}
      sensors:
        rangefinder: {type: rangefinder, part_of: arm, link: lbr_iiwa_link_7, pose: {position: [0, 0, 0.05]}}
        wrist: {type: force_torque, part_of: arm, joint: lbr_iiwa_joint_7}
        io: {type: contact, inputs: [{body: cube, other: floor}]}
        camera: {type: pose, body: cube}
      camera: {eye: [1.5, 1.5, 1.2], target: [0, 0, 0.4]}

Lengths in metres, masses in kilograms, quaternions as x y z w.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, field_validator, model_validator

from robot_rt_control.hardware.parameters import Finite, Parameters, Positive, Vector
from robot_rt_control.hardware.world.io_parameters import Color, ContactInput, IoParameters
from robot_rt_control.model.pose import Pose
from robot_rt_control.text.schema import refuse


class Box(Parameters):
    size: tuple[Positive, Positive, Positive]
    """Edge lengths along x, y, z."""

    @property
    def lengths(self) -> tuple[float, ...]:
        return self.size

    @property
    def volume(self) -> float:
        """[m^3]"""
        return math.prod(self.size)


class Sphere(Parameters):
    radius: Positive

    @property
    def lengths(self) -> tuple[float, ...]:
        return (self.radius,)

    @property
    def volume(self) -> float:
        """[m^3]"""
        return 4.0 / 3.0 * math.pi * self.radius**3


class Cylinder(Parameters):
    radius: Positive
    height: Positive
    """Along z, the origin at half of it."""

    @property
    def lengths(self) -> tuple[float, ...]:
        return (self.radius, self.height)

    @property
    def volume(self) -> float:
        """[m^3]"""
        return math.pi * self.radius**2 * self.height


class Profile(Parameters):
    """A body whose top follows a line: the same outline at all y. Its sides are upright, its bottom is flat."""

    points: Annotated[tuple[tuple[Finite, Finite], ...], Field(min_length=2, max_length=1000)]
    """Points x and z of the top, joined by straight lines; x increases."""
    width: Positive
    """Along y, the origin at half of it."""
    bottom: Finite = 0.0
    """z of the bottom, below all points."""

    @model_validator(mode="after")
    def _solid(self) -> Profile:
        if any(b[0] <= a[0] for a, b in zip(self.points, self.points[1:], strict=False)):
            raise refuse("points with increasing x", key="points")
        if min(z for _, z in self.points) <= self.bottom:
            raise refuse(f"points above the bottom, z = {self.bottom:g}", key="points")
        return self


_FARTHEST_M = 100.0
"""Greatest length or coordinate of a world."""
_HEAVIEST_KG = 1e5
_DENSITIES = (1e-2, 1e5)
"""[kg/m^3] What is lighter or heavier has its mass or its size in another unit. Air has 1.2, osmium 22600."""
_UNITS = "Lengths are in metres, masses in kilograms: 40 mm are 0.04, 100 g are 0.1"


def _check_units(thing: ObjectParameters | ToolParameters) -> None:
    """Refuse a thing that is too large, too far away or too heavy to be meant so."""
    if max(map(abs, thing.pose.position)) > _FARTHEST_M:
        farthest = f"{max(thing.pose.position, key=abs):g} m"
        raise refuse(f"coordinates up to {_FARTHEST_M:g} m", key="pose", got=farthest, hint=_UNITS)
    if thing.mass is not None and thing.mass > _HEAVIEST_KG:
        raise refuse(f"at most {_HEAVIEST_KG:g} kg", key="mass", got=f"{thing.mass:g} kg", hint=_UNITS)
    for key in ("box", "sphere", "cylinder"):
        shape = getattr(thing, key)
        if shape is not None and max(shape.lengths) > _FARTHEST_M:
            got = f"{max(shape.lengths):g} m"
            raise refuse(f"lengths up to {_FARTHEST_M:g} m", key=key, got=got, hint=_UNITS)


_SHAPES = ("urdf", "box", "sphere", "cylinder", "profile", "plane")


class ObjectParameters(Parameters):
    """A thing in the world: exactly one of urdf, box, sphere, cylinder, profile, plane."""

    name: str = Field(min_length=1)
    urdf: str | None = None
    box: Box | None = None
    sphere: Sphere | None = None
    cylinder: Cylinder | None = None
    profile: Profile | None = None
    """Always fixed."""
    plane: Literal[True] | None = None
    """The floor z = 0 of its pose, 30 m wide; always fixed."""
    pose: Pose = Pose()
    fixed: bool = False
    mass: Positive | None = None
    """Default: 1 kg; of a URDF, what that says. Fixed objects have none."""
    color: Color | None = None
    """Red, green, blue and opacity, 0 to 1."""
    friction: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    """Lateral friction coefficient; the simulator multiplies those of both bodies. Default: 0.5."""
    shear: Positive | None = None
    """[N/m] Stiffness sideways, of a fixed object: what touches it moves it by force / shear before it slides, as on
    any real surface. Default: the simulator's own friction is rigid: it reverses as a whole with the least motion."""

    @model_validator(mode="after")
    def _one_shape(self) -> ObjectParameters:
        given = [shape for shape in _SHAPES if getattr(self, shape) is not None]
        if len(given) != 1:
            raise refuse(f"exactly one of {', '.join(_SHAPES)}", got=", ".join(given) or "none")
        if self.shear is not None and not self.fixed:
            raise refuse("shear of a fixed object only", key="shear", got="an object that can move")
        return self

    @model_validator(mode="after")
    def _in_these_units(self) -> ObjectParameters:
        _check_units(self)
        shape = self.box or self.sphere or self.cylinder
        if shape is None or self.fixed:
            return self
        density = (self.mass or 1.0) / shape.volume
        if density < _DENSITIES[0] or (density > _DENSITIES[1] and self.mass is not None):
            raise refuse(
                f"a mass that fits its size: {_DENSITIES[0]:g} to {_DENSITIES[1]:g} kg/m^3",
                key="mass" if self.mass is not None else "name",
                got=f"{self.mass or 1.0:g} kg in {shape.volume:.3g} m^3, which is {density:.3g} kg/m^3",
                hint=_UNITS,
            )
        return self


class SpringParameters(Parameters):
    """A tool on a spring: a push moves it in, up to a rubber stop, and the spring pushes it back out."""

    way: Vector
    """[m] from its free place to the stop, in the tool's frame."""
    stiffness: Positive
    """[N/m]"""
    stop: Positive
    """[N/m] stiffness of the stop."""
    preload: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    """[N] at its free place; it must carry the tool's own weight."""
    damping: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    """[Ns/m]"""

    @field_validator("way")
    @classmethod
    def _somewhere(cls, value: Vector) -> Vector:
        if not any(value):
            raise refuse("a way that is not zero")
        return value


class ToolParameters(Parameters):
    """A thing mounted on a robot's link, as a part of the robot: exactly one of box, sphere, cylinder."""

    part_of: str = Field(validation_alias=AliasChoices("part_of", "part"))
    """Part on whose robot it is mounted."""
    link: str
    """Parent in the robot; the joint is called `<name>_joint`."""
    name: str = Field(min_length=1)
    """Name of its own link."""
    box: Box | None = None
    sphere: Sphere | None = None
    cylinder: Cylinder | None = None
    pose: Pose = Pose()
    """Pose of the shape's origin in the link's frame."""
    mass: Positive = 0.1
    """[kg]"""
    color: tuple[float, float, float] = (0.3, 0.3, 0.3)
    """Red, green, blue, 0 to 1."""
    spring: SpringParameters | None = None
    """Default: it is fixed."""

    @model_validator(mode="after")
    def _one_shape(self) -> ToolParameters:
        given = [shape for shape in ("box", "sphere", "cylinder") if getattr(self, shape) is not None]
        if len(given) != 1:
            raise refuse("exactly one of box, sphere, cylinder", got=", ".join(given) or "none")
        _check_units(self)
        return self


class RangefinderParameters(Parameters):
    """A ray along z of the sensor frame.

    Nothing within the range gives inf and something nearer than the range gives -inf, as in ROS (REP 117):
    both are known values, so that a condition like `rangefinder.distance < 0.2` is decided.
    """

    type: Literal["rangefinder"] = "rangefinder"
    part_of: str | None = Field(default=None, validation_alias=AliasChoices("part_of", "part"))
    """Part on whose robot it is mounted. Default: as the part itself says in the workcell file."""
    link: str | None = None
    """Default: as the part says."""
    pose: Pose | None = None
    """Pose of the sensor in the link's frame; a ray that starts inside a convex shape does not see that shape.
    Default: as the part says, or, if `link` is given here, the link's own frame."""
    range: tuple[Annotated[float, Field(ge=0.0)], Positive] | None = None
    """[m] least and greatest distance that it can measure. Default: as the part says, else 0 to 10 m."""
    noise: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    """[m] standard deviation; the random numbers are the same in each run."""

    @model_validator(mode="after")
    def _ordered(self) -> RangefinderParameters:
        if self.range is not None and self.range[0] >= self.range[1]:
            raise refuse("[least, greatest] with least < greatest", key="range")
        return self


class ForceTorqueParameters(Parameters):
    """Force and torque in a joint (also a fixed one), as the tool after it feels its environment."""

    type: Literal["force_torque"] = "force_torque"
    part_of: str | None = Field(default=None, validation_alias=AliasChoices("part_of", "part"))
    """Default: as the part itself says in the workcell file."""
    joint: str | None = None
    """Default: the joint before the link that the part says."""
    pose: Pose | None = None
    """Pose of the sensor in the frame of the joint's child link. Default: as the part says, or, if `joint` is given
    here, the link's own frame."""


class ContactParameters(Parameters):
    """Inputs of an io part by their number: input i is 1 while contact i holds. By name: `world.io`."""

    type: Literal["contact"] = "contact"
    inputs: tuple[ContactInput, ...] = ()


class PoseParameters(Parameters):
    """Where something is, as a camera would find it: the seven values of a sensor part are its position x, y, z [m]
    and its quaternion x, y, z, w, in the world. By name: `world.sensors`."""

    type: Literal["pose"] = "pose"
    body: str
    """An object, or a part whose robot has the link."""
    link: str | None = None
    """Link of a part's robot. Default: the root link."""


SensorParameters = Annotated[
    RangefinderParameters | ForceTorqueParameters | ContactParameters | PoseParameters, Field(discriminator="type")
]


class SurfaceParameters(Parameters):
    """How something gives way under contact. Two such surfaces act like springs in series; dampings add up.

    Without it a contact is as stiff as the simulator can make it. PyBullet gives the stiffness to each point at which
    they touch; in MuJoCo the points share it.
    """

    body: str
    """An object, or a part (its whole robot unless `link` is given)."""
    link: str | None = None
    stiffness: Positive
    """[N/m]"""
    damping: Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
    """[Ns/m]"""
    friction: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] | None = None
    """As of an object. Default: what the URDF or the object says."""


class CameraParameters(Parameters):
    """Where pictures are taken from."""

    eye: Vector = (1.5, 1.5, 1.2)
    target: Vector = (0.0, 0.0, 0.4)
    width: Annotated[int, Field(ge=16, le=4096)] = 640
    height: Annotated[int, Field(ge=16, le=4096)] = 480

    @model_validator(mode="after")
    def _apart(self) -> CameraParameters:
        if math.dist(self.eye[:2], self.target[:2]) < 1e-6:
            raise refuse("an eye that is not above or below its target: the picture's up is z")
        return self


class WorldParameters(Parameters):
    gravity: Vector = (0.0, 0.0, -9.81)
    timestep: Positive | None = None
    """[s] one step of the simulation; the period must be a multiple of it. Default: the period."""
    objects: tuple[ObjectParameters, ...] = ()
    tools: tuple[ToolParameters, ...] = ()
    """Mounted on robots."""
    surfaces: tuple[SurfaceParameters, ...] = ()
    sensors: dict[str, SensorParameters] = Field(default_factory=dict)
    """Sensors, by the part's name."""
    io: dict[str, IoParameters] = Field(default_factory=dict)
    """Io parts with named channels, by the part's name: see pybullet_io_parameters.py."""
    camera: CameraParameters = CameraParameters()
    inertia: Literal["shapes", "urdf", "balanced"] = "shapes"
    """Where the inertias of links come from: computed from mass and collision shapes, or from the URDF. Then a link
    without <inertial> has 1 kg m^2. `balanced`: from the URDF; of moments that no body has, and which MuJoCo refuses,
    the smaller ones are raised as far as needed."""
    seed: int = 0
    """Seed of the sensors' noise."""

    @field_validator("objects", "tools")
    @classmethod
    def _unique(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        names = [thing.name for thing in value]
        for name in names:
            if names.count(name) > 1:
                raise refuse("each name once", got=f"two called {name!r}")
        return value


class GainParameters(Parameters):
    """Gains of the joint drives. A drive is a constraint: it reaches its goal up to the joint's effort limit."""

    position: Annotated[float, Field(gt=0.0, le=1.0)] = 0.3
    """Part of the position error that one step takes away."""
    velocity: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """Part of the velocity error that one step takes away."""


class SimulatorParameters(Parameters):
    """What every simulator takes."""

    world: WorldParameters = WorldParameters()
    gains: GainParameters = GainParameters()
    gui: bool = False
    """Whether to open the simulator's window."""

    @field_validator("world", mode="before")
    @classmethod
    def _none_is_empty(cls, value: Any) -> Any:
        return {} if value is None else value
