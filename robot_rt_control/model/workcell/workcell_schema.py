"""The schema of a workcell file: every field with its unit, default and valid values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from robot_rt_control.model.pose import Pose
from robot_rt_control.model.schema_types import Level, Numbers, PerJoint, Range, Six, Triple
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.text.schema import Flag, Model, Number, refuse
from robot_rt_control.text.schema import Name as AnyName
from robot_rt_control.vocabulary import capacities, defaults

SYSTEM_VARIABLES = ("time", "speed", "protective_stop")
"""State variables of the loop itself; a part cannot have one of these names."""


def _not_of_the_loop(value: str) -> str:
    if value in SYSTEM_VARIABLES:
        raise refuse(f"a name other than {value!r}, which is a state variable of the loop")
    return value


Name = Annotated[AnyName, AfterValidator(_not_of_the_loop)]
Mode = Literal["position", "velocity", "effort"]


class Limits(Model):
    """The limits that actions plan with. Position, velocity and effort may only be tighter than in the URDF.

    Names in capitals are defined in vocabulary/defaults.py.
    """

    position_lower: PerJoint | None = None  # [rad or m]; None: of the URDF
    position_upper: PerJoint | None = None  # [rad or m]; None: of the URDF
    velocity: PerJoint | None = None  # [rad/s or m/s]; None: of the URDF
    acceleration: PerJoint | None = None  # [rad/s^2 or m/s^2]; None: full speed in ACCELERATION_TIME_S
    jerk: PerJoint | None = None  # [rad/s^3 or m/s^3]; None: full acceleration in JERK_TIME_S
    effort: PerJoint | None = None  # [Nm or N]; None: of the URDF
    effort_rate: PerJoint | None = None  # [Nm/s or N/s]; None: full effort in EFFORT_TIME_S


class SystemLimits(Model):
    """The limits that the loop enforces for every action. Never tighter than `limits`, so plans pass unchanged."""

    position_lower: PerJoint | None = None  # [rad or m]; None: as in limits
    position_upper: PerJoint | None = None  # [rad or m]; None: as in limits
    velocity: PerJoint | None = None  # [rad/s or m/s]; None: limits times VELOCITY_MARGIN
    acceleration: PerJoint | None = None  # [rad/s^2 or m/s^2]; None: limits times ACCELERATION_MARGIN
    effort: PerJoint | None = None  # [Nm or N]; None: as in limits
    effort_rate: PerJoint | None = None  # [Nm/s or N/s]; None: as in limits
    jerk: PerJoint | None = None  # [rad/s^3 or m/s^3]; None: not limited
    position_tolerance: Number | None = Field(default=None, ge=0)  # [rad or m]; None: POSITION_TOLERANCE
    velocity_tolerance: Number | None = Field(default=None, ge=0)  # fraction; None: VELOCITY_TOLERANCE


class FollowingError(Model):
    """A joint that does not follow its command is a fault."""

    position: PerJoint | None = None  # [rad or m] from the command; None: POSITION_TOLERANCE
    lag: Number | None = Field(default=None, ge=0)  # [s] behind a command that moves; None: FOLLOWING_LAG_S
    time: Number = Field(default=defaults.FOLLOWING_TIME_S, gt=0)  # [s] for which it may be farther away than both


class FrozenFeedback(Model):
    """Measured states that stay the same to the last bit are a fault."""

    motion: PerJoint | None = None  # [rad or m] that is commanded meanwhile; None: FROZEN_MOTION
    time: Number = Field(default=defaults.FROZEN_TIME_S, gt=0)  # [s], beyond the device's max_age_ticks


_OFF = Annotated[Literal[False], Tag("off")]
_OFF_OR_ON = Discriminator(lambda value: "off" if value is False else "on")


class Monitors(Model):
    """Faults of a part beside its system limits. `false` switches a monitor off, which is reported at the start."""

    # without these keys: on with defaults; off for grippers, as one that holds something is blocked
    following_error: Annotated[_OFF | Annotated[FollowingError, Tag("on")], _OFF_OR_ON] | None = None
    frozen_feedback: Annotated[_OFF | Annotated[FrozenFeedback, Tag("on")], _OFF_OR_ON] | None = None
    # [rad or m] that a position may change in a tick beyond JUMP_SPEED; None: POSITION_JUMP
    position_jump: Annotated[_OFF | Annotated[PerJoint, Tag("on")], _OFF_OR_ON] | None = None

    @model_validator(mode="after")
    def _above_zero(self) -> Monitors:
        following, frozen = self.following_error, self.frozen_feedback
        for key, value in (
            ("following_error", following.position if following else None),
            ("frozen_feedback", frozen.motion if frozen else None),
            ("position_jump", self.position_jump),
        ):
            numbers = value if isinstance(value, tuple) else (value,)
            if value is not None and value is not False and not all(x is not None and x > 0.0 for x in numbers):
                raise refuse("numbers above 0, or false for the whole monitor", key=key)
        return self


class Recovery(Model):
    """The recovery of a part after a fault: a program that runs in its own session."""

    program: str | dict[str, Any]  # a program's file, or the program itself
    automatic: Flag = False  # run it automatically once the part's fault can be cleared
    until_event: str = ""  # name of the event that ends it; empty: it ends when all of its actions are done
    timeout: Number = Field(default=defaults.RECOVERY_TIMEOUT_S, gt=0)  # [s]
    cooldown: Number = Field(default=defaults.RECOVERY_COOLDOWN_S, ge=0)  # [s] between two automatic recoveries


class FaultLog(Model):
    """The log of the last ticks that is written for every fault."""

    ticks: int = Field(default=defaults.FAULT_LOG_TICKS, strict=True, ge=1, le=100_000)
    after: int = Field(default=defaults.FAULT_LOG_AFTER_TICKS, strict=True, ge=0, le=100_000)  # [ticks] that follow
    files: int = Field(default=defaults.FAULT_LOG_FILES, strict=True, ge=1, le=100_000)  # the oldest are deleted
    folder: str | None = None  # None: $ROBOT_RT_CONTROL_FAULTS, else ~/.local/state/robot_rt_control/faults


class Recordings(Model):
    """Recordings of all ticks whose files were not named by a user: the oldest of this workcell give way."""

    files: int = Field(default=defaults.RECORDING_FILES, strict=True, ge=1, le=100_000)  # that are kept
    gigabytes: Number = Field(default=defaults.RECORDING_GB, gt=0)  # [GB] together; one that has as much ends


class Overruns(Model):
    """Response to missed deadlines. They are always counted."""

    policy: Literal["count", "warn", "fault"] = "count"
    limit: int = Field(default=defaults.OVERRUN_LIMIT, strict=True, ge=1, le=capacities.MAX_OVERRUN_LIMIT)
    window: Number = Field(default=defaults.OVERRUN_WINDOW_S, gt=0)  # [s] policy fault: `limit` misses in this time


class Joint(Model):
    """A joint without a URDF."""

    name: Name
    type: Literal["revolute", "continuous", "prismatic"]
    position_lower: Number | None = None  # [rad or m]; needed unless continuous
    position_upper: Number | None = None  # [rad or m]; needed unless continuous
    velocity: Number = Field(gt=0)  # [rad/s or m/s]
    effort: Number | None = Field(default=None, gt=0)  # [Nm or N]; None: no effort commands

    @model_validator(mode="after")
    def _range(self) -> Joint:
        lower, upper = self.position_lower, self.position_upper
        if self.type != "continuous" and (lower is None or upper is None or not lower < upper):
            raise refuse("position_lower < position_upper, as the joint is not continuous")
        return self

    @property
    def lower(self) -> float:
        return -math.inf if self.position_lower is None else self.position_lower

    @property
    def upper(self) -> float:
        return math.inf if self.position_upper is None else self.position_upper


NameOrJoint = Annotated[
    Annotated[str, Tag("name")] | Annotated[Joint, Tag("joint")],
    Discriminator(lambda value: "joint" if isinstance(value, (Mapping, Joint)) else "name"),
]


class Part(Model):
    device: Name  # one of `devices`


Signal = Literal["digital", "analog"]


class InputChannel(Model):
    signal: Signal | None = None  # digital: 0 or 1; analog: any number; None: as given for the part
    unit: str = ""
    description: str = ""


class OutputChannel(InputChannel):
    range: Range | None = None  # range of an analog output, in its unit; None: any finite number
    initial: Level | None = None  # simulated hardware starts with it; None: 0, or the nearest value in the range
    safe: Level | None = None  # value written after a failure; None: it keeps its value


class MovingPart(Part):
    start_position: Numbers | None = None  # [rad or m] start of simulated hardware; None: 0, or mid-range
    limits: Limits = Limits()
    system_limits: SystemLimits = SystemLimits()
    monitors: Monitors = Monitors()
    command_modes: tuple[Mode, ...] | None = None  # None: position, velocity, and effort if its limit is known
    default_action: str = "hold"  # action type of the default action
    safety_action: str = "stop"  # action type of the safety action after a failure
    recovery: Recovery | None = None  # None: faults are cleared by hand
    states: dict[Name, InputChannel] = {}  # what its hardware also measures; analog by default
    commands: dict[Name, OutputChannel] = {}  # what its hardware also takes: stiffness, gains; analog by default


def _text(value: Any) -> str:
    """A xacro argument as xacro writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (str, int, float)):
        raise refuse("a text, a number, true or false")
    return str(value)


