"""How to get the messages of other packages that PyPI lacks: on ROS, in this source tree, or after pip."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

BUILT = ("control_msgs", "controller_manager_msgs", "pal_statistics_msgs", "tf2_msgs")
"""The folders of interfaces/."""


def how_to_get(packages: Sequence[str], environment: Mapping[str, str] = os.environ) -> str:
    """What to type for these: on a ROS installation, in this source tree, or after pip."""
    distribution = environment.get("ROS_DISTRO")
    if distribution:
        names = " ".join(f"ros-{distribution}-{name.replace('_', '-')}" for name in packages)
        return f"On this ROS installation: apt install {names}"
    if (Path(__file__).parents[2] / "run").is_file():
        return "`./run interfaces` builds what is missing"
    return "`ROBOT_RT_CONTROL_INTERFACES=1 pip install .`, in this package's sources, installs them too"
