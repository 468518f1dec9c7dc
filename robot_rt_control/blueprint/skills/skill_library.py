"""All skills of a workcell: those that users keep, the programs of its control server, and its action types."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from robot_rt_control.blueprint.skills.store import SkillStore
from robot_rt_control.blueprint.text.calls import Calls, Expanded
from robot_rt_control.blueprint.text.catalogue import Interfaces, Skill, SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.node_kinds import branches_in
from robot_rt_control.blueprint.text.schema import CallKeys
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.client.backend import Backend
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.text.document import Document
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, RobotControlError, unknown

_T = TypeVar("_T")
_R = TypeVar("_R")

ACTION_TYPE, PROGRAM, LIBRARY, STORE, CAPABILITY = "action_type", "program", "library", "store", "capability"
"""Where a skill comes from."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A skill as it is listed.

    Args:
        skill: None: its text cannot be read.
        problem: what is wrong with it; empty: nothing.
        calls: the skills that it calls itself.
        moves: parts and roles that it moves, through all that it calls.
        saved_ns: since the epoch; 0: unknown.
    """

    name: str
    origin: str
    skill: Skill | None
    version: int = 0
    versions: tuple[int, ...] = ()
    problem: str = ""
    calls: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()
    saved_ns: int = 0
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Saved:
    """What became of a text that was to be saved.

    Args:
        mistakes: of a draft that is kept although it has them, each with its node.
    """

    name: str
    version: int
    warnings: tuple[str, ...] = ()
    mistakes: tuple[tuple[DefinitionError, str], ...] = ()


class Pinned(Mapping[str, _T], Generic[_T]):
    """Texts by name, and by name and version; read when asked for. The version of a name does not change any more.

    Args:
        newest: name → version.
        load: reads one version; None: it cannot be read.
    """

    def __init__(self, newest: Mapping[str, int], load: Callable[[str, int], _T | None]) -> None:
        self.newest, self._load = newest, load

    def __getitem__(self, reference: str) -> _T:
        name, _, wanted = reference.partition("@")
        version = int(wanted) if wanted.isdigit() else self.newest.get(name, 0)
        template = self._load(name, version) if version and name in self.newest else None
        if template is None:
            raise KeyError(reference)
        return template

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.newest if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass
class _Looked:
    """What belongs to one snapshot.

    Args:
        programs: what the control server says of them.
        problems: of skills that were checked.
    """

    programs: Mapping[str, Any]
    problems: dict[str, str] = field(default_factory=dict)


def _alone(method: Callable[..., _R]) -> Callable[..., _R]:
    """One caller at a time: they look at all skills, or change them."""

    @wraps(method)
    def call(self: SkillLibrary, *given: Any, **named: Any) -> _R:
        with self.lock:
            return method(self, *given, **named)

    return call


class SkillLibrary:
    """All methods may be called from any thread.

    Args:
        store: of users' skills.
        workcell: action types, parts and state variables.
        backend: whose control server keeps the programs.
        made: skills made of Python functions, by name.
        interfaces: for the check of skills made of ROS.

    Attributes:
        changes: counts what has changed since the start, as far as it was seen.
        lock: held while anybody lists all skills, or changes them; not while snapshots are taken, so that a run starts
            while others are listed.
    """

    def __init__(
        self,
        store: SkillStore,
        workcell: Catalogue,
        backend: Backend,
        *,
        made: Mapping[str, SkillTemplate] | None = None,
        interfaces: Interfaces | None = None,
    ) -> None:
        self.store, self._workcell, self._backend = store, workcell, backend
        self._made, self._interfaces = made or {}, interfaces
        self.changes = 0
        self.lock = threading.RLock()
        self._skills: dict[tuple[str, int], SkillTemplate | None] = {}
        self._programs: dict[tuple[str, int], ProgramTemplate | None] = {}
        self._refreshing = threading.Lock()
        self._seen: tuple[Mapping[str, int], Mapping[str, int]] | None = None
        """Name → version of programs and skills at the last look."""
        self._snapshot: SkillCatalogue | None = None
        self._looked: WeakKeyDictionary[SkillCatalogue, _Looked] = WeakKeyDictionary()

    def snapshot(self) -> SkillCatalogue:
        """All skills of this moment, pinned to their versions (P14).

        Raises:
            NoAnswer: the control server does not tell its programs.
        """
        with self._refreshing:
            return self._refreshed()

    def _refreshed(self) -> SkillCatalogue:
        infos = {info.name: info for info in self._backend.list_programs("", search="", tags=(), with_text=False)}
        skills = {name: max(versions) for name, versions in self.store.kept().items()}
        seen = {name: info.version for name, info in infos.items()}, skills
        if self._snapshot is None or seen != self._seen:
            old, before = self._seen, self._snapshot
            self.changes += old is not None
            self._seen = seen
            pinned = Pinned(skills, self._load_skill)
            if before is not None and old is not None and old[0] == seen[0]:
                self._snapshot = before.with_skills(pinned)
            else:
                programs = Pinned(seen[0], self._pinned_loader(seen[0]))
                self._snapshot = SkillCatalogue(
                    self._workcell, programs, pinned, made=self._made, interfaces=self._interfaces
                )
                if before is not None and old is not None:
                    same = {name for name, version in seen[0].items() if old[0].get(name) == version}
                    self._snapshot.keep_programs(before, same)
            self._looked[self._snapshot] = _Looked(infos)
        return self._snapshot

    def _load_skill(self, name: str, version: int) -> SkillTemplate | None:
        key = name, version
        if key not in self._skills:
            try:
                self._skills[key] = self.store.template(f"{name}@{version}")
            except RobotControlError:
                self._skills[key] = None
        return self._skills[key]

    def _load_program(self, name: str, version: int) -> ProgramTemplate | None:
        key = name, version
        if key not in self._programs:
            try:
                self._programs[key] = self._program(f"{name}@{version}")
            except RobotControlError:
                self._programs[key] = None
        return self._programs[key]

    def _pinned_loader(self, newest: Mapping[str, int]) -> Callable[[str, int], ProgramTemplate | None]:
        """Loads programs; those that they use have the versions of `newest`, in their texts as well, which the control
        server reads when they run (N37)."""
        found: dict[tuple[str, int], ProgramTemplate | None] = {}

        def load(name: str, version: int) -> ProgramTemplate | None:
            key = name, version
            if key not in found:
                template = self._load_program(name, version)
                if template is not None and "use" in template.text:  # else it surely uses none
                    template = ProgramTemplate(pinned_text(template.text, newest), source=template.source, find=find)
                found[key] = template
            return found[key]

        def find(reference: str) -> ProgramTemplate:
            name, _, wanted = reference.partition("@")
            template = load(name, int(wanted) if wanted.isdigit() else newest.get(name, 0))
            if template is None:
                raise DefinitionError("unknown program", expected=unknown("program", name, newest), got=repr(reference))
            return template

        return load

    def _program(self, reference: str) -> ProgramTemplate:
        (info,) = self._backend.list_programs(reference, search="", tags=(), with_text=True)
        return ProgramTemplate(info.text, source=reference, find=self._program)

    def versions(self, catalogue: SkillCatalogue, names: Mapping[str, Any]) -> dict[str, int]:
        """The versions to which names of skills and programs are pinned; without those of action types."""
        found = {}
        for name in [*names, *_used(catalogue, names)]:
            for kept in (catalogue.skills, catalogue.programs):
                newest = getattr(kept, "newest", {})
                if "@" not in name and name in newest:
                    found[name] = newest[name]
                    break
        return found

    def read_ahead(self) -> None:
        """Read all skills, so that nobody who starts one has to. Programs that change later are read one by one."""
        with suppress(RobotControlError):
            catalogue = self.snapshot()
            for name in catalogue.names:
                catalogue.find(name)

    # --- looking --------------------------------------------------------------------------------

    @_alone
    def entries(self, name: str = "") -> list[Entry]:
        """All skills by name, or the one of this name, or name and version.

        Raises:
            DefinitionError: there is none.
        """
        catalogue, kept = self.snapshot(), self.store.kept()
        if name:
            return [self._entry(catalogue, kept, name)]
        return [self._entry(catalogue, kept, one) for one in sorted({*catalogue.names, *kept})]

    def _entry(self, catalogue: SkillCatalogue, kept: Mapping[str, tuple[int, ...]], reference: str) -> Entry:
        name = reference.partition("@")[0]
        if name in kept:
            return self._kept(catalogue, kept[name], reference)
        skill = catalogue.find(reference)
        if name in self._made:
            return self._code(catalogue, name, skill)
        if name not in catalogue.programs:
            return Entry(name=name, origin=ACTION_TYPE, skill=skill, moves=tuple(sorted(skill.moves)))
        info = self._looked[catalogue].programs[name]
        assert isinstance(skill.template, ProgramTemplate)
        try:
            calls = dict.fromkeys(action.type for action in skill.template.sample().draft.actions)
        except DefinitionError:
            calls = {}
        return Entry(
            name=name,
            origin=LIBRARY if info.origin == "library" else PROGRAM,
            skill=skill,
            version=int(reference.partition("@")[2] or info.version),
            versions=tuple(info.versions),
            problem=skill.problem,
            calls=tuple(calls),
            moves=tuple(sorted(skill.moves)),
            saved_ns=info.saved.sec * 10**9 + info.saved.nanosec,
            text=self._text(name, reference, info.version, skill.template),
        )

    def _text(self, name: str, reference: str, newest: int, pinned: ProgramTemplate) -> str:
        """The text of a program as it was saved: without the versions to which what it uses is pinned."""
        saved = self._load_program(name, int(reference.partition("@")[2] or newest))
        return pinned.text if saved is None else saved.text

    def _kept(self, catalogue: SkillCatalogue, versions: tuple[int, ...], reference: str) -> Entry:
        stored = self.store.get(reference)
        if stored.template is None:
            return Entry(
                name=stored.name,
                origin=LIBRARY if stored.library else STORE,
                skill=None,
                version=stored.version,
                versions=versions,
                problem=stored.problem,
                saved_ns=stored.saved_ns,
                text=stored.text,
            )
        moves: frozenset[str] = frozenset()
        problem = self._problem(catalogue, f"{stored.name}@{stored.version}", stored.template)
        if not problem:
            moves = Calls(catalogue).moved_parts(reference)
        return Entry(
            name=stored.name,
            origin=LIBRARY if stored.library else STORE,
            skill=catalogue.find(reference),
            version=stored.version,
            versions=versions,
            problem=problem,
            calls=tuple(called_by(stored.template)),
            moves=tuple(sorted(moves)),
            saved_ns=stored.saved_ns,
            text=stored.text,
        )

    def _code(self, catalogue: SkillCatalogue, name: str, skill: Skill) -> Entry:
        problem = self._problem(catalogue, name, self._made[name])
        moves = tuple(sorted(skill.moves))
        return Entry(name=name, origin=CAPABILITY, skill=skill, problem=problem, moves=moves)

    def _problem(self, catalogue: SkillCatalogue, reference: str, template: SkillTemplate) -> str:
        problems = self._looked[catalogue].problems
        if reference not in problems:
            try:
                check_skill(template, catalogue)
                problems[reference] = ""
            except DefinitionError as error:
                problems[reference] = str(error)
        return problems[reference]

    @_alone
    def expand(self, name: str) -> Expanded:
        """A skill with all that it calls. Raises DefinitionError: there is none of this name."""
        return Calls(self.snapshot()).expand(name)

    # --- changing -------------------------------------------------------------------------------

    @_alone
    def save(
        self, text: str, *, based_on: int | None = None, check_only: bool = False, draft: bool = False
    ) -> Saved:
        """Check a skill and keep it as the next version of its name, or only check it.

        Args:
            based_on: the version that it was made from; None: whatever there is.
            draft: keep it although it has mistakes.

        Raises:
            DefinitionError, ProgramError: all that is wrong; each has its `item`, the node that it is in.
            Overtaken: another version has come between.
        """
        template = SkillTemplate(text)
        warnings: list[str] = []
        mistakes: tuple[tuple[DefinitionError, str], ...] = ()
        try:
            warnings = check_skill(template, self.snapshot())
        except DefinitionError as error:
            mistakes = mistakes_of(error, template)
            if not draft:
                raise
        version = 0
        if not check_only:
            self._refuse_taken(template.name)
            version = self.store.save(text, based_on=based_on)
            self.snapshot()
        return Saved(name=template.name, version=version, warnings=tuple(warnings), mistakes=mistakes)

    def _refuse_taken(self, name: str) -> None:
        catalogue = self.snapshot()
        if name in catalogue.names and name not in catalogue.skills:
            made = "a Python function" if name in self._made else "an action type"
            kind = "a program" if name in catalogue.programs else made
            raise DefinitionError(f"the name {name!r} belongs to {kind}", expected="another name", got=repr(name))

    @_alone
    def delete(self, reference: str) -> list[int]:
        """Delete all versions of a skill, or one. Returns the versions.

        Raises:
            DefinitionError: there is none, it comes with the package, or others call it.
        """
        catalogue, name = self.snapshot(), reference.partition("@")[0]
        kept = self.store.kept()
        if name not in kept and name in catalogue.names:
            raise DefinitionError(f"{name!r} is no kept skill", expected=unknown("skill", name, kept))
        last = "@" not in reference or kept.get(name) == (int(reference.partition("@")[2] or 0),)
        wanted = {reference, name} if last else {reference}
        callers = [other for other, template in catalogue.skills.items() if wanted & set(called_by(template))]
        callers = [other for other in callers if other != name]
        if callers:
            shown = ", ".join(sorted(callers))
            raise DefinitionError(f"skill {reference!r} is called by others", expected="none", got=shown)
        deleted = self.store.delete(reference)
        self._forget(name)
        return deleted

    @_alone
    def restore(self, reference: str) -> list[int]:
        """Bring a deleted skill, or one version of it, back from the bin. Returns the versions.

        Raises:
            DefinitionError: it is not in the bin, or its name belongs to something else now.
        """
        name = reference.strip().partition("@")[0]
        self._refuse_taken(name)
        restored = self.store.restore(reference)
        self._forget(name)
        return restored

    def deleted(self, name: str = "") -> list[Entry]:
        """The skills in the bin; `saved_ns` is when each was deleted."""
        return [
            Entry(
                name=stored.name,
                origin=STORE,
                skill=None,
                version=stored.version,
                versions=stored.versions,
                problem=stored.problem,
                saved_ns=stored.saved_ns,
                text=stored.text,
            )
            for stored in self.store.deleted(name)
        ]

    def _forget(self, name: str) -> None:
        """What is kept under this name has changed."""
        self._skills = {key: template for key, template in self._skills.items() if key[0] != name}
        self.snapshot()


def pinned_text(text: str, newest: Mapping[str, int]) -> str:
    """A program's text with a version for each program that it uses without one.

    Args:
        newest: name of a program → version.
    """
    document = Document(text, "program", max_bytes=MAX_PROGRAM_BYTES)
    states = document.data.get("actions") if isinstance(document.data, dict) else None
    pinned: set[tuple[int, int, str]] = set()
    for id, state in states.items() if isinstance(states, dict) else ():
        name = state.get("use") if isinstance(state, dict) else None
        if isinstance(name, str) and name in newest:
            first, end = document.span("actions", id, "use")
            before, found, after = text[first:end].rpartition(name)
            with_version = f"{name}@{newest[name]}"
            # An alias, or a text with escapes, is not the name as it is written.
            pinned.add((first, end, f"{before}{with_version}{after}" if found else with_version))
    for first, end, with_version in sorted(pinned, reverse=True):
        text = f"{text[:first]}{with_version}{text[end:]}"
    return text


def _used(catalogue: SkillCatalogue, names: Iterable[str]) -> Iterator[str]:
    """The programs that programs of these names use, through all levels."""
    for name in names:
        template = catalogue.programs.get(name)
        if template is not None and "use" in template.text:  # else it surely uses none
            yield from (use.program.partition("@")[0] for use in template.sample().uses)


def called_by(template: SkillTemplate) -> list[str]:
    """The skills that a text names, each once."""
    found: dict[str, None] = {}
    waiting: list[CallKeys] = [*template.content.nodes.values()]
    if template.content.is_ is not None:
        waiting.append(template.content.is_)
    while waiting:
        call = waiting.pop(0)
        if call.skill:
            found[call.skill] = None
        waiting += [branch for _, branches in branches_in(call) for branch in branches.values()]
    return list(found)


def mistakes_of(error: DefinitionError, template: SkillTemplate | None) -> tuple[tuple[DefinitionError, str], ...]:
    """Each mistake with the node that it is in."""
    found = error.mistakes if isinstance(error, ProgramError) else (error,)
    return tuple((one, template.node_at(one.line) if template is not None and one.line else "") for one in found)
