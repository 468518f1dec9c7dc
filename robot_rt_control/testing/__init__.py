"""Fakes and helpers for users' own tests: `from robot_rt_control.testing import ActionHarness, FakeArm`.

`ActionHarness` runs one action tick by tick on `FakeArm` and `FakePart`; `LockstepCell` runs a whole workcell, and
`BorderWatch` looks at every command that leaves it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robot_rt_control.testing.action_harness import ActionHarness
    from robot_rt_control.testing.border_watch import BorderWatch
    from robot_rt_control.testing.fake_arm import FakeArm, FakePart
    from robot_rt_control.testing.lockstep_cell import LockstepCell

__all__ = ["ActionHarness", "BorderWatch", "FakeArm", "FakePart", "LockstepCell"]

_PLACES = {
    "ActionHarness": "action_harness",
    "BorderWatch": "border_watch",
    "FakeArm": "fake_arm",
    "FakePart": "fake_arm",
    "LockstepCell": "lockstep_cell",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
