"""The parameters of the plugin `dynamixel`, as a workcell file gives them."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field

from robot_rt_control.hardware.dynamixel.control_table import PULSES
from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.hardware.parameters import Finite, Parameters, Positive
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError, unknown
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS

# The rates at which the SDK opens a port, and servos of the X series have.
BaudRate = Literal[9600, 57600, 115200, 1_000_000, 2_000_000, 3_000_000, 4_000_000]


class ServoParameters(Parameters):
    """One servo, which moves one joint."""

    id: int = Field(ge=0, le=252)
    joint: str
    """part.joint"""
    model: Literal["XL430-W250", "XM430-W210", "XM430-W350"]
    zero: int = PULSES // 2
    """[pulses] of the joint's position 0."""
    direction: Literal[1, -1] = 1
    per_turn: Positive | None = None
    """[rad or m] of the joint for a turn of the servo; not given: 2 pi, for joints that turn."""
    torque_constant: Positive | None = None
    """[Nm/A] of the servo's output; needed for efforts, commanded or measured."""
    homing_offset: int | None = Field(default=None, ge=-1_044_479, le=1_044_479)
    """[pulses] that the servo adds to its position; not given: as it is in the servo."""


class DynamixelParameters(Parameters):
    """All servos of a bus."""

    port: str
    baud_rate: BaudRate = 57600
    servos: list[ServoParameters] = Field(min_length=1)
    every: int = Field(default=1, ge=1, le=1000)
    """Exchanges happen in each n-th period: for a bus that is slower than the loop."""
    watchdog: Annotated[float, Field(ge=0.02, le=2.54)] = 0.2
    """[s] after which a servo stops by itself if the bus is silent."""
    answer_timeout: Positive = 0.04
    """[s] until an access without acknowledgement is tried again, at most twice; adapters may delay answers 16 ms."""
    exchange_bound: Positive | None = None
    """[s] for which a read waits for answers at most; not given: a quarter of the period."""
    enable_timeout: Positive = 0.5
    """[s] until a servo has its torque."""
    enable_tolerance: Finite = Field(default=0.05, gt=0.0)
    """[rad or m] by which the command may have left the joint until then."""
    when_disabled: Literal["hold", "free"] = "hold"
    """What a joint does whose part was enabled and is not any more."""


def check_servos(given: DynamixelParameters, info: HardwareInfo) -> None:
    """Compare the servos with the parts' joints.

    Raises:
        HardwareError: names the servo or joint that does not fit.
    """
    where = f"hardware {info.name!r}"
    for part in info.parts:
        if part.kind not in JOINTED_KINDS or part.outputs or part.inputs:
            raise HardwareError(f"{where}: part {part.name!r}", expected="a part with joints, and nothing else")
    parts = {f"{part.name}.{joint}": part for part in info.parts for joint in part.joint_names}
    for what, values in (("id", [s.id for s in given.servos]), ("joint", [s.joint for s in given.servos])):
        for value, n in Counter(values).items():
            if n > 1:
                raise HardwareError(f"{where}: {what} {value!r}", expected="one servo with it", got=f"{n} servos")
    for servo in given.servos:
        what = f"{where}: servo {servo.id}"
        if servo.joint not in parts:
            raise HardwareError(f"{what}: joint {servo.joint!r}", expected=unknown("joint", servo.joint, parts))
        part = parts[servo.joint]
        j = part.joint_names.index(servo.joint.partition(".")[2])
        if servo.per_turn is None and part.units[j] == "m":
            raise HardwareError(f"{what}, which moves {servo.joint}: per_turn", expected="[m] for a turn of the servo")
        if CommandMode.EFFORT in part.supported_modes:
            if servo.model == "XL430-W250":
                raise HardwareError(
                    f"{what}, which moves {servo.joint}: command mode effort",
                    expected="a model that controls its current",
                    got=servo.model,
                )
            if servo.torque_constant is None:
                missing = f"{what}, which moves {servo.joint}: torque_constant"
                raise HardwareError(missing, expected="[Nm/A], for efforts")
    moved = {servo.joint for servo in given.servos}
    for joint in parts:
        if joint not in moved:
            raise HardwareError(f"{where}: joint {joint!r}", expected="a servo", got="none")


def check_rate(given: DynamixelParameters, info: HardwareInfo, answer: int) -> None:
    """Refuse what the bus cannot carry: goals, a request, and an answer of each servo in an exchange.

    Args:
        answer: [bytes] of data in an answer.

    Raises:
        HardwareError: says how many periods an exchange takes.
    """
    n = len(given.servos)
    sent, received = 14 + 5 * n + 14 + n, n * (11 + answer)
    needed, there = 10 * (sent + received) / given.baud_rate, given.every * info.period_s
    if needed > there:
        what = f"an exchange with {n} servos at {given.baud_rate} baud takes {1e3 * needed:.1f} ms"
        raise HardwareError(
            f"hardware {info.name!r}: {what}",
            expected=f"at most {1e3 * there:g} ms, as `every` and the workcell's period say",
            hint="Raise the baud rate of servos and `baud_rate`, or `every`",
        )
