"""What a verification says of a plan: that it is verified, or what is missing. It reads headers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_rt_control.vocabulary.errors import DefinitionError

LEAST_DISTANCE = 0.001
"""[m] Engines agree no better about where a body ends: such an error is within any tolerance."""
MEASURED_DISTANCE = 0.003
"""[m] The same for a body whose pose is measured."""
BLOW = 0.01
"""[s] An impulse within it is a blow, however hard engines make their contacts."""
_POSITION, _ORIENTATION, _SPEED = 0.02, 0.05, 0.02
"""Of plans without a tolerance: per way; [rad]; [m/s]."""


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """What a plan's task accepts at the end."""

    position: float
    """[m]"""
    orientation: float
    """[rad]"""
    speed: float
    """[m/s] of a body that must be at rest."""

    def holds(self, row: Mapping[str, Any], *, at_rest: bool) -> bool:
        """Whether a replay, `Replay.summary()`, ended within it."""
        slow = not at_rest or row["rests"] or row.get("drift", float("inf")) <= self.speed
        return bool(slow and self.near(row["error_to_target"], row["orientation_error"]))

    def near(self, position: float, orientation: float, least: float = LEAST_DISTANCE) -> bool:
        """Whether errors [m], [rad] are within it; distances below `least` [m] are."""
        return position <= max(self.position, least) and orientation <= self.orientation


def tolerance_of(header: Mapping[str, Any], way: float) -> Tolerance:
    """The tolerance of a plan.

    Args:
        header: of the plan.
        way: [m] from its start to its target.
    """
    return Tolerance(**header.get("tolerance", {"position": _POSITION * way, "orientation": _ORIENTATION,
                                                "speed": _SPEED}))  # fmt: skip


def lacking(header: Mapping[str, Any], tolerance: Tolerance) -> list[str]:
    """Why a plan is not verified; empty: the other engines and the perturbed worlds agree that it reaches its
    target."""
    if not header.get("success"):
        return ["it does not reach its target in the planner's own engine"]
    found, at_rest = header.get("verification", {}), bool(header.get("at_rest", True))
    rows, others = found.get("replays", []), found.get("others", [])
    if not rows:
        return ["no other engine has played it"]
    if "perturbed" not in found:
        return ["it was not rolled out in worlds that differ"]
    said = []
    missed = [row for row in others if not tolerance.holds(row, at_rest=at_rest)]
    if not any(row["speed"] == 1.0 and tolerance.holds(row, at_rest=at_rest) for row in rows):
        missed.insert(0, max(rows, key=lambda row: row["speed"] == 1.0))
    for row in missed:
        moving = ""
        if at_rest and not row["rests"] and row.get("drift", float("inf")) > tolerance.speed:
            drift = f" by {row['drift']:.3f} m/s, {tolerance.speed:g} m/s are accepted" if "drift" in row else ""
            moving = f", still moving{drift}"
        said.append(f"in {row.get('engine', 'another engine')} at speed {row['speed']:g} the body ends "
                    f"{_ends(row['error_to_target'], row['orientation_error'], tolerance, moving)}")  # fmt: skip
    blows = [row["blow"] for row in [*rows, *others] if "blow" in row]
    if blows and min(blows) > found.get("blow", float("inf")):  # they differ by a factor of two, and more
        said.append(f"the robot strikes the body with {min(blows):.3f} N s within {1e3 * BLOW:g} ms; "
                    f"{found['blow']:.3f} N s are accepted, unless `slow` is false")  # fmt: skip
    for row in found["perturbed"]:
        if not row.get("world"):
            continue
        error, turned = row["position_error"], row["orientation_error"]
        if error is None or turned is None:
            said.append(f"with {row['name']} the simulation diverges")
        elif not tolerance.near(error, turned):
            said.append(f"with {row['name']} the body ends {_ends(error, turned, tolerance)}")
    return said


def refusal(header: Mapping[str, Any], missing: Sequence[str]) -> DefinitionError:
    """The refusal of a plan that is not verified."""
    said = "; ".join(missing)
    if not header.get("success"):
        return DefinitionError("plan", expected="one that reaches its target", got=f"not solved: {said}",
                               hint="Plan again")  # fmt: skip
    hint = "Plan with a longer duration, or allow it: --unverified"
    return DefinitionError("plan", expected="a verified one", got=f"planned, not verified: {said}", hint=hint)


def _ends(position: float, orientation: float, tolerance: Tolerance, moving: str = "") -> str:
    """Errors [m], [rad] beside what is accepted."""
    far, most = _apart(1e3 * position, 1e3 * max(tolerance.position, LEAST_DISTANCE), 1)
    turned, at_most = _apart(orientation, tolerance.orientation, 3)
    return f"{far} mm and {turned} rad away{moving}; {most} mm and {at_most} rad are accepted"


def _apart(one: float, other: float, digits: int) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to tell which one is greater, at most three more."""
    for more in range(4):
        texts = f"{one:.{digits + more}f}", f"{other:.{digits + more}f}"
        if texts[0] != texts[1]:
            break
    return texts
