"""Builds a part's description from its entry in the workcell file."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.memory.layout import limits_dtype, part_dtype
from robot_rt_control.model.kinematics.chain import chain_of, empty_chain, tool_pose, whole
from robot_rt_control.model.kinematics.worn_tool import wear_tool
from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf import MOVABLE, Mimic, Urdf
from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.model.workcell import workcell_schema as schema
from robot_rt_control.model.workcell.channels import Channel, fill_channels, io_channels, own_interfaces, sensor_values
from robot_rt_control.model.workcell.limits import LimitedJoint, ResolvedLimits, resolve_limits, resolve_system_limits
from robot_rt_control.model.workcell.monitors import resolve_monitors
from robot_rt_control.model.workcell.mount import Mount
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.state_variables import part_state_variables
from robot_rt_control.model.workcell.tagged_devices import TaggedDevices
from robot_rt_control.model.workcell.tools import tools_of
from robot_rt_control.text.document import Place
from robot_rt_control.vocabulary.capacities import MAX_JOINTS
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, unknown
from robot_rt_control.vocabulary.part_kinds import PART_KINDS

Array = NDArray[np.float64]

_MODES = {"position": CommandMode.POSITION, "velocity": CommandMode.VELOCITY, "effort": CommandMode.EFFORT}


class PartBuilder:
    """Builds the parts of one workcell, in the order of the file; keeps the URDFs read so far."""

    def __init__(self, folder: Path, gravity: tuple[float, ...], period: float, tagged: TaggedDevices) -> None:
        self.folder = folder
        self.gravity = gravity
        self.period = period
        self.tagged = tagged
        self.urdfs: dict[str, Urdf] = {}
        """Part → its own URDF."""
        self.roots: dict[str, Array] = {}
        """Part with a URDF → X_WR of the URDF's root link."""
        self.tips: dict[str, str] = {}
        """Arm → its tip_link."""

    def build(self, name: str, index: int, part: schema.AnyPart, place: Place) -> PartDescription:
        """Build a part. Raises DefinitionError or CapacityError: its entry is not valid."""
        if isinstance(part, schema.Arm):
            return self._arm(name, index, part, place)
        if isinstance(part, schema.JointGroup):
            return self._joint_group(name, index, part, place)
        inputs: tuple[Channel, ...] = ()
        outputs: tuple[Channel, ...] = ()
        if isinstance(part, schema.Io):
            inputs, outputs = io_channels(part, place)
        elif isinstance(part, schema.Sensor):
            inputs = sensor_values(part, place)
        record, limits = _record(0, self.period), np.zeros(1, limits_dtype)[0]
        fill_channels(record, limits, inputs, outputs)
        return PartDescription(
            name=name,
            index=index,
            kind=PartKind[part.kind.upper()],
            device=part.device,
            system_limits=limits,
            initial_record=record,
            default_action=getattr(part, "default_action", None),
            safety_action=getattr(part, "safety_action", None),
            inputs=inputs,
            outputs=outputs,
            mount=self._mount(part, place) if isinstance(part, schema.MountedSensor) else None,
            range=getattr(part, "range", None),
            field_of_view=getattr(part, "field_of_view", 0.0),
        )

    def _mount(self, part: schema.MountedSensor, place: Place) -> Mount | None:
        """The mount of a sensor; None: the file does not give it."""
        if part.mounted_on is None:
            return None if part.pose is None else Mount(part=None, link=None, pose=part.pose)
        urdf = self._body(part.mounted_on, place)
        link = part.link or self.tips.get(part.mounted_on)
        if link is None:
            raise DefinitionError(
                str(place / "link"), expected=f"a link, as {part.mounted_on!r} has no tip_link", got="nothing"
            )
        if link not in urdf.links:
            raise DefinitionError(str(place / "link"), expected=unknown("link", link, urdf.links), got=repr(link))
        return Mount(part=part.mounted_on, link=link, pose=part.pose or Pose())

    def _body(self, mounted_on: str, place: Place) -> Urdf:
        """The URDF of the part on which another part is mounted."""
        if mounted_on not in self.urdfs:
            raise DefinitionError(
                str(place / "mounted_on"),
                expected=unknown("part with a URDF further up in the file", mounted_on, self.urdfs),
                got=repr(mounted_on),
            )
        return self.urdfs[mounted_on]

    def _urdf(self, name: str, part: schema.Arm | schema.JointGroup, place: Place) -> Urdf | None:
        """The part's own URDF, or that of the part on which it is mounted."""
        if part.mounted_on is not None:
            return self._body(part.mounted_on, place)
        if part.urdf is None:
            return None
        path = resolve_path(part.urdf, self.folder, str(place / "urdf"))
        self.urdfs[name] = read_urdf(path, xacro_arguments=part.xacro_arguments, prefix=part.prefix)
        return self.urdfs[name]

    def _arm(self, name: str, index: int, part: schema.Arm, place: Place) -> PartDescription:
        urdf = self._urdf(name, part, place)
        assert urdf is not None  # the schema requires one of urdf and mounted_on
        try:
            chain = chain_of(urdf, part.base_link, part.tip_link)
        except DefinitionError as error:
            raise type(error)(
                f"{place}: {error.what}", expected=error.expected, got=error.got, hint=error.hint
            ) from error
        above = [j.name for j in urdf.path_to(urdf.root, part.base_link) if j.type in MOVABLE]
        if above:
            raise DefinitionError(
                str(place / "base_link"),
                expected=f"a link that does not move against the URDF's root {urdf.root!r}",
                got=f"{part.base_link!r} after the joints " + ", ".join(above),
                hint="Begin the chain further up, so that it contains them",
            )
        X_WB = part.base_pose.matrix
        if part.mounted_on is not None:
            if "base_pose" in part.model_fields_set:
                raise DefinitionError(
                    str(place / "base_pose"),
                    expected=f"none, as the part is mounted on {part.mounted_on!r}, whose pose places both",
                )
            X_WB = self.roots[part.mounted_on] @ chain.X_RB
        X_WR = X_WB @ np.linalg.inv(chain.X_RB)
        self.roots[name] = X_WR
        self.urdfs.setdefault(name, urdf)
        self.tips[name] = part.tip_link
        chain.record["base"][:], chain.record.gravity[:] = X_WB[:3], self.gravity
        description = self._moving(name, index, part, place, chain.joints, PartKind.ARM, urdf)
        tools, start_tool = tools_of(part, description, chain, chain.joints, place)
        record = description.initial_record
        record.chain = chain.record
        if tools:
            wear_tool(record, description.system_limits, tools[start_tool].record, start_tool)
        else:
            record.chain.tool[:] = (whole(chain.record.tool) @ part.tool.matrix)[:3]
        chain.record.tool[:] = record.chain.tool
        if part.external_effort and not record.chain.mass.any():
            raise DefinitionError(
                str(place / "external_effort"),
                expected="a URDF with the masses of the links",
                got="none between base_link and tip_link",
                hint="Without them the arm's weight would count as external",
            )
        tool = Pose.of_matrix(tool_pose(chain, description.start_position))
        record.tool_position[:], record.tool_orientation[:] = tool.position, tool.orientation
        record.tool_twist[:] = 0.0
        return replace(
            description,
            base_link=chain.base_link,
            tip_link=chain.tip_link,
            base=Pose.of_matrix(X_WB),
            root=Pose.of_matrix(X_WR),
            tool=tools[start_tool].pose if tools else part.tool,
            tools=tools,
            start_tool=start_tool,
            external_effort=part.external_effort,
        )

    def _joint_group(self, name: str, index: int, part: schema.JointGroup, place: Place) -> PartDescription:
        urdf = self._urdf(name, part, place)
        X_WR = part.base_pose.matrix
        if part.mounted_on is not None:
            X_WR = self.roots[part.mounted_on]
        if urdf is not None:
            self.roots[name] = X_WR
            self.urdfs.setdefault(name, urdf)
        joints: list[LimitedJoint] = []
        for i, entry in enumerate(part.joints):
            if isinstance(entry, schema.Joint):
                joints.append(entry)
                continue
            assert urdf is not None  # the schema requires it if a joint is given by name
            if entry not in urdf.joints:
                raise DefinitionError(
                    str(place / "joints" / i), expected=unknown("joint", entry, urdf.joints), got=entry
                )
            joint = urdf.joints[entry]
            if joint.type not in MOVABLE:
                raise DefinitionError(
                    str(place / "joints" / i), expected=", ".join(MOVABLE), got=f"a {joint.type} joint"
                )
            joints.append(joint)
        names = [joint.name for joint in joints]
        for i, joint_name in enumerate(names):
            if names.index(joint_name) != i:
                raise DefinitionError(
                    str(place / "joints" / i), expected="each joint once", got=f"{joint_name!r} again"
                )
        if len(joints) > MAX_JOINTS:
            raise CapacityError(
                str(place / "joints"), expected=f"at most MAX_JOINTS = {MAX_JOINTS} joints", got=str(len(joints))
            )
        kind = PartKind[part.kind.upper()]  # type: ignore[attr-defined]  # every group in the union has its kind
        description = self._moving(name, index, part, place, tuple(joints), kind, urdf)
        return replace(description, base=Pose.of_matrix(X_WR), root=Pose.of_matrix(X_WR))

    def _moving(
        self,
        name: str,
        index: int,
        part: schema.MovingPart,
        place: Place,
        joints: tuple[LimitedJoint, ...],
        kind: PartKind,
        urdf: Urdf | None,
    ) -> PartDescription:
        part, joints = self.tagged.moving(part, joints, urdf)
        limits = resolve_limits(joints, part.limits, place / "limits")
        modes = _command_modes(part, limits, joints, place / "command_modes")
        system = resolve_system_limits(joints, limits, part.system_limits, modes, place / "system_limits")
        unmonitored = resolve_monitors(system, joints, kind, part.monitors, self.period, place / "monitors")
        start = _start_position(part, limits, joints, place / "start_position")
        record = _record(len(joints), self.period)
        _fill(record, limits, start)
        names = tuple(joint.name for joint in joints)
        described = PartDescription(
            name=name,
            index=index,
            kind=kind,
            device=part.device,
            joint_names=names,
            joint_types=tuple(joint.type for joint in joints),
            command_modes=modes,
            system_limits=system,
            unmonitored=unmonitored,
            start_position=start,
            default_action=part.default_action,
            safety_action=part.safety_action,
            urdf=urdf,
            mounted_on=getattr(part, "mounted_on", None),
            followers=_followers(urdf, names),
            initial_record=record,
        )
        known = [v.name.removeprefix(f"{name}.") for v in part_state_variables(described)]
        known += ["tool", "tool_confirmed"]
        states, commands = own_interfaces(part, known, place)
        fill_channels(record, system, states, commands)
        return replace(described, inputs=states, outputs=commands)


