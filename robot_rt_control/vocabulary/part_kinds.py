"""The table of part kinds: what each kind measures and accepts, with the field of the part's record and the unit.

State and command interfaces, state variables, the mock device, sample parts, fault logs and sensor topics are derived
from it. A new kind needs

1. its number in `vocabulary/enums.py`,
2. a measured field in `memory/layout.py`, if it measures what no field holds yet,
3. its row here,
4. its section in `model/workcell/workcell_schema.py`,
5. its message in `realtime/executor/sensor_topics.py`, if it has a topic of its own;

and, in each simulator that offers it, the code that computes its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt

from robot_rt_control.vocabulary.enums import PartKind


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number that the hardware of a kind measures: a state interface `part/name` and a state variable `part.name`."""

    name: str
    unit: str
    description: str
    field: str
    """Field of `layout.part_dtype`; one of its measured fields."""
    index: int | None = None
    """Element of the field; None: the field is a single number."""
    idle: float = nan
    """Value that simulated hardware reports until another one is set."""
    sample: float = 0.0
    """Value that sample parts measure while an action type's compute time is measured."""


@dataclass(frozen=True, kw_only=True)
class JointQuantity:
    """A number for each joint: state variables `part.field[j]` and `part.joint.field`."""

    field: str
    """Field of `layout.part_dtype`."""
    quantity: str
    """The key of its unit in `quantity_units`."""
    description: str


JOINT_INTERFACES = ("position", "velocity", "effort")
"""Interfaces of each joint, in this order, and the fields of its states; commands are taken from `commanded_…`."""

EXTERNAL_EFFORT = JointQuantity(
    field="external_effort",
    quantity="effort",
    description="measured effort without that against the arm's weight",
)

JOINT_QUANTITIES = (
    JointQuantity(field="position", quantity="position", description="measured position"),
    JointQuantity(field="velocity", quantity="velocity", description="measured velocity"),
    JointQuantity(field="effort", quantity="effort", description="measured effort"),
    JointQuantity(field="commanded_position", quantity="position", description="position of the last command"),
    JointQuantity(field="commanded_velocity", quantity="velocity", description="velocity of the last command"),
    JointQuantity(
        field="commanded_acceleration", quantity="acceleration", description="acceleration of the last command"
    ),
    JointQuantity(field="commanded_effort", quantity="effort", description="effort of the last command"),
)


def position_units(joint_types: Sequence[str]) -> tuple[str, ...]:
    """Unit of the position of each joint: m for prismatic ones, else rad."""
    return tuple("m" if kind == "prismatic" else "rad" for kind in joint_types)


def quantity_units(position_unit: str) -> dict[str, str]:
    """Units of a joint's quantities, for a joint whose position is in rad or m."""
    return {
        "position": position_unit,
        "velocity": f"{position_unit}/s",
        "acceleration": f"{position_unit}/s^2",
        "effort": "Nm" if position_unit == "rad" else "N",
    }


def unit_for(unit: str, joint_unit: str) -> str:
    """A declared unit for a joint: "joint" is that of its position (rad, m), "effort" that of its effort (Nm, N)."""
    effort = {"rad": "Nm", "m": "N"}.get(joint_unit, "Nm or N")
    return unit.replace("effort", effort).replace("joint", joint_unit)


@dataclass(frozen=True, kw_only=True)
class KindDescription:
    """One kind of parts."""

    measured: tuple[Quantity, ...] = ()
    """What its hardware measures apart from joints and channels, in the order of its interfaces."""
    derived: tuple[Quantity, ...] = ()
    """What the loop computes from that, in each tick."""
    has_joints: bool = False
    has_tool: bool = False
    """Its joints are a chain with a tool, whose pose and velocity are state variables."""
    has_ages: bool = False
    """Each of its inputs is a value with its own age."""
    is_numbered: bool = False
    """Its channels are also state variables by index: `part.input[0]`."""
    topic: str = ""
    """`<part>/<topic>` publishes its measurements; see `sensor_topics.py`. Empty: each channel has its own topic."""
    message_orientation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    """Orientation x y z w of the message frame in the sensor frame."""
    sample_joints: int = 0
    """Number of joints of a sample part."""
    sample_prismatic: int = 0
    """Number of those that are prismatic: the first ones."""
    sample_inputs: tuple[str, ...] = ()
    """Number of inputs of a sample part."""
    sample_outputs: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that `measured` and `derived` fill."""
        return tuple(dict.fromkeys(quantity.field for quantity in (*self.measured, *self.derived)))


def _wrench() -> tuple[Quantity, ...]:
    return tuple(
        Quantity(
            name=f"{quantity}.{axis}",
            unit=unit,
            description=f"measured {quantity} along {axis} of the sensor frame",
            field="wrench",
            index=first + i,
            idle=0.0,
        )
        for quantity, unit, first in (("force", "N", 0), ("torque", "Nm", 3))
        for i, axis in enumerate("xyz")
    )


PART_KINDS: Mapping[PartKind, KindDescription] = {
    PartKind.ARM: KindDescription(has_joints=True, has_tool=True, sample_joints=7),
    PartKind.GRIPPER: KindDescription(has_joints=True, sample_joints=1),
    PartKind.BASE: KindDescription(has_joints=True, sample_joints=3, sample_prismatic=2),
    PartKind.FORCE_TORQUE_SENSOR: KindDescription(
        measured=_wrench(),
        derived=(
            Quantity(name="force_norm", unit="N", description="Euclidean norm of the force", field="force_norm"),
            Quantity(name="torque_norm", unit="Nm", description="Euclidean norm of the torque", field="torque_norm"),
        ),
        topic="wrench",
    ),
    PartKind.RANGEFINDER: KindDescription(
        measured=(
            Quantity(
                name="distance", unit="m", description="measured distance", field="distance", idle=inf, sample=0.5
            ),
        ),
        topic="range",
        # A sensor's ray is its z; sensor_msgs/Range measures along x.
        message_orientation=(0.0, -sqrt(0.5), 0.0, sqrt(0.5)),
    ),
    PartKind.IO: KindDescription(
        is_numbered=True, sample_inputs=("input_0", "input_1"), sample_outputs=("output_0", "output_1")
    ),
    PartKind.SENSOR: KindDescription(has_ages=True, sample_inputs=("value",)),
    PartKind.AXIS: KindDescription(has_joints=True, sample_joints=1),
}

JOINTED_KINDS = tuple(kind for kind, described in PART_KINDS.items() if described.has_joints)
"""Kinds of parts that have joints, and the degree of freedom alone."""
WORKCELL_KINDS = tuple(kind for kind in PART_KINDS if kind != PartKind.AXIS)
"""Kinds that a part of a workcell can have."""
