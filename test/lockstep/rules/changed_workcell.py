"""The rules' workcell with some entries changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robot_rt_control.model.workcell.workcell import Workcell, load_workcell

_FILE = Path(__file__).parent / "workcell.yaml"


def changed_workcell(folder: Path, changes: dict[str, Any], hardware: str | None = None) -> Workcell:
    """Load the workcell with other entries.

    Args:
        folder: for the file.
        changes: "parts/left/system_limits" → new value.
    """
    content = yaml.safe_load(_FILE.read_text())
    content["action_types"] = [str(_FILE.parent / entry) for entry in content["action_types"]]
    for path, value in changes.items():
        *above, last = path.split("/")
        place = content
        for name in above:
            place = place[name]
        place[last] = value
    file = folder / "workcell.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return load_workcell(file, hardware)