def _followers(urdf: Urdf | None, names: tuple[str, ...]) -> tuple[Mimic, ...]:
    mimics = [joint.mimic for joint in urdf.joints.values() if joint.mimic is not None] if urdf is not None else []
    return tuple(mimic for mimic in mimics if mimic.joint in names and mimic.name not in names)


def _command_modes(
    part: schema.MovingPart, limits: ResolvedLimits, joints: tuple[LimitedJoint, ...], place: Place
) -> tuple[CommandMode, ...]:
    without = [joint.name for joint, effort in zip(joints, limits.effort, strict=True) if math.isinf(effort)]
    if part.command_modes is None:
        names = ("position", "velocity") if without else ("position", "velocity", "effort")
        return tuple(_MODES[m] for m in names)
    if not part.command_modes:
        raise DefinitionError(str(place), expected="at least one of position, velocity, effort", got="none")
    if "effort" in part.command_modes and without:
        raise DefinitionError(
            str(place),
            expected="an effort limit for every joint, as effort is a command mode",
            got="none for " + ", ".join(without),
            hint="Give limits.effort",
        )
    return tuple(mode for name, mode in _MODES.items() if name in part.command_modes)


def _start_position(
    part: schema.MovingPart, limits: ResolvedLimits, joints: tuple[LimitedJoint, ...], place: Place
) -> Array:
    lower, upper = limits.position_lower, limits.position_upper
    if part.start_position is None:
        # zero if that is allowed; else mid-range
        return np.array([0.0 if a <= 0.0 <= b else _middle(a, b) for a, b in zip(lower, upper, strict=True)])
    if len(part.start_position) != len(joints):
        raise DefinitionError(
            str(place), expected=f"{len(joints)} numbers, one for each joint", got=str(len(part.start_position))
        )
    for joint, value, a, b in zip(joints, part.start_position, lower, upper, strict=True):
        if not a <= value <= b:
            raise DefinitionError(
                f"{place}, joint {joint.name!r}", expected=f"a position within {a:g} and {b:g}", got=f"{value:g}"
            )
    return np.array(part.start_position)


