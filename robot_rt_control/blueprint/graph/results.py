"""How a skill can end: named results, each a success or a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from robot_rt_control.definitions.parameter_value import Value

DONE, FAILED, TIMEOUT, CANCELLED = "done", "failed", "timeout", "cancelled"

Results = Mapping[str, bool]
"""Name of a result → whether it is a failure."""

STANDARD: Results = MappingProxyType({DONE: False, FAILED: True, TIMEOUT: True, CANCELLED: True})
"""The results that every skill has."""

SUCCESS, FAILURE, ANY = "success", "failure", "any"
"""In `on` of a candidate: every success, every failure, every result."""


def with_standard(declared: Results) -> Results:
    """All results of a skill: the declared ones, then those that every skill has."""
    return MappingProxyType({**declared, **{name: bad for name, bad in STANDARD.items() if name not in declared}})


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a node, a call or a run ended."""

    result: str
    failure: bool
    reason: str = ""
    """Reason of a failure, in words."""
    outputs: Mapping[str, Value] = field(default_factory=dict)
    """Those that have a value."""

    @classmethod
    def standard(cls, result: str, reason: str = "") -> Outcome:
        """An outcome with one of the STANDARD results."""
        return cls(result=result, failure=STANDARD[result], reason=reason)

    @property
    def shown(self) -> str:
        """For reasons: "failed: nothing found"."""
        return f"{self.result}: {self.reason}" if self.reason else self.result
