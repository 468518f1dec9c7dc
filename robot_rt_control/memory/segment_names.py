"""Names of the shared-memory segments: one for each user, ROS domain and namespace, so that workcells do not meet."""

from __future__ import annotations

import os
import re


def _prefix(namespace: str, domain: str) -> str:
    space = re.sub(r"[^A-Za-z0-9_]+", ".", namespace).strip(".")
    return ".".join(word for word in ("robot_rt_control", str(os.getuid()), domain, space) if word)


def channel_name(namespace: str, domain: str) -> str:
    """Name of the channel between executor and control server.

    Args:
        namespace: namespace of the ROS nodes, "/" or "/cell_1".
        domain: ROS_DOMAIN_ID.
    """
    return _prefix(namespace, domain) + "-channel"


def operator_file_name(channel: str) -> str:
    """Name of the file with the operator's secret, beside the channel of this name."""
    return f"{channel.removesuffix('-channel')}-operator"


def image_name(namespace: str, domain: str, device: str) -> str:
    """Name of the process image of a device's driver."""
    return f"{_prefix(namespace, domain)}-device-{device}"