def _middle(lower: float, upper: float) -> float:
    if math.isinf(lower):
        return upper
    return lower if math.isinf(upper) else 0.5 * (lower + upper)


def _record(dof: int, period: float) -> np.record:
    record: np.record = np.zeros(1, part_dtype)[0]
    record.dof = dof
    record.dt = period
    record.at_rest = 1.0
    measured = [field for described in PART_KINDS.values() for field in described.fields]
    tool = ("tool_position", "tool_orientation", "tool_twist")
    for field in (*tool, "inputs", "input_age", "drive_states", "age", "external_effort", *measured):
        record[field] = np.nan
    for field in ("tool_number", "tool_confirmed", "tool_command", "tool_fits"):
        record[field] = np.nan
    record.chain = empty_chain()
    return record


def _fill(record: np.record, limits: ResolvedLimits, start: Array) -> None:
    n = len(start)
    record.position[:n] = start
    record.commanded_position[:n] = start
    record.position_command[:n] = start
    record.position_lower[:n] = limits.position_lower
    record.position_upper[:n] = limits.position_upper
    record.velocity_limit[:n] = limits.velocity
    record.acceleration_limit[:n] = limits.acceleration
    record.jerk_limit[:n] = limits.jerk
    record.effort_limit[:n] = limits.effort
    record.effort_rate_limit[:n] = limits.effort_rate