class BodyPart(MovingPart):
    """A moving part with a URDF, which describes its whole body."""

    urdf: str | None = None  # path or URI of a URDF or, if its name ends with .xacro, of a xacro file
    xacro_arguments: dict[str, Annotated[str, BeforeValidator(_text)]] = {}  # for the latter's <xacro:arg>
    prefix: AnyName = ""  # before the names of all links and joints of the URDF, also in this file
    mounted_on: Name | None = None  # part in whose URDF (the same body) this one is

    @model_validator(mode="after")
    def _of_a_urdf(self) -> BodyPart:
        for key in ("xacro_arguments", "prefix"):
            if getattr(self, key) and self.urdf is None:
                raise refuse("urdf, to whose file it applies", key=key)
        return self


class ToolLimits(Model):
    """Limits of an arm while a tool is on: tighter than those in the arm's `limits`."""

    velocity: PerJoint | None = None  # [rad/s or m/s]; None: the arm's
    acceleration: PerJoint | None = None  # [rad/s^2 or m/s^2]; None: the arm's
    jerk: PerJoint | None = None  # [rad/s^3 or m/s^3]; None: the arm's


class Tool(Model):
    """A tool that can be put on an arm. What the URDF attaches to tip_link is there beside it, whatever is on."""

    pose: Pose = Pose()  # X of the tool in the tip link
    mass: Number = Field(default=0.0, ge=0)  # [kg]
    center_of_mass: Triple = (0.0, 0.0, 0.0)  # [m] in the tip link
    inertia: Six = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # [kg m^2] ixx, ixy, ixz, iyy, iyz, izz about the center of mass
    limits: ToolLimits = ToolLimits()
    sensor: str | None = None  # condition by which state variables tell that it is on; None: none tells

    @model_validator(mode="after")
    def _has_mass(self) -> Tool:
        if self.mass == 0.0:
            for key in ("center_of_mass", "inertia"):
                if any(getattr(self, key)):
                    raise refuse("a tool with a mass", key=key)
        return self


