"""Drives of a device: the schema of its `drives` configuration, and whether that agrees with the device's parts.

    devices:
      arm_drives:
        drives:  # the plugin
          network: {kind: test_bus}
          drives:
            - {name: base, kind: servo_3, node: 1, motors: [{joint: arm.joint_1, gear_ratio: 100, counts: 4096}, …]}

`docs/drives.md` explains it. The loop's side is in hardware/drives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.text.document import Document, Place, dotted
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.text.schema import Model, Name, Number, read, refuse
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

DRIVES = "drives"
"""The plugin whose devices are drives on a network. The loop itself exchanges their packets."""

Probability = Annotated[Number, Field(ge=0, le=1)]


@dataclass(frozen=True, kw_only=True)
class DriveKind:
    """What is known of all drives of one kind."""

    motors: int
    """How many motors it can drive."""
    network: str
    """The kind of network that it speaks on."""


DRIVE_KINDS: Mapping[str, DriveKind] = {
    "servo_1": DriveKind(motors=1, network="test_bus"),
    "servo_3": DriveKind(motors=3, network="test_bus"),
    "servo_8": DriveKind(motors=8, network="test_bus"),
    "cia402": DriveKind(motors=8, network="canopen"),
}


def _some(value: Any) -> Any:
    if value == []:
        raise refuse("at least one", got="none")
    return value


NotEmpty = BeforeValidator(_some)


def _known_kind(value: str) -> str:
    if value not in DRIVE_KINDS:
        raise refuse(unknown("kind of drive", value, DRIVE_KINDS))
    return value


Kind = Annotated[str, AfterValidator(_known_kind)]
"""One of DRIVE_KINDS."""


class Answer(Model):
    """A drive that answers on a network when the topology is checked."""

    node: int = Field(strict=True, ge=1, le=capacities.MAX_NODE)
    kind: str


class TestBus(Model):
    """A simulated network with simulated drives and motors. Probabilities are for each packet, in each direction."""

    __test__ = False  # for pytest, which takes its name for that of a test

    kind: Literal["test_bus"]
    loss: Probability = 0.0  # that packets are lost from here on
    burst: int = Field(default=1, strict=True, ge=1, le=1000)  # packets of a drive that are lost in a row
    delay: int = Field(default=0, strict=True, ge=0, le=capacities.MAX_BUS_DELAY)  # [exchanges] of all answers
    repetition: Probability = 0.0  # that an answer arrives again in the next exchange
    corruption: Probability = 0.0  # that a bit is wrong on arrival
    seed: int = Field(default=1, strict=True, ge=1, le=2**31)  # of all these
    time_constant: Number = Field(default=0.005, ge=0)  # [s] of the motors' first-order dynamics; 0: at once
    inertia: Number = Field(default=1.0, gt=0)  # [kg m^2 or kg] of each joint in effort mode
    damping: Number = Field(default=0.0, ge=0)  # [Nms/rad or Ns/m] of each joint in effort mode
    answers: tuple[Answer, ...] | None = None  # the drives that are there; None: those that are configured


class Motor(Model):
    """A motor, and its joint."""

    joint: str  # part.joint
    gear_ratio: Number = Field(default=1.0, gt=0)  # motor turns for a turn of the joint; prismatic: for a metre
    offset: Number = 0.0  # [rad or m] position of the joint at which the encoder counts 0
    counts: int = Field(strict=True, ge=1, le=2**31)  # of the encoder in a turn of the motor
    torque_constant: Number = Field(default=1.0, gt=0)  # [Nm/A]
    direction: Literal[1, -1] = 1  # -1: the joint turns against the motor

    def turns(self, prismatic: bool) -> float:
        """Turns of the motor for 1 rad or 1 m of the joint, positive."""
        return self.gear_ratio if prismatic else self.gear_ratio / (2 * math.pi)


class Drive(Model):
    """A drive and its motors, in the order in which its packets carry them."""

    name: Name
    kind: Kind
    node: int = Field(strict=True, ge=1, le=capacities.MAX_NODE)  # its address on the network
    motors: Annotated[tuple[Motor, ...], NotEmpty]  # at most MAX_DRIVE_MOTORS, and as its kind has

    @model_validator(mode="after")
    def _few_motors(self) -> Drive:
        most = min(DRIVE_KINDS[self.kind].motors, capacities.MAX_DRIVE_MOTORS)
        if len(self.motors) > most:
            raise refuse(f"at most {most}, as its kind is {self.kind!r}", key="motors", got=str(len(self.motors)))
        return self


class Drives(Model):
    """The configuration of a device on the plugin `drives`."""

    network: TestBus
    every: int = Field(default=1, strict=True, ge=1, le=capacities.MAX_EVERY)  # [ticks] from one exchange to the next
    enable_timeout: Number = Field(default=defaults.DRIVE_ENABLE_S, gt=0)  # [s] until a motor is enabled
    drives: Annotated[tuple[Drive, ...], NotEmpty, Field(max_length=capacities.MAX_DRIVES)]

    @property
    def max_age_ticks(self) -> int:
        """The default: three packets in a row that are missing are too many."""
        return defaults.DRIVE_MISSING_PACKETS * self.every - 1

    def enable_ticks(self, period_s: float) -> int:
        """Within which all motors of a part must be enabled, for the loop's period."""
        return max(1, round(self.enable_timeout / period_s))

    def of_part(self, part: str) -> list[Drive]:
        """The drives with a motor of this part."""
        return [drive for drive in self.drives if any(m.joint.startswith(f"{part}.") for m in drive.motors)]

    def motor_names(self, part: PartDescription) -> tuple[str, ...]:
        """Each joint of a part with its motor: "elbow, motor 1 of drive 'upper', node 2"."""
        names = {
            motor.joint: f"motor {i + 1} of drive {drive.name!r}, node {drive.node}"
            for drive in self.drives
            for i, motor in enumerate(drive.motors)
        }
        return tuple(f"{joint}, {names[f'{part.name}.{joint}']}" for joint in part.joint_names)


