"""Texts that are kept by name and version: programs, and skills.

Each version is a file that people can read: `<folder>/<name>@<version>.yaml`. Versions count from 1 and are never used
again: a deleted one moves to the bin, `<folder>/deleted`, from where it can be restored.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from robot_rt_control.program.library import library_programs
from robot_rt_control.text.document import read_text
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError, Overtaken, RobotControlError, unknown
from robot_rt_control.vocabulary.names import REFERENCE_PATTERN
from robot_rt_control.vocabulary.private_files import make_private, private

_REFERENCE = re.compile(REFERENCE_PATTERN)
_FILE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)@([1-9][0-9]{0,8})\.yaml")
_BIN = "deleted"
BIN_S = 30 * 24 * 3600.0
"""[s] for which a deleted version stays in the bin, by the time of its file."""
BIN_VERSIONS = 1000
"""Versions in the bin; more: the oldest go first."""


class Template(Protocol):
    """What a store knows of a text."""

    name: str
    source: str
    description: str
    tags: tuple[str, ...]


_T = TypeVar("_T", bound=Template)


@dataclass(frozen=True, kw_only=True)
class StoredText(Generic[_T]):
    """One version of a text that has a name.

    Args:
        versions: all that are kept.
        library: comes with the package.
        template: None: the file cannot be read (any more).
        problem: why not.
        saved_ns: when the file was written, since the epoch; 0: unknown.
    """

    name: str
    version: int
    versions: tuple[int, ...]
    library: bool
    text: str = field(repr=False)
    template: _T | None
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


class TextStore(Generic[_T]):
    """Keeps texts. All methods may be called from any thread, and several stores may share a folder.

    Args:
        folder: is made when the first text is saved; None: there is the library only.
        library: folder of those that come with the package; None: there are none.
        kind: what a text is, for messages: "program".
        owner: what has no folder then, for messages: "control server".
        read: makes a template of a text and its source's name. Raises DefinitionError.
    """

    def __init__(
        self, folder: Path | None, *, library: Path | None, kind: str, owner: str, read: Callable[[str, str], _T]
    ) -> None:
        self.folder = folder
        self._library, self._kind, self._owner, self._read = library, kind, owner, read
        self._lock = threading.Lock()
        self._known: dict[Path, tuple[str, _T | None, str]] = {}
        """File → text, template and problem, as it was read last: reading takes milliseconds."""

    # --- looking --------------------------------------------------------------------------------

    def template(self, reference: str) -> _T:
        """A text by its name, by name and version ("trace_edge@2"), or from the YAML text itself.

        Raises:
            DefinitionError: there is none of this name; or it cannot be read, with the line.
        """
        if not _REFERENCE.fullmatch(reference.strip()):
            return self._read(reference, self._kind)
        path = self._find(reference.strip())[2]
        return self._read(read_text(path, MAX_PROGRAM_BYTES), path.name)

    def get(self, reference: str) -> StoredText[_T]:
        """A kept text, by name or by name and version.

        Raises:
            DefinitionError: there is none.
        """
        name, version, path = self._find(reference.strip())
        template: _T | None = None
        try:
            text, saved_ns = read_text(path, MAX_PROGRAM_BYTES), path.stat().st_mtime_ns
        except (OSError, RobotControlError) as error:
            text, saved_ns, problem = "", 0, str(error)
        else:
            template, problem = self._template_or_problem(text, path)
        return StoredText(
            name=name,
            version=version,
            versions=tuple(sorted(self._versions(self.folder).get(name, {1: path}))),
            library=path.parent == self._library,
            text=text,
            template=template,
            problem=problem,
            saved_ns=saved_ns,
        )

    def all(self, search: str = "", tags: Iterable[str] = ()) -> list[StoredText[_T]]:
        """The highest version of each text, by name.

        Args:
            search: only those that have all of these words, or parts of words, in name, description or tags.
            tags: only those with all of these tags.
        """
        words, wanted = search.casefold().split(), set(tags)
        found = [self.get(name) for name in self.names()]
        return [p for p in found if wanted <= set(p.tags) and all(word in p.described for word in words)]

    def names(self) -> list[str]:
        """Names of all texts, without versions."""
        return sorted(self.kept())

    def kept(self) -> dict[str, tuple[int, ...]]:
        """Name → versions, of all texts; nothing is read."""
        kept = {name: tuple(sorted(files)) for name, files in self._versions(self.folder).items()}
        return {**{name: (1,) for name in self._in_library()}, **kept}

    def _find(self, reference: str) -> tuple[str, int, Path]:
        match = _REFERENCE.fullmatch(reference)
        if match is None:
            raise DefinitionError(
                f"name of a {self._kind}", expected="a name such as trace_edge or trace_edge@2", got=repr(reference)
            )
        name, _, wanted = reference.partition("@")
        versions = self._versions(self.folder).get(name)
        if versions is None and name in self._in_library():
            versions = {1: self._in_library()[name]}
        if versions is None:
            known = unknown(self._kind, name, self.names())
            raise DefinitionError(f"unknown {self._kind}", expected=known, got=repr(name))
        version = int(wanted) if wanted else max(versions)
        if version not in versions:
            shown = ", ".join(f"{name}@{v}" for v in sorted(versions))
            raise DefinitionError(f"{self._kind} {name!r} has no version {version}", expected=f"one of: {shown}")
        return name, version, versions[version]

    def _template_or_problem(self, text: str, path: Path) -> tuple[_T | None, str]:
        known = self._known.get(path)
        if known is not None and known[0] == text:
            return known[1], known[2]
        try:
            template, problem = self._read(text, path.name), ""
        except RobotControlError as error:
            template, problem = None, str(error)
        if "use:" not in text:  # others that it uses may change
            self._known[path] = text, template, problem
        return template, problem

    def _in_library(self) -> dict[str, Path]:
        return library_programs(self._library) if self._library is not None else {}

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

    def save(self, text: str, *, based_on: int | None = None) -> int:
        """Keep a text as the next version of its name. Returns the version.

        Args:
            text: checked by the caller.
            based_on: the version that the text was made from, 0 for a new name; None: whatever there is.

        Raises:
            DefinitionError: it has no name, or that of one of the library; or it cannot be read.
            Overtaken: another version has come since `based_on`; nothing has changed.
            RobotControlError: the file cannot be written; nothing has changed.
        """
        name = self.name_to_save(text)
        folder = self._writable()
        with self._lock:
            try:
                make_private(folder)
                kept = self._versions(folder).get(name, {})
                if based_on is not None and max(kept, default=0) != based_on:
                    raise self._overtaken(name, based_on)
                taken = max([*kept, *self._versions(folder / _BIN).get(name, {}), _gone(folder, name)])
                version = _write_next(folder, name, text, taken + 1, only=based_on is not None)
            except OSError as error:
                raise RobotControlError(
                    f"{self._kind} {name!r} cannot be saved", expected=f"a folder to write to: {folder}", got=str(error)
                ) from None
        if version is None:
            assert based_on is not None  # else it takes the next free one
            raise self._overtaken(name, based_on)
        return version

    def _overtaken(self, name: str, based_on: int) -> Overtaken:
        kept = self._versions(self.folder).get(name, {})
        version = max(kept, default=0)
        text = self.get(f"{name}@{version}").text if version else ""
        return Overtaken(
            f"{self._kind} {name!r} was saved by somebody else meanwhile",
            version=version,
            text=text,
            expected=f"a text made from version {version}" if version else "a new text: all versions were deleted",
            got=f"one made from version {based_on}" if based_on else "a new one",
        )

    def name_to_save(self, text: str) -> str:
        """The name under which a text would be kept.

        Raises:
            DefinitionError: as `save`.
        """
        name = self._read(text, self._kind).name
        if not name:
            raise DefinitionError(f"the {self._kind} has no name", expected="name: … at its top", got="none")
        if name in self._in_library():
            raise DefinitionError(
                f"{self._kind} {name!r} comes with the package and cannot be changed",
                expected="another name",
                got=repr(name),
                hint="Save your own under another name",
            )
        return name

    def delete(self, reference: str) -> list[int]:
        """Move one version ("trace_edge@2"), or all of a name, to the bin. Returns the versions.

        Raises:
            DefinitionError: there is none, or it comes with the package.
            RobotControlError: a file cannot be moved.
        """
        folder = self._writable()
        with self._lock:
            name, version, path = self._find(reference.strip())
            if path.parent == self._library:
                raise DefinitionError(
                    f"{self._kind} {name!r} comes with the package and cannot be deleted",
                    expected=f"a {self._kind} that somebody saved",
                )
            versions = self._versions(folder)[name]
            chosen = {version: path} if "@" in reference else versions
            try:
                make_private(folder / _BIN)
                for file in chosen.values():
                    os.utime(file)  # the time from which it is kept in the bin
                    file.replace(folder / _BIN / file.name)
                _sync(folder)
            except OSError as error:
                raise RobotControlError(
                    f"{self._kind} {name!r} cannot be deleted",
                    expected=f"a folder to write to: {folder}",
                    got=str(error),
                ) from None
            return sorted(chosen)

    # --- the bin --------------------------------------------------------------------------------

    def deleted(self, reference: str = "") -> list[StoredText[_T]]:
        """The texts in the bin, each with its highest version there, or the one that is named; none: it is not there.

        `saved_ns` is when it was deleted."""
        if self.folder is None:
            return []
        name, _, wanted = reference.strip().partition("@")
        found = []
        for known, files in sorted(self._versions(self.folder / _BIN).items()):
            version = int(wanted) if wanted.isdecimal() else max(files)
            if name not in ("", known) or version not in files:
                continue
            try:
                text, deleted_ns = read_text(files[version], MAX_PROGRAM_BYTES), files[version].stat().st_mtime_ns
            except (OSError, RobotControlError):  # restored or deleted since
                continue
            template, problem = self._template_or_problem(text, files[version])
            found.append(
                StoredText(name=known, version=version, versions=tuple(sorted(files)), library=False, text=text,
                           template=template, problem=problem, saved_ns=deleted_ns)
            )  # fmt: skip
        return found

    def restore(self, reference: str) -> list[int]:
        """Bring one version ("trace_edge@2"), or all of a name, back from the bin. Returns the versions.

        Raises:
            DefinitionError: there is none in the bin, or the name is one of the library now.
            RobotControlError: a file cannot be moved.
        """
        folder = self._writable()
        with self._lock:
            name, _, wanted = reference.strip().partition("@")
            bin = self._versions(folder / _BIN)
            files = bin.get(name, {})
            chosen = {v: path for v, path in files.items() if wanted in ("", str(v))}
            if not chosen:
                raise DefinitionError(
                    f"the bin has no {self._kind} {reference.strip()!r}",
                    expected=unknown(self._kind, name, bin) if not files else f"one of versions {sorted(files)}",
                    hint=f"A deleted {self._kind} stays there for {BIN_S / 86400:.0f} days",
                )
            if name in self._in_library():
                raise DefinitionError(f"the name {name!r} belongs to a {self._kind} that comes with the package")
            try:
                for path in chosen.values():
                    os.link(path, folder / path.name)  # unlike a rename, it never replaces
                    path.unlink()
                _sync(folder)
            except OSError as error:
                raise RobotControlError(
                    f"{self._kind} {name!r} cannot be restored",
                    expected=f"a folder to write to: {folder}",
                    got=str(error),
                ) from None
            return sorted(chosen)

    def clean_bin(self) -> int:
        """Delete for good what has been in the bin for longer than BIN_S, and the oldest beyond BIN_VERSIONS.

        Numbers of versions are not used again even then. What cannot be deleted stays. Returns how many are gone."""
        if self.folder is None:
            return 0
        with self._lock:
            found = []
            for name, files in self._versions(self.folder / _BIN).items():
                for version, path in files.items():
                    with suppress(OSError):
                        found.append((path.stat().st_mtime, name, version, path))
            found.sort(reverse=True)
            old = [file for n, file in enumerate(found) if n >= BIN_VERSIONS or time.time() - file[0] > BIN_S]
            removed = 0
            for _, name, version, path in old:
                with suppress(OSError):
                    before = _gone(self.folder, name)
                    if version > before:
                        (self.folder / _BIN / f"{name}@{version}.gone").touch()
                        (self.folder / _BIN / f"{name}@{before}.gone").unlink(missing_ok=True)
                    path.unlink()
                    removed += 1
            return removed

    def _writable(self) -> Path:
        if self.folder is None:
            raise RobotControlError(
                f"this {self._owner} keeps no {self._kind}s",
                hint=f"Start it with its parameter `{self._kind}s`, a folder",
            )
        return self.folder


def _gone(folder: Path, name: str) -> int:
    """The highest version of a name that was deleted for good; an empty file in the bin says so. 0: none."""
    files = (folder / _BIN).glob(f"{name}@*.gone")
    return max((int(file.stem.rpartition("@")[2]) for file in files), default=0)


def reference_of(template: Template) -> str:
    """The name of a text, with its version if a store has read it from its file: "trace_edge@2"."""
    kept = _FILE.fullmatch(template.source)
    return f"{kept[1]}@{kept[2]}" if kept is not None else template.name


def data_folder(kind: str) -> Path:
    """Where texts are kept unless somebody says otherwise: `robot_rt_control/<kind>` in XDG's data home."""
    home = os.environ.get("XDG_DATA_HOME", "")
    base = Path(home) if home.startswith("/") else Path.home() / ".local" / "share"
    return base / "robot_rt_control" / kind


def _write_next(folder: Path, name: str, text: str, version: int, *, only: bool) -> int | None:
    """Write a file under the next free version: completely or not at all, also beside other writers.

    Args:
        only: this version or none.

    Returns:
        The version; None: somebody else has written it.
    """
    temporary = folder / f".{name}.{os.getpid()}.{threading.get_ident()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8", opener=private) as file:
            file.write(text if text.endswith("\n") else text + "\n")
            file.flush()
            os.fsync(file.fileno())
        while True:
            try:
                os.link(temporary, folder / f"{name}@{version}.yaml")  # unlike a rename, it never replaces
                break
            except FileExistsError:
                if only:
                    return None
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
