"""Programs that can be used by name: those that users saved, and the library that comes with the package.

Each version of a program is a file that people can read: `<folder>/<name>@<version>.yaml`. Versions count from 1 and
are never used again: a deleted one moves to `<folder>/deleted`, from where a person can take it back.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from robot_rt_control.definitions.definitions import ProgramDefinition
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.library import LIBRARY, library_programs
from robot_rt_control.text.document import read_text
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, unknown
from robot_rt_control.vocabulary.names import REFERENCE_PATTERN

_REFERENCE = re.compile(REFERENCE_PATTERN)
_FILE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)@([1-9][0-9]{0,8})\.yaml")


def default_folder() -> Path:
    """Where programs are kept unless somebody says otherwise: `robot_rt_control/programs` in XDG's data home."""
    home = os.environ.get("XDG_DATA_HOME", "")
    base = Path(home) if home.startswith("/") else Path.home() / ".local" / "share"
    return base / "robot_rt_control" / "programs"


@dataclass(frozen=True, kw_only=True)
class StoredProgram:
    """One version of a program that has a name.

    Args:
        versions: all that are kept.
        library: comes with the package.
        template: None: the file is not a program (any more).
        problem: why not.
        saved_ns: when the file was written, since the epoch; 0: unknown.
    """

    name: str
    version: int
    versions: tuple[int, ...]
    library: bool
    text: str = field(repr=False)
    template: ProgramTemplate | None
    problem: str = ""
    saved_ns: int = 0

    @property
    def tags(self) -> tuple[str, ...]:
        """Words by which users find it."""
        return self.template.tags if self.template is not None else ()

    @property
    def described(self) -> str:
        """What a search looks at."""
        description = self.template.description if self.template is not None else self.problem
        return " ".join((self.name, description, *self.tags)).casefold()