# --- state variables ------------------------------------------------------------------------------

MOTOR_STATES = (
    Channel(name="error", type="int", description="error code of the motor, 0: none"),
    Channel(name="status", type="int", description="state of the motor: 4 enabled, 7 fault (MotorStatus)"),
    Channel(name="acceleration", type="float", description="measured acceleration"),
)
"""State variables `part.joint.<name>` of each joint with a motor."""

DRIVE_STATES = (
    Channel(name="age", type="int", unit="ticks", description="ticks since the data of the last packet was taken"),
    Channel(name="lost", type="int", description="packets that never arrived"),
    Channel(name="late", type="int", description="packets that arrived after a later exchange had begun"),
    Channel(name="repeated", type="int", description="packets that were not newer than one before, and so not used"),
    Channel(name="corrupt", type="int", description="packets with a wrong length, address or checksum"),
)
"""State variables `part.drive.<name>` of each drive with a motor of the part."""


def drive_states(part: PartDescription, drives: Drives) -> tuple[Channel, ...]:
    """What drives report of a part: the motor states of all joints in order, then the states of its drives."""
    units = [f"{unit}/s^2" for unit in part.units]
    motors = [
        replace(state, name=f"{joint}.{state.name}", unit=unit if state.name == "acceleration" else "")
        for joint, unit in zip(part.joint_names, units, strict=True)
        for state in MOTOR_STATES
    ]
    own = [replace(s, name=f"{drive.name}.{s.name}") for drive in drives.of_part(part.name) for s in DRIVE_STATES]
    return (*motors, *own)


def drive_counters(part: PartDescription, values: Sequence[float]) -> dict[str, str]:
    """Each drive of a part with its states, for people.

    Args:
        values: of the part's `drive_states`.
    """
    found: dict[str, str] = {}
    for state, value in list(zip(part.drive_states, values, strict=False))[len(MOTOR_STATES) * part.dof :]:
        drive, _, name = state.name.rpartition(".")
        before = found.get(f"drive {drive}")
        found[f"drive {drive}"] = f"{before}, {name} {value:g}" if before else f"{name} {value:g}"
    return found


# --- reading --------------------------------------------------------------------------------------


