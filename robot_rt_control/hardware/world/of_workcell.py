"""The simulated world of a workcell, whatever its devices run on."""

from __future__ import annotations

from functools import partial

from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.world.parameters import WorldParameters
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.text.document import Document, Path
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError


def world_of(workcell: Workcell) -> WorldParameters:
    """The world of the first device that has one.

    Raises:
        DefinitionError: it is not valid, or no device has one.
    """
    for device in workcell.devices:
        if device.world is not None:
            where = f"{workcell.path.name}, device {device.name!r}, world"
            try:
                document = workcell.document.part("devices", device.name, "world")
                return checked(WorldParameters, device.world, where, partial(_line, document))
            except HardwareError as error:
                raise DefinitionError(str(error)) from None
    what = f"workcell {workcell.name!r}"
    raise DefinitionError(what, expected="a device with a `world`, which simulators simulate", got="none")


def _line(document: Document, path: Path) -> str:
    return f"{document.where(*path)}: "
