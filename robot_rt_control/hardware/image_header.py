"""The process image for drivers in C and C++: `python -m robot_rt_control.hardware.image_header` writes the header."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

from robot_rt_control.memory.c_structs import INCLUDES, CStructs
from robot_rt_control.memory.layout import IMAGE_LAYOUT, IMAGE_MAGIC, IMAGE_VERSION, device_image_dtype
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import CommandMode, DriverMode, ImageError

HEADER = Path(__file__).parents[2] / "ros2_control_driver" / "include" / "robot_rt_control" / "process_image.h"
"""Where the header is in the source tree."""

_BEGINNING = f"""\
/* The process image of a device: shared memory between its driver and the real-time executor.
 *
 * Written by `python -m robot_rt_control.hardware.image_header`; do not edit it. The protocol: docs/foreign_drivers.md.
 * Behind the structure follow `manifest_size` bytes of JSON, which name the numbers of `state` and `command`. */
#ifndef ROBOT_RT_CONTROL__PROCESS_IMAGE_H_
#define ROBOT_RT_CONTROL__PROCESS_IMAGE_H_

{INCLUDES}
#define RRC_IMAGE_VERSION {IMAGE_VERSION}
#define RRC_IMAGE_MAGIC UINT64_C({IMAGE_MAGIC:#x})
#define RRC_IMAGE_LAYOUT UINT64_C({IMAGE_LAYOUT:#x})
#define RRC_MAX_JOINTS {capacities.MAX_JOINTS}
#define RRC_MAX_PARTS {capacities.MAX_PARTS}
#define RRC_MAX_DEVICE_INTERFACES {capacities.MAX_DEVICE_INTERFACES}
"""


def image_header() -> str:
    """The text of the header."""
    enums = [
        _enum("rrc_command_mode", "RRC_MODE", CommandMode),
        _enum("rrc_driver_mode", "RRC_DRIVER", DriverMode),
        _enum("rrc_image_error", "RRC_ERROR", ImageError),
    ]
    structs = CStructs()
    structs.add("rrc_device_image", device_image_dtype)
    end = "#endif /* ROBOT_RT_CONTROL__PROCESS_IMAGE_H_ */"
    return "\n".join([_BEGINNING, *enums, structs.text.strip(), "", end, ""])


def _enum(name: str, prefix: str, members: type[IntEnum]) -> str:
    lines = [f"    {prefix}_{member.name} = {int(member)}," for member in members]
    return "\n".join([f"enum {name} {{", *lines, "};", ""])


if __name__ == "__main__":
    HEADER.write_text(image_header())
