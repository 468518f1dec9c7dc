"""config/fr3.yaml with a hand, by the listings of docs/franka.md."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def fr3_with_hand(address: str = "127.0.0.1") -> str:
    """The text of the workcell file."""
    manual = (_ROOT / "docs" / "franka.md").read_text().split("## The hand", 1)[1]
    parts, devices = re.findall(r"```yaml\n(.*?)```", manual, re.DOTALL)[:2]
    text = (_ROOT / "config" / "fr3.yaml").read_text()
    assert text.count("\n  wrench:") == 1 and text.rstrip().endswith("simulator")
    text = text.replace("\n  wrench:", f"\n{parts}  wrench:").rstrip() + f"\n{devices}"
    text = text.replace("\nperiod:", "\nclock_device: robot\nperiod:")
    return text.replace("address: 127.0.0.1", f"address: {address}")
