"""What runs have installed in a session that they share: each program once for its values, under its prefix.

A session remembers what is under each prefix until it ends. The same plan again starts what is there; another one
takes its place. What nobody has used for longest is removed when there is no more room.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.runs.plan import RunPlan
from robot_rt_control.server.sessions import Session
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, SessionError, unknown

MAX_INSTALLED = 32
"""Programs that a session remembers: each change of definitions takes longer with more of them."""
PREFIXED = "__*"
"""After a prefix: everything that a run has installed under it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Installed:
    """A plan in a session.

    Args:
        prefix: of its ids. That of the plan, with a number if there were such ids before: none is used twice (P6).
        program: under that prefix.
        is_there: it was installed before; else the old one that it replaces, if there was one.
    """

    plan: RunPlan
    prefix: str
    program: ProgramDefinition
    is_there: bool = False
    old: Installed | None = None

    @property
    def ids(self) -> set[str]:
        """Ids of its actions."""
        return {action.id for action in self.program.actions}

    def there(self, server: ControlServer, session: Session) -> list[str]:
        """Those that the session has."""
        return sorted(self.ids & set(server.contents(session).actions))


def enter(server: ControlServer, session: Session, plan: RunPlan) -> Installed:
    """Hold the plan's prefix, until `leave`, and say what is to be installed; `install` does it.

    Raises:
        DefinitionError: it has free-standing reactions, which would stay; or an id becomes too long.
        SessionError: another run of this prefix is under way.
    """
    with session.installing:
        if plan.prefix in session.running:
            raise SessionError(
                f"a run with the prefix {plan.prefix!r} is under way in {session.label}",
                expected="its end, or another prefix",
            )
        known: Installed | None = session.installed.get(plan.prefix)
        if known is not None and len(known.there(server, session)) == len(known.ids):
            if known.plan.program == plan.program:
                found = Installed(plan=plan, prefix=known.prefix, program=known.program, is_there=True)
            elif known.ids == {action.id for action in plan.under(known.prefix).actions}:
                found = Installed(plan=plan, prefix=known.prefix, program=plan.under(known.prefix))
            else:
                found = _fresh(server, session, plan, known)
        else:
            found = _fresh(server, session, plan, known)
        session.running.add(plan.prefix)
        return found


def _fresh(server: ControlServer, session: Session, plan: RunPlan, old: Installed | None) -> Installed:
    used, count = server.contents(session).used_ids, 1
    while True:
        prefix = plan.prefix if count == 1 else f"{plan.prefix}_{count}"
        found = Installed(plan=plan, prefix=prefix, program=plan.under(prefix), old=old)
        if not found.ids & used:
            return found
        count += 1


def install(server: ControlServer, session: Session, wanted: Installed, start: tuple[str, ...]) -> int:
    """Install what `enter` says, and start actions, in one tick. Returns that tick; gated: the next one.

    Raises:
        DefinitionError: it does not fit the session.
        CommandRefused: what is to start cannot; nothing was installed.
        SessionError: the session has ended.
    """
    with session.installing:
        tick = 0
        if wanted.is_there:
            tick = server.start(session.id, start) if start else 0
        else:
            _make_room(server, session, MAX_INSTALLED - 1)
            while True:
                try:
                    tick = server.replace(session.id, wanted.program.actions, start)
                    break
                except CapacityError:
                    if not _make_room(server, session, len(session.installed) - 1):
                        raise
            if wanted.old is not None:
                _take_out(server, session, [wanted.old])
        session.installed.pop(wanted.plan.prefix, None)
        session.installed[wanted.plan.prefix] = wanted  # the last one used
        return tick


def leave(session: Session, plan: RunPlan) -> None:
    """Let go of a prefix: another run may use it, or room be made of it."""
    session.running.discard(plan.prefix)


def _make_room(server: ControlServer, session: Session, at_most: int) -> bool:
    """Remove what is idle, the oldest first, until at most so many plans are left. Whether there was anything."""
    too_many = max(len(session.installed) - max(at_most, 0), 0)
    chosen = [
        installed
        for prefix, installed in session.installed.items()
        if prefix not in session.running and _is_idle(server, session, installed)
    ][:too_many]
    for installed in chosen:
        del session.installed[installed.plan.prefix]
    _take_out(server, session, chosen)
    return bool(chosen)


def _take_out(server: ControlServer, session: Session, gone: Iterable[Installed]) -> None:
    there = [id for installed in gone for id in installed.there(server, session)]
    if there:
        server.remove(session.id, there)


def _is_idle(server: ControlServer, session: Session, installed: Installed) -> bool:
    """Whether none of its actions is active, such as a grasp that goes on."""
    view, actions = server.snapshot(), server.contents(session).actions
    return view is None or all(
        view.active_since(actions[id].entry.identity) is None for id in installed.there(server, session)
    )


def remove(server: ControlServer, session: Session, names: Iterable[str]) -> list[str]:
    """Forget what runs have installed, where a name says so: "n1__*". Returns the ids that the names stand for.

    Raises:
        DefinitionError: nothing was installed under a prefix.
        SessionError: a run is under way there.
    """
    names, found = list(names), dict[str, None]()
    if not any(name.endswith(PREFIXED) for name in names):
        return names
    with session.installing:
        for name in names:
            if not name.endswith(PREFIXED):
                found[name] = None
                continue
            prefix = name.removesuffix(PREFIXED)
            if prefix not in session.installed:
                known = unknown("prefix", prefix, session.installed)
                raise DefinitionError(f"no run has installed anything under {prefix!r}", expected=known)
            if prefix in session.running:
                raise SessionError(f"a run with the prefix {prefix!r} is under way", expected="its end")
            found.update(dict.fromkeys(session.installed.pop(prefix).there(server, session)))
    return list(found)