class ProgramStore:
    """Keeps programs. All methods may be called from any thread, and several stores may share a folder.

    Args:
        folder: is made when the first program is saved; None: there is the library only.
        library: the programs that come with the package.
    """

    def __init__(self, folder: Path | None = None, *, library: Path = LIBRARY) -> None:
        self.folder = folder
        self._library = library
        self._lock = threading.Lock()

    # --- looking --------------------------------------------------------------------------------

    def template(self, program: str) -> ProgramTemplate:
        """A program by its name, by name and version ("trace_edge@2"), or from its YAML text.

        Raises:
            DefinitionError: there is none of this name; or the text is no program, with the line.
        """
        if not _REFERENCE.fullmatch(program.strip()):
            return ProgramTemplate(program, find=self.template)
        name, version, path = self._find(program.strip())
        return ProgramTemplate.load(path, find=self.template)

    def get(self, reference: str) -> StoredProgram:
        """A kept program, by name or by name and version.

        Raises:
            DefinitionError: there is none.
        """
        name, version, path = self._find(reference.strip())
        try:
            text, saved_ns = read_text(path, MAX_PROGRAM_BYTES), path.stat().st_mtime_ns
        except (OSError, RobotControlError) as error:
            text, saved_ns = "", 0
            template, problem = None, str(error)
        else:
            template, problem = self._template_or_problem(text, path)
        return StoredProgram(
            name=name,
            version=version,
            versions=tuple(sorted(self._versions(self.folder).get(name, {1: path}))),
            library=path.parent == self._library,
            text=text,
            template=template,
            problem=problem,
            saved_ns=saved_ns,
        )

    def all(self, search: str = "", tags: Iterable[str] = ()) -> list[StoredProgram]:
        """The highest version of each program, by name.

        Args:
            search: only those that have all of these words, or parts of words, in name, description or tags.
            tags: only those with all of these tags.
        """
        words, wanted = search.casefold().split(), set(tags)
        programs = [self.get(name) for name in sorted({*self._in_library(), *self._versions(self.folder)})]
        return [p for p in programs if wanted <= set(p.tags) and all(word in p.described for word in words)]

    def _find(self, reference: str) -> tuple[str, int, Path]:
        match = _REFERENCE.fullmatch(reference)
        if match is None:
            raise DefinitionError(
                "name of a program", expected="a name such as trace_edge or trace_edge@2", got=repr(reference)
            )
        name, _, wanted = reference.partition("@")
        versions = self._versions(self.folder).get(name)
        if versions is None and name in self._in_library():
            versions = {1: self._in_library()[name]}
        if versions is None:
            known = {*self._in_library(), *self._versions(self.folder)}
            raise DefinitionError("unknown program", expected=unknown("program", name, known), got=repr(name))
        version = int(wanted) if wanted else max(versions)
        if version not in versions:
            shown = ", ".join(f"{name}@{v}" for v in sorted(versions))
            raise DefinitionError(f"program {name!r} has no version {version}", expected=f"one of: {shown}")
        return name, version, versions[version]

    def _template_or_problem(self, text: str, path: Path) -> tuple[ProgramTemplate | None, str]:
        try:
            return ProgramTemplate(text, source=path.name, find=self.template), ""
        except RobotControlError as error:
            return None, str(error)

    def _in_library(self) -> dict[str, Path]:
        return library_programs(self._library)

    @staticmethod
    def _versions(folder: Path | None) -> dict[str, dict[int, Path]]:
        """Name → version → file."""
        found: dict[str, dict[int, Path]] = {}
        if folder is not None and folder.is_dir():
            for path in folder.iterdir():
                if match := _FILE.fullmatch(path.name):
                    found.setdefault(match[1], {})[int(match[2])] = path
        return found

    # --- changing -------------------------------------------------------------------------------

    def save(self, text: str) -> int:
        """Keep a program as the next version of its name. Returns the version.

        Args:
            text: checked by the caller.

        Raises:
            DefinitionError: it has no name, or that of a program of the library; or it is no program.
            RobotControlError: the file cannot be written; nothing has changed.
        """
        name = self.name_to_save(text)
        folder = self._writable()
        with self._lock:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                taken = {*self._versions(folder).get(name, {}), *self._versions(folder / "deleted").get(name, {})}
                return _write_next(folder, name, text, max(taken, default=0) + 1)
            except OSError as error:
                raise RobotControlError(
                    f"program {name!r} cannot be saved", expected=f"a folder to write to: {folder}", got=str(error)
                ) from None

    def name_to_save(self, text: str) -> str:
        """The name under which a program would be kept.

        Raises:
            DefinitionError: as `save`.
        """
        name = ProgramTemplate(text).name
        if not name:
            raise DefinitionError("the program has no name", expected="name: … at its top", got="none")
        if name in self._in_library():
            raise DefinitionError(
                f"program {name!r} comes with the package and cannot be changed",
                expected="another name",
                got=repr(name),
                hint="Save your own under another name",
            )
        return name

    def delete(self, reference: str) -> list[int]:
        """Delete one version ("trace_edge@2"), or all of a name. Returns the versions.

        Raises:
            DefinitionError: there is none, or it comes with the package.
            RobotControlError: a file cannot be moved.
        """
        folder = self._writable()
        with self._lock:
            name, version, path = self._find(reference.strip())
            if path.parent == self._library:
                raise DefinitionError(
                    f"program {name!r} comes with the package and cannot be deleted",
                    expected="a program that somebody saved",
                )
            versions = self._versions(folder)[name]
            chosen = {version: path} if "@" in reference else versions
            try:
                (folder / "deleted").mkdir(exist_ok=True)
                for file in chosen.values():
                    file.replace(folder / "deleted" / file.name)
                _sync(folder)
            except OSError as error:
                raise RobotControlError(
                    f"program {name!r} cannot be deleted", expected=f"a folder to write to: {folder}", got=str(error)
                ) from None
            return sorted(chosen)

    def _writable(self) -> Path:
        if self.folder is None:
            raise RobotControlError(
                "this control server keeps no programs", hint="Start it with its parameter `programs`, a folder"
            )
        return self.folder


def events_of(program: ProgramDefinition) -> list[str]:
    """Names of the events that a program emits, in its order."""
    reactions = [*(r for a in program.actions for r in a.reactions), *program.reactions]
    return list(dict.fromkeys(r.event for r in reactions if r.event))


def _write_next(folder: Path, name: str, text: str, version: int) -> int:
    """Write a file under the next free version: completely or not at all, also beside other writers."""
    temporary = folder / f".{name}.{os.getpid()}.{threading.get_ident()}.tmp"
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text if text.endswith("\n") else text + "\n")
            file.flush()
            os.fsync(file.fileno())
        while True:
            try:
                os.link(temporary, folder / f"{name}@{version}.yaml")  # unlike a rename, it never replaces
                break
            except FileExistsError:
                version += 1
    finally:
        temporary.unlink(missing_ok=True)
    _sync(folder)
    return version


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
