"""What a foreign driver needs to know of its device, as one JSON document: docs/foreign_drivers.md explains each key.

The driver reads it from a file, and puts its bytes behind the record of its process image. There it is the manifest,
which the executor compares with its own.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.process_image import Manifest
from robot_rt_control.memory.layout import IMAGE_LAYOUT, IMAGE_VERSION
from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.model.robot.urdf_file import urdf_file
from robot_rt_control.model.workcell.workcell import DeviceDescription, Workcell
from robot_rt_control.vocabulary.errors import DefinitionError
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS, PART_KINDS

FORMAT = "robot_rt_control device"


def external_manifest(info: HardwareInfo) -> Manifest:
    """The interfaces of a device with a foreign driver: those of its parts, and no others."""
    return Manifest.of(info, standard_state_interfaces(info), standard_command_interfaces(info))


def description_path(image: str) -> Path:
    """The file of the description, beside the process image of this name."""
    return segment_path(f"{image}.json")


def external_device(workcell: Workcell, device: DeviceDescription, image: str) -> dict[str, Any]:
    """The description of a device with a foreign driver. Numbers that are not finite are None.

    Args:
        image: name of its process image.

    Raises:
        DefinitionError: the device has no foreign driver.
    """
    if device.external is None:
        raise DefinitionError(
            f"device {device.name!r}",
            expected="a device with a foreign driver (`external`)",
            got=f"one on the plugin {device.plugin!r}",
            hint=f"Choose its hardware: --hardware {device.name}=external, or `plugin: external` in the workcell file",
        )
    info = hardware_info(workcell, device)
    manifest = external_manifest(info)
    states = {name: i for i, name in enumerate(manifest.state)}
    commands = {name: i for i, name in enumerate(manifest.command)}
    parts = list(enumerate(info.parts))
    return {
        "format": FORMAT,
        "version": IMAGE_VERSION,
        "layout": f"{IMAGE_LAYOUT:x}",
        "image": image,
        "period_s": info.period_s,
        "silence_periods": device.external.silence,
        "pace": device.external.pace,
        "answer": device.external.answer,
        "priority": device.external.priority,
        **asdict(manifest),
        "kinds": [part.kind.name.lower() for part in info.parts],
        "joints": [joint for p, part in parts for joint in _joints(p, part, states, commands)],
        "values": [
            {"part": p, "name": name, "state": states[f"{part.name}/{name}"]}
            for p, part in parts
            for name in _measured(part)
        ],
        "outputs": [
            {
                "part": p,
                "name": channel.name,
                "state": states[f"{part.name}/{channel.name}"],
                "command": commands[f"{part.name}/{channel.name}"],
                "initial": channel.initial,
                "safe": _number(channel.safe),
            }
            for p, part in parts
            for channel in part.outputs
        ],
        "ages": [
            {"state": states[f"{part.name}/{channel.name}_age"], "of": states[f"{part.name}/{channel.name}"]}
            for part in info.parts
            if PART_KINDS[part.kind].has_ages
            for channel in part.inputs
        ],
        "ranges": [
            {"state": states[f"{part.name}/distance"], "lower": part.range[0], "upper": part.range[1]}
            for part in info.parts
            if part.range is not None
        ],
        "control_tag": device.control_tag or "",
        "urdf": _urdf(workcell, device),
        "folder": info.folder,
        "parameters": device.external.parameters,
    }


def to_json(description: dict[str, Any]) -> str:
    """The description as its driver reads it."""
    return json.dumps(description, indent=1, allow_nan=False) + "\n"


def _joints(p: int, part: HardwarePart, states: dict[str, int], commands: dict[str, int]) -> list[dict[str, Any]]:
    if part.kind not in JOINTED_KINDS:
        return []
    limits = part.limits
    return [
        {
            "part": p,
            "name": name,
            "unit": part.units[j],
            "state": states[f"{part.name}/{name}/position"],
            "command": commands[f"{part.name}/{name}/position"],
            "modes": sorted(mode.name.lower() for mode in part.supported_modes),
            "lower": _number(limits.position_lower[j]),
            "upper": _number(limits.position_upper[j]),
            "velocity": limits.velocity[j],
            "acceleration": _number(limits.acceleration[j]),
            "start": part.initial_position[j],
        }
        for j, name in enumerate(part.joint_names)
    ]


def _measured(part: HardwarePart) -> list[str]:
    """What is measured apart from joints and outputs."""
    return [
        *(quantity.name for quantity in PART_KINDS[part.kind].measured),
        *(channel.name for channel in part.inputs),
        *(channel.name for channel in part.drive_states),
    ]


def _urdf(workcell: Workcell, device: DeviceDescription) -> str:
    """File of the URDF that has the device's <ros2_control> tag, else of the first part with a URDF; empty: none."""
    found = [urdf for name in device.parts if (urdf := workcell.part(name).urdf) is not None]
    tagged = [u for u in found if any(x.attributes.get("name") == device.control_tag for x in u.controls)]
    return str(urdf_file((tagged or found)[0])) if tagged or found else ""


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
