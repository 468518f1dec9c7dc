"""Drives on a CANopen bus: the schema of a device's configuration for the plugin `canopen`.

    devices:
      bus:
        canopen:
          network: {kind: canopen, interface: socketcan, channel: can0}
          drives:
            - {name: base, kind: cia402, node: 1, eds: eds/cia402_servo.eds, vendor: 0x29C, product: 0x402,
               motors: [{joint: arm.joint_1, gear_ratio: 100, counts: 65536}]}

`docs/canopen.md` explains it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from robot_rt_control.model.workcell.drives import Drive, Drives, Kind, NotEmpty
from robot_rt_control.text.schema import Flag, Model, Number, refuse
from robot_rt_control.vocabulary import capacities

CANOPEN = "canopen"
"""The plugin whose devices are drives with the profile CiA 402."""


def _integer(value: Any) -> Any:
    """YAML reads 0x29C as an integer only without quotes."""
    if not isinstance(value, str):
        return value
    try:
        return int(value, 0)
    except ValueError:
        raise refuse("an integer, such as 24954 or 0x607A") from None


Unsigned32 = Annotated[int, BeforeValidator(_integer), Field(strict=True, ge=0, le=2**32 - 1)]
Positive = Annotated[Number, Field(gt=0)]


class CanBus(Model):
    """The bus, in the terms of python-can."""

    kind: Literal["canopen"] = "canopen"
    interface: str = Field(min_length=1)  # socketcan, pcan, …
    channel: str | int
    options: dict[str, Any] = {}  # more arguments of can.Bus, such as bitrate


class StartupObject(Model):
    """A value that a drive gets when it is configured."""

    object: Annotated[int, BeforeValidator(_integer), Field(strict=True, ge=1, le=0xFFFF)]
    sub: int = Field(default=0, strict=True, ge=0, le=255)
    value: Annotated[int, BeforeValidator(_integer), Field(strict=True, ge=-(2**31), le=2**32 - 1)]


class CanopenDrive(Drive):
    kind: Kind = "cia402"
    eds: str  # its EDS file; a relative path begins at the workcell file
    vendor: Unsigned32  # 0x1018 sub 1
    product: Unsigned32  # 0x1018 sub 2
    velocity_unit: Positive = 1.0  # [counts/s] for a unit of its velocities
    startup: tuple[StartupObject, ...] = ()
    reports_following: Flag = True  # bit 12 of its statusword: it follows the commanded values; false: it has none


class CanopenDrives(Drives):
    """The configuration of a device on the plugin `canopen`."""

    network: CanBus  # type: ignore[assignment]  # only the test bus, which is not used here, reads the keys of TestBus
    drives: Annotated[tuple[CanopenDrive, ...], NotEmpty, Field(max_length=capacities.MAX_DRIVES)]
    every: Literal[1] = 1
    exchange_bound: Positive | None = None  # [s] that `read` waits for answers; None: a quarter of the period
    measured_velocity: Flag = True  # false: velocities are differences of positions; a motor may need a PDO less
    heartbeat: Annotated[Number, Field(ge=0.01, le=20)] = 0.1  # [s] period; three missing ones are a loss
    own_node: int = Field(default=127, strict=True, ge=1, le=capacities.MAX_NODE)  # of this computer's heartbeat
    # `enable_timeout` also bounds how long a motor may take to change its mode
    enable_tolerance: Positive = 0.01  # [rad or m] by which a command may have moved until its motor is enabled
    sdo_timeout: Positive = 1.0  # [s] for an answer while the bus is configured

    @model_validator(mode="after")
    def _own_node(self) -> CanopenDrives:
        for drive in self.drives:
            if drive.node == self.own_node:
                expected = "another node than that of this computer's heartbeat"
                raise refuse(expected, what=f"drive {drive.name!r}", got=str(drive.node))
        return self
