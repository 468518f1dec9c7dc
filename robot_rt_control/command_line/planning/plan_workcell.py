"""The workcell of a plan: plans carry its digest."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from robot_rt_control.model.paths import find_workcell, shipped_workcells
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.errors import DefinitionError

if TYPE_CHECKING:
    from robot_rt_control.planning import Plan


def workcell_of(plan: Plan, given: str | None) -> Path:
    """The file of a plan's workcell.

    Args:
        given: a file or a name; None: the one of the package with the plan's digest.

    Raises:
        DefinitionError: it is another workcell, or none fits.
    """
    digest = plan.header["workcell"]
    if given is not None:
        file = find_workcell(given)
        other = load_workcell(file).digest
        if other != digest:
            expected, got = f"the plan's, digest {digest:x}", f"another one, digest {other:x}"
            raise DefinitionError(f"workcell {given!r}", expected=expected, got=got, hint="Plan again for it")
        return file
    for file in shipped_workcells().values():
        if "world:" in file.read_text(encoding="utf-8"):
            with suppress(DefinitionError):
                if load_workcell(file).digest == digest:
                    return file
    expected = "--workcell, as no workcell of the package is the plan's"
    raise DefinitionError("workcell of the plan", expected=expected, got=f"digest {digest:x}")
