"""What a run is to do, from what somebody asked for."""

from __future__ import annotations

from dataclasses import dataclass

from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.program.filled_program import FilledProgram
from robot_rt_control.program.flatten import prefixed
from robot_rt_control.vocabulary.errors import DefinitionError


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """What a run does."""

    name: str
    program: ProgramDefinition
    parts: tuple[str, ...]
    end_event: str
    """Ends the run; empty: it ends when everything that is active is done."""
    timeout: float
    """[s] of the loop's time; 0: none."""
    detached: float = 0.0
    """[s] for which it may go on without the control server; 0: it ends with it."""
    filled: FilledProgram | None = None
    """Where the program comes from a text."""
    prefix: str = ""
    """Before all its ids, for a run in a session that others use as well."""
    asked: object = None
    """What `filled` was made from, if that says all of it: a text, not a name whose program may change."""

    def under(self, prefix: str) -> ProgramDefinition:
        """The program with a prefix before its ids; empty: as it is.

        Raises:
            DefinitionError: it has free-standing reactions, which would stay in the session; or an id becomes too long.
        """
        if self.program.reactions:
            raise DefinitionError(
                "a program with free-standing reactions runs in a session of its own",
                expected="reactions of its actions only",
                got=str(len(self.program.reactions)),
                hint="Give them to an action that is active all the time, like `watch` in the programs of the library",
            )
        return prefixed(self.program, prefix) if prefix else self.program
