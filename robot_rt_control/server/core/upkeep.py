"""What the tables need beside what sessions define: the system's own actions, and room where sessions have ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.core.connection import Connection
from robot_rt_control.server.preparer.part_view import PartView
from robot_rt_control.server.tables.definer import system_actions
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.validation.definitions import check_definitions


class Upkeep:
    """Both methods are called under the server's lock for changes.

    Args:
        catalogue: gives what definitions are checked against.
    """

    def __init__(
        self,
        connection: Connection,
        workcell: Workcell,
        parts: Mapping[str, PartView],
        catalogue: Callable[[], Catalogue],
    ) -> None:
        self._connection, self._workcell, self._parts, self._catalogue = connection, workcell, parts, catalogue
        self._pending = False

    def begin(self, *, first: bool) -> None:
        """The server has attached: install default and safety actions, now or by `tidy`.

        Args:
            first: there was no server before this one.
        """
        at = self._connection.at()
        if not first:
            # Tables of an earlier server may be active, with parameters in any place.
            at.definer.install_nothing(at.system_identity)
        self._pending = True
        if first or not at.link.gated:
            self._install_system()

    def tidy(self) -> None:
        """What waits for a good moment: the system's actions after an earlier server, sessions that ended."""
        at = self._connection.at()
        if self._pending and at.store.all_taken:
            self._install_system()
        if not at.link.gated:  # there the next change does it: tables change at known steps only
            at.definer.tidy()

    def _install_system(self) -> None:
        at = self._connection.at()
        wanted = system_actions(self._workcell.parts)
        check_definitions(ProgramDefinition(actions=tuple(wanted)), self._catalogue())
        at.definer.install_system(at.system_identity, self._parts, wanted)
        self._pending = False
