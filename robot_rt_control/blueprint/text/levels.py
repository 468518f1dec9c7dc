"""The levels of skills, and what an atomic capability is about."""

from __future__ import annotations

LEVELS = ("capability", "meta_skill", "motion_skill", "behavior_skill", "blueprint")
"""From the lowest one: what the robot does through a part; what an execution member can do; one human-like action; a
whole service; what comes after what. A capability is the document's atomic API capability."""

CAPABILITY, META_SKILL, MOTION_SKILL, BEHAVIOR_SKILL, BLUEPRINT = LEVELS

CATEGORIES = ("sensing", "analysis", "part_control", "path_planning")
"""Categories of capabilities."""


def may_call(caller: str, called: str, *, strict: bool = False) -> bool:
    """Whether a skill of one level may call one of another (N2).

    Args:
        strict: only one level down; a blueprint calls any level.
    """
    difference = LEVELS.index(caller) - LEVELS.index(called)
    if caller == BLUEPRINT:
        return True
    return difference == 1 if strict else difference >= 1