class Arm(BodyPart):
    kind: Literal["arm"]
    base_link: str  # first link of the chain
    tip_link: str  # last link of the chain
    tool: Pose = Pose()  # X of the tool in the tip link, if it is never changed
    tools: Annotated[dict[Name, Tool], Field(min_length=1)] | None = None  # that can be put on; None: `tool` alone
    start_tool: Name | None = None  # the one that is on when the executor starts; None: the first of `tools`
    base_pose: Pose = Pose()  # X_WB: base_link in the world frame
    external_effort: Flag = False  # compute the joints' efforts without those against the weight: state variables

    @model_validator(mode="after")
    def _one_source(self) -> Arm:
        if (self.urdf is None) == (self.mounted_on is None):
            raise refuse("either urdf or mounted_on")
        return self

    @model_validator(mode="after")
    def _tool_or_tools(self) -> Arm:
        if self.tools is not None and "tool" in self.model_fields_set:
            raise refuse("either tool, or tools of which one is on at a time", key="tool")
        if self.tools is None and self.start_tool is not None:
            raise refuse("tools, of which it is one", key="start_tool")
        return self


class JointGroup(BodyPart):
    """Independent joints without kinematics: grippers, simple mobile bases."""

    joints: tuple[NameOrJoint, ...] = Field(min_length=1)  # names of the URDF's joints, or whole descriptions
    base_pose: Pose = Pose()  # the URDF's root link in the world frame

    @model_validator(mode="after")
    def _one_source(self) -> JointGroup:
        if self.urdf is not None and self.mounted_on is not None:
            raise refuse("either urdf or mounted_on, not both")
        if self.urdf is None and self.mounted_on is None and any(isinstance(j, str) for j in self.joints):
            raise refuse("urdf or mounted_on, as joints are given by name")
        return self


