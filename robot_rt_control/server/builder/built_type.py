"""The builder's answer, for those who never load the compiler."""

from __future__ import annotations

import math
from dataclasses import dataclass

from robot_rt_control.definitions.declared_type import DeclaredType

UNPROVEN = "what its loops, pointers and recursion do is not proven"
"""Of code in C and C++, which is accepted if the workcell file trusts its folder."""


@dataclass(frozen=True, kw_only=True)
class BuiltType:
    """An action type whose native code lies in the cache."""

    spec: str
    key: str
    declared: DeclaredType
    files: str
    """Digest of the user's files that define it, see `source.files_digest`."""
    methods: tuple[str, ...]
    """The real-time methods that it defines."""
    compute_time: float = math.nan
    """The time of its longest tick [s]; NaN: it could not be measured."""
    worst_time: float
    """What its loops let a tick take at most [s], see work_bound.py."""
    worst_loop: str
    """Where the longest of them is, and how many rounds it makes; empty: it has none."""
    cached: bool
    """Whether the code was in the cache already."""
    seconds: float
    """How long building took [s]."""
    unproven: str = ""
    """The file of real-time code in C or C++, of which not all is proven; empty: the code is Python."""