def read_drives(
    document: Document, parts: Sequence[PartDescription], mistakes: Mistakes, schema: type[Drives]
) -> Drives | None:
    """The configuration of a device with drives.

    Args:
        document: that item of the workcell file.
        parts: those of the device.
        mistakes: takes all mistakes, with file, line and item.
        schema: Drives, or a model derived from it for another network.

    Returns:
        None: there was a mistake.
    """
    drives, found = read(schema, document)
    mistakes.errors += [error for error, _ in found]
    if drives is None or found:
        return None
    errors = [*_check_drives(drives, document.root), *_check_motors(drives, parts, document.root)]
    mistakes.errors += errors
    return None if errors else drives


def _check_drives(drives: Drives, root: Place) -> Iterator[DefinitionError]:
    names: set[str] = set()
    nodes: dict[int, int] = {}
    for i, drive in enumerate(drives.drives):
        place = root / "drives" / i
        if drive.name in names:
            yield _error(place / "name", f"drive {drive.name!r}", expected="each name once", got="this name again")
        names.add(drive.name)
        first = nodes.setdefault(drive.node, i)
        if first != i:
            expected = f"a node of its own, as {drive.node} is that of drive {drives.drives[first].name!r}"
            yield _error(place / "node", f"drive {drive.name!r}", expected=expected, got=str(drive.node))
        network = DRIVE_KINDS[drive.kind].network
        if network != drives.network.kind:
            expected = f"a drive for the network {drives.network.kind!r}"
            yield _error(place / "kind", f"drive {drive.name!r}", expected=expected, got=f"one for {network!r}")


def _check_motors(drives: Drives, parts: Sequence[PartDescription], root: Place) -> Iterator[DefinitionError]:
    joints = {f"{part.name}.{joint}": (part, j) for part in parts for j, joint in enumerate(part.joint_names)}
    owners: dict[str, str] = {}
    for i, drive in enumerate(drives.drives):
        for k, motor in enumerate(drive.motors):
            place, what = root / "drives" / i / "motors" / k, f"drive {drive.name!r}, motor {k + 1}"
            if motor.joint not in joints:
                expected = unknown("joint of this device", motor.joint, joints)
                yield _error(place / "joint", what, expected=expected, got=repr(motor.joint))
                continue
            if motor.joint in owners:
                expected = f"a joint without a motor, as {motor.joint!r} has one on {owners[motor.joint]}"
                yield _error(place / "joint", what, expected=expected, got=repr(motor.joint))
            owners.setdefault(motor.joint, what)
            part, j = joints[motor.joint]
            yield from _check_range(motor, part, j, place / "counts", what)
    for joint in joints:
        if joint not in owners:
            expected = "a motor for each joint of the device"
            yield _error(root / "drives", f"joint {joint!r}", expected=expected, got="none")
    for part in parts:
        if part.inputs or part.outputs or not part.dof:
            expected, hint = "a part with joints alone, as drives move nothing else", "Put it on a device of its own"
            yield _error(root / "drives", f"part {part.name!r}", expected=expected, hint=hint)


def _check_range(motor: Motor, part: PartDescription, j: int, place: Place, what: str) -> Iterator[DefinitionError]:
    """A packet carries positions and velocities as counts of 32 bits."""
    counts = motor.counts * motor.turns(part.units[j] == "m")
    limits = part.system_limits
    largest = max(
        abs(float(limits.position_lower[j]) - motor.offset), abs(float(limits.position_upper[j]) - motor.offset)
    )
    if math.isinf(largest):
        largest = 0.0  # a continuous joint: its counts wrap around
    for value, quantity in ((largest, "position"), (float(limits.velocity[j]), "velocity")):
        if value * counts >= 2**31:
            expected = f"counts with which each {quantity} of joint {motor.joint!r} is less than 2^31 counts"
            yield _error(place, what, expected=expected, got=f"{value * counts:.3g} at its limit")


def _error(place: Place, what: str, *, expected: str, got: str = "", hint: str = "") -> DefinitionError:
    where = f"{dotted(place.path)}: {what}"
    return place.document.error(place.line, where, expected=expected, got=got, hint=hint)