class Gripper(JointGroup):
    kind: Literal["gripper"]


class Base(JointGroup):
    kind: Literal["base"]


class MountedSensor(Part):
    """A sensor with a frame, in a link of a part's body or in the world. Without these keys its frame is unknown."""

    mounted_on: Name | None = None  # part on whose body it is mounted; None: fixed in the world
    link: str | None = None  # link in that body's URDF; None: the arm's tip_link
    pose: Pose | None = None  # X_LS: the sensor's frame in the link, or X_WS in the world; None: the link's own frame

    @model_validator(mode="after")
    def _on_a_body(self) -> MountedSensor:
        if self.link is not None and self.mounted_on is None:
            raise refuse("mounted_on, the part that has the link", key="link")
        return self


class ForceTorqueSensor(MountedSensor):
    kind: Literal["force_torque_sensor"]


def _distances(value: tuple[float, float]) -> tuple[float, float]:
    if value[0] < 0.0:
        raise refuse("distances from 0 on, the smaller one first")
    return value


class Rangefinder(MountedSensor):
    """A rangefinder; it measures along z of its frame."""

    kind: Literal["rangefinder"]
    range: Annotated[Range, AfterValidator(_distances)] | None = None  # [m] that it can measure; None: not known
    field_of_view: Number = Field(default=defaults.FIELD_OF_VIEW, ge=0, le=math.pi)  # [rad] opening of its beam


def _count_or_named(value: Any) -> str:
    return "named" if isinstance(value, Mapping) else "count"


Count = Annotated[int, Field(strict=True, ge=0, le=capacities.MAX_CHANNELS), Tag("count")]
Inputs = Annotated[Count | Annotated[dict[Name, InputChannel], Tag("named")], Discriminator(_count_or_named)]
Outputs = Annotated[Count | Annotated[dict[Name, OutputChannel], Tag("named")], Discriminator(_count_or_named)]


class Io(Part):
    kind: Literal["io"]
    inputs: Inputs = 0  # their number, or a mapping from each name to its properties
    outputs: Outputs = 0  # likewise
    signal: Signal = "digital"  # of all channels without a type of their own
    default_action: str | None = None  # None: outputs stay as they are
    safety_action: str | None = None  # None: outputs stay as they are


