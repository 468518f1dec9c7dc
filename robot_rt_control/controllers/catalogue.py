"""Makes the controllers that a workcell file describes."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from typing import cast

from robot_rt_control.client import Client
from robot_rt_control.controllers.controller import Controller
from robot_rt_control.model.workcell.controllers import CONTROLLER_TYPES, ControllerDescription
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError


def with_public_names(part: PartDescription, workcell: Workcell) -> PartDescription:
    """The part with the names of joints and links in robot_description, by which other packages know them."""
    joints = workcell.joint_state_names().get(part.name, ())
    prefix = joints[0].removesuffix(part.joint_names[0]) if joints else ""
    base, tip = (link and prefix + link for link in (part.base_link, part.tip_link))
    urdf = part.urdf and part.urdf.prefixed(prefix)
    return replace(part, joint_names=joints, base_link=base, tip_link=tip, urdf=urdf)


def make_controller(description: ControllerDescription, workcell: Workcell, client: Client) -> Controller:
    """A controller, whose code is imported now.

    Raises:
        DefinitionError: its options are not valid.
        RobotControlError: its code cannot be imported.
    """
    module, _, name = CONTROLLER_TYPES[description.type].code.partition(":")
    try:
        kind = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise RobotControlError(
            f"controller {description.name!r}: the code of {description.type} cannot be imported", got=str(error)
        ) from error
    part = None if description.part is None else with_public_names(workcell.part(description.part), workcell)
    try:
        made: Controller = kind(description.name, part, client, description.options)
    except DefinitionError as error:
        raise DefinitionError(f"{description.place}: {error}") from error
    return made


def check_options(workcell: Workcell) -> list[str]:
    """Check the options of a workcell's controllers, without a running workcell. Returns what could not be checked.

    Raises:
        DefinitionError, ProgramError: all mistakes, each with its line.
    """
    mistakes, unchecked = Mistakes(), []
    for description in workcell.controllers:
        with mistakes.collect():
            try:
                make_controller(description, workcell, cast(Client, None))  # it is used from `configure` on
            except DefinitionError:
                raise
            except RobotControlError as error:
                unchecked.append(f"{description.place}: its options are not checked: {error}")
    mistakes.raise_all()
    return unchecked


def reload_code() -> None:
    """Import the code of controllers again."""
    for described in CONTROLLER_TYPES.values():
        module = described.code.partition(":")[0]
        if module in sys.modules:
            importlib.reload(sys.modules[module])
