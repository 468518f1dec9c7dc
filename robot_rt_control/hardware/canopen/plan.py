"""Which PDOs carry the objects of a drive's motors, checked against the drive's EDS file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import canopen
from canopen.objectdictionary import ODVariable

from robot_rt_control.hardware.canopen import objects
from robot_rt_control.hardware.canopen.objects import Mapped, into_pdos, received, transmitted
from robot_rt_control.model.workcell.canopen import CanopenDrive
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

_PREDEFINED_PDOS = 4
"""In each direction have a COB-ID of the node's own."""


@dataclass(frozen=True)
class Pdo:
    """One PDO of a drive."""

    communication: int
    """Index of its communication parameters."""
    mapping: int
    """Index of its mapping parameters."""
    cob_id: int
    motor: int
    """In the drive."""
    mapped: tuple[Mapped, ...]

    @property
    def size(self) -> int:
        """[bytes]"""
        return sum(m.size for m in self.mapped)

    @property
    def entries(self) -> list[tuple[int, int]]:
        """Index and bits of each mapped object."""
        return [(m.index + objects.AXIS_STEP * self.motor, 8 * m.size) for m in self.mapped]


@dataclass(frozen=True)
class DrivePlan:
    """A drive with its dictionary and PDOs."""

    drive: CanopenDrive
    modes: tuple[tuple[CommandMode, ...], ...]
    """For each motor, the modes in which its joint is commanded."""
    dictionary: canopen.ObjectDictionary
    rpdos: tuple[Pdo, ...]
    tpdos: tuple[Pdo, ...]


def plan_drive(drive: CanopenDrive, modes: Sequence[Sequence[CommandMode]], folder: Path, velocity: bool) -> DrivePlan:
    """Read a drive's EDS file and find its PDOs.

    Args:
        drive: its configuration.
        modes: command modes of each motor's joint.
        folder: where a relative path of an EDS file begins.
        velocity: whether it reports measured velocities.

    Raises:
        HardwareError: the file cannot be read, or lacks what the configuration needs; names the object.
    """
    path = folder / drive.eds
    what = f"drive {drive.name!r}, EDS file {drive.eds!r}"
    try:
        dictionary = canopen.import_od(str(path), drive.node)
    except OSError as error:
        raise HardwareError(what, expected="a file", got=str(error)) from None
    except Exception as error:  # the parser raises whatever a damaged file leads to
        got = f"{type(error).__name__}: {error}"
        raise HardwareError(what, expected="an EDS file as in CiA 306", got=got) from None
    check = _Check(dictionary, what)
    rpdos = _pdos(drive, [into_pdos(received(m)) for m in modes], objects.RPDO, objects.RPDO_MAPPING, 0x200, what)
    reported = [into_pdos(transmitted(velocity, _has_error_code(dictionary, k))) for k in range(len(modes))]
    tpdos = _pdos(drive, reported, objects.TPDO, objects.TPDO_MAPPING, 0x180, what)
    for pdo in rpdos:
        check.pdo(pdo, "an RPDO")
    for pdo in tpdos:
        check.pdo(pdo, "a TPDO")
    for index, sub in _parameters(len(modes)):
        check.variable(index, sub)
    for startup in drive.startup:
        check.variable(startup.object, startup.sub, "rw")
    return DrivePlan(drive, tuple(tuple(m) for m in modes), dictionary, rpdos, tpdos)


def _has_error_code(dictionary: canopen.ObjectDictionary, motor: int) -> bool:
    """Whether a motor's error code can be mapped. Otherwise emergency messages alone have it."""
    found: Any = dictionary.get(objects.ERROR_CODE + objects.AXIS_STEP * motor)
    return isinstance(found, ODVariable) and bool(found.pdo_mappable) and len(found) == 16


def _parameters(motors: int) -> Iterator[tuple[int, int]]:
    """Objects beside those in PDOs, with their sub-indices."""
    yield from ((objects.DEVICE_TYPE, 0), (objects.IDENTITY, 1), (objects.IDENTITY, 2))
    yield from ((objects.HEARTBEAT, 0), (objects.CONSUMER_HEARTBEAT, 1))
    for k in range(motors):
        for index in (objects.MODE, objects.MODE_DISPLAY, objects.RATED_TORQUE, objects.SUPPORTED_MODES):
            yield index + objects.AXIS_STEP * k, 0


def _pdos(
    drive: CanopenDrive, of_motors: list[list[list[Mapped]]], communication: int, mapping: int, cob_id: int, what: str
) -> tuple[Pdo, ...]:
    found: list[Pdo] = []
    for k, pdos in enumerate(of_motors):
        for i, mapped in enumerate(pdos):
            number = objects.PDO_AXIS_STEP * k + i
            place = cob_id + 0x100 * len(found) + drive.node
            found.append(Pdo(communication + number, mapping + number, place, k, tuple(mapped)))
    if len(found) > _PREDEFINED_PDOS:
        raise HardwareError(
            f"{what}: PDOs of {len(of_motors)} motors",
            expected=f"at most {_PREDEFINED_PDOS} in each direction, as a node has COB-IDs for",
            got=str(len(found)),
            hint="Fewer command modes, or `measured_velocity: false`, need fewer PDOs",
        )
    return tuple(found)


class _Check:
    """Refuses what the dictionary lacks."""

    def __init__(self, dictionary: canopen.ObjectDictionary, what: str) -> None:
        self._dictionary, self._what = dictionary, what

    def variable(self, index: int, sub: int, access: str = "") -> ODVariable:
        found: Any = self._dictionary.get(index)
        if found is not None and not isinstance(found, ODVariable):
            found = found.get(sub)
        elif sub != 0:
            found = None
        name = object_name(index, sub)
        if found is None:
            raise HardwareError(f"{self._what}: object {name}", expected="an object that the plugin needs", got="none")
        if access and not all(letter in found.access_type for letter in access):
            raise HardwareError(f"{self._what}: object {name}", expected=f"access {access}", got=found.access_type)
        return found

    def pdo(self, pdo: Pdo, kind: str) -> None:
        for sub in (1, 2):
            self.variable(pdo.communication, sub, "rw")
        self.variable(pdo.mapping, 0, "rw")
        for i, mapped in enumerate(pdo.mapped):
            try:
                self.variable(pdo.mapping, i + 1, "rw")
            except HardwareError:
                raise HardwareError(
                    f"{self._what}: object {object_name(pdo.mapping, 0)}, mapping of {kind}",
                    expected=f"room for {len(pdo.mapped)} objects",
                    got=f"{i}",
                ) from None
            index = mapped.index + objects.AXIS_STEP * pdo.motor
            found = self.variable(index, 0)
            if len(found) != 8 * mapped.size:
                raise HardwareError(
                    f"{self._what}: object {object_name(index)}", expected=mapped.type, got=f"{len(found)} bits"
                )
            if not found.pdo_mappable:
                raise HardwareError(
                    f"{self._what}: object {object_name(index)}",
                    expected=f"one that can be mapped to {kind}",
                    got="PDOMapping=0",
                )


def object_name(index: int, sub: int = 0) -> str:
    """An object as manuals name it: 0x607A, 0x1018:01."""
    return f"0x{index:04X}" + (f":{sub:02X}" if sub else "")