class SensorValue(Model):
    type: Literal["float", "int", "bool"] = "float"
    unit: str = ""
    description: str = ""


class Sensor(Part):
    kind: Literal["sensor"]
    values: dict[Name, SensorValue] = Field(min_length=1)  # name → its properties; each value is a state variable


AnyPart = Annotated[Arm | Gripper | Base | ForceTorqueSensor | Rangefinder | Io | Sensor, Field(discriminator="kind")]


class Device(Model):
    """A device and the plugins on which it can run. In the file, they are keys beside the other ones."""

    max_age_ticks: int | None = Field(default=None, strict=True, ge=1)  # [ticks]; None: the plugin's default
    plugin: str | None = None  # its own plugin; None: the plugin chosen for all devices
    ros2_control: str | None = None  # name of the <ros2_control> tag in its parts' URDF that configures it
    world: dict[str, Any] | None = None  # what simulators simulate; not checked here
    plugins: dict[str, dict[str, Any]] = {}  # plugin name → its configuration, not checked here

    @model_validator(mode="before")
    @classmethod
    def _plugins(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise refuse("a mapping: max_age_ticks, plugin, world, and a configuration for each plugin")
        plugins, own = {}, ("max_age_ticks", "plugin", "ros2_control", "world")
        for key, value in data.items():
            if key in own:
                continue
            if value is not None and not isinstance(value, Mapping):
                expected = "max_age_ticks, plugin, world, or the name of a plugin with a mapping as its configuration"
                raise refuse(expected, key=key)
            if key in SIMULATORS and value and "world" in value:
                raise refuse("`world` beside it, one level higher: all simulators simulate the same one", key=key)
            plugins[str(key)] = dict(value or {})
        found = {key: data.get(key) for key in own} | {"plugins": plugins}
        if "world" in data:  # then it runs on each simulator
            found["world"] = data["world"] or {}
            for name in SIMULATORS:
                plugins.setdefault(name, {})
        return found


class Controller(Model):
    """A controller by which packages written for ros2_control command a part; see docs/ros2_control.md."""

    type: str  # one of CONTROLLER_TYPES in model/workcell/controllers.py
    part: Name | None = None  # the part that it commands; omitted if its type commands none
    options: dict[str, Any] = {}  # of its type; checked when it is loaded
    state: Literal["active", "inactive"] | None = None  # once the workcell is up; default: that of its type


class WorkcellFile(Model):
    name: str
    period: Number = Field(default=defaults.PERIOD_S, gt=0, le=1)  # [s]
    gravity: Triple = (0.0, 0.0, -9.81)  # [m/s^2] in the world frame, z up
    parts: dict[Name, AnyPart] = Field(min_length=1)
    devices: dict[Name, Device] = Field(min_length=1)
    clock_device: Name | None = None  # drives the loop with clock:=hardware; None: the only one with a driver
    default_hardware: str = "mock"  # plugin to use if none is chosen
    fault_log: FaultLog = FaultLog()
    recordings: Recordings = Recordings()
    overruns: Overruns = Overruns()
    # user action types: "file.py", "file.py:ClassName", "package.module:ClassName", or the name of an entry point
    action_types: tuple[str, ...] = ()
    # files of Python functions that blueprints call as skills, relative to this file; run by the node `blueprints` only
    capabilities: tuple[str, ...] = ()
    budget_policy: Literal["warn", "fail"] = "warn"  # an action above its time budget is reported, or also fails
    # clients may load action types from files below these folders, relative to this file; none: from no file
    action_type_folders: tuple[str, ...] = ()
    # folders, relative to this file, whose C and C++ code of action types may run in the loop: not all of it is proven
    trusted_native_code: tuple[str, ...] = ()
    allow_code_upload: Flag = False  # clients may send the text of action types
    controllers: dict[Name, Controller] | None = None  # None: a trajectory controller for each arm
