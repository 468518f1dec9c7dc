"""Loading, replacing and unloading action types while the loop runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replace_fields
from pathlib import Path

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.code.uploads import shown, shown_errors, write_upload
from robot_rt_control.server.types.action_sources import ENTRY_POINTS, entry_points, resolve
from robot_rt_control.server.types.action_types import ActionTypes, RegisteredType
from robot_rt_control.server.types.type_building import BUILT_IN, build_types
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError

_log = logging.getLogger(__name__)


class TypeKeeper:
    """Changes the action types of a control server. The loop takes no part in that: tables name what they need.

    Args:
        types: is changed.
        workcell: whether it allows uploads, and which types its parts need.
        builder: builds in a process of its own; None: nothing can be loaded.
        changing: the server's lock for changes; held for moments only, never while something is built.
        used: gives the types that actions have, each with an action and session to name; called under the lock.
    """

    def __init__(
        self,
        types: ActionTypes,
        workcell: Workcell,
        builder: Builder | None,
        changing: threading.RLock,
        used: Callable[[], Mapping[RegisteredType, str]],
    ) -> None:
        self._types, self._workcell, self._builder = types, workcell, builder
        self._changing, self._used = changing, used
        self._loading = threading.Lock()

    def load(
        self,
        source: str | type[ActionType] = "",
        *,
        code: str = "",
        file: str = "",
        replace: bool = False,
        stranger: bool = False,
    ) -> tuple[str, ...]:
        """Load all action types of a source: all of them or none. May take long; nobody else waits meanwhile.

        Args:
            source: see action_sources.py; or a class.
            code: instead of a source, the text of a file.
            file: with `code`, the name of that file where it was written: errors name it.
            replace: whether types of the same name with other code are replaced.
            stranger: the caller is outside of this process: files must be below the folders that the workcell names,
                modules must be named by it or be those of entry points.

        Returns:
            The names of the types.

        Raises:
            CompileError: there is nothing to load, it is not real-time safe, or it is too slow; nothing has changed.
            DefinitionError: a declaration is not valid, a name is taken, or the file or upload is not allowed; same.
        """
        if code:
            if source:
                raise DefinitionError("loading action types", expected="either `source` or `code`", got="both")
            source = self._written(code, file)
        elif isinstance(source, str) and source.partition(":")[0].endswith(".py") and not Path(source).is_absolute():
            raise CompileError(
                f"source of action types {source!r}",
                expected="an absolute path on the control server's machine",
                got="a relative one",
                hint="The server does not know from which folder you ask",
            )
        if stranger and not code and isinstance(source, str):
            source = self._allowed(source)
        if self._builder is None:
            raise CompileError("this control server has no builder", hint="Give it one: ControlServer(…, builder=…)")
        with self._loading, shown_errors():  # one after the other, so that of two requests the later one wins
            built = build_types([source], self._builder, _log.info, self._workcell.trusted_native_code)
            loaded = [replace_fields(one, origin=shown(one.origin)) for one in built]
            with self._changing:
                types = self._types.add(loaded, replace=replace, used=self._used())
        return tuple(t.name for t in types)

    def _allowed(self, source: str) -> str:
        """The source with its file's real path.

        Raises:
            DefinitionError: it is a file outside of the workcell's folders, or a module that the server's owner has
                neither named nor installed as an entry point.
        """
        found = resolve(source)
        if not found.place.endswith(".py"):
            named = [resolve(own.text).place for own in self._workcell.action_types]
            modules = {*named, *(place for place in entry_points().values())}
            if found.place not in modules:
                allowed = sorted(place for place in modules if not place.endswith(".py"))
                raise DefinitionError(
                    f"action types of the module {found.place!r} may not be loaded",
                    expected=f"one of the modules {', '.join(allowed)}" if allowed else "the name of an entry point",
                    got="a module that the workcell file does not name, and that is no entry point",
                    hint="The owner of the workcell may allow it: name the module under `action_types` in the workcell "
                    f"file, or install a package that declares it as an entry point of the group {ENTRY_POINTS!r}",
                )
            return source
        file = Path(found.place).resolve()
        folders = self._workcell.action_type_folders
        if not any(file.is_relative_to(folder) for folder in folders):
            raise DefinitionError(
                f"action types of {str(file)!r} may not be loaded",
                expected=f"a file below {' or '.join(map(str, folders))}" if folders else "a module or an entry point",
                got="a file elsewhere" if folders else "a file, and the workcell names no folder for them",
                hint=f"The owner of the workcell may allow it: `action_type_folders: [{file.parent}]` in the workcell "
                "file lets every client of this ROS network run the Python files in it as the control server's user",
            )
        return f"{file}:{found.class_name}" if found.class_name else str(file)

    def _written(self, code: str, file: str) -> str:
        """The path of a file with this text; messages show `file` instead."""
        if not self._workcell.allow_code_upload:
            raise DefinitionError(
                "code from a client is not accepted",
                expected="the name of a file on the control server's machine, or of an entry point",
                got=f"the text of a file, {len(code)} characters",
                hint="The owner of the workcell may allow it: `allow_code_upload: true` in the workcell file "
                "lets every client of this ROS network run any program as the control server's user",
            )
        data = code.encode()
        if len(data) > MAX_PROGRAM_BYTES:
            raise DefinitionError("code is too long", expected=f"at most {MAX_PROGRAM_BYTES} bytes", got=str(len(data)))
        if not file.isprintable():
            raise DefinitionError("file of code", expected="the name of a file", got=repr(file))
        return str(write_upload(data, file or "code.py"))

    def unload(self, names: Sequence[str]) -> None:
        """Unload action types: all of them or none.

        Raises:
            DefinitionError: there is none of this name, it is built in, or an action or part needs it.
        """
        with self._changing:
            used = self._used()
            for name in names:
                self._check_unused(self._types.get(name, "unloading"), used)
            self._types.remove(dict.fromkeys(names))

    def _check_unused(self, found: RegisteredType, used: Mapping[RegisteredType, str]) -> None:
        what = f"action type {found.name!r} cannot be unloaded"
        if found.origin == BUILT_IN:
            raise DefinitionError(what, expected="a type that was loaded", got="one that is built in")
        for part in self._workcell.parts:
            if found.name in (part.default_action, part.safety_action):
                raise DefinitionError(
                    what, expected="a type that no part needs", got=f"the default or safety action of {part.name!r}"
                )
        if found in used:
            raise DefinitionError(
                what,
                expected="a type that no action has",
                got=f"that of {used[found]}",
                hint="Remove its actions first",
            )
