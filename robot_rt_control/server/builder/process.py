"""The builder as its users see it: a process beside them that turns action types into native code."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.class_place import spec_of
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.processes.python import import_path
from robot_rt_control.processes.python_process import ProcessEnded, PythonProcess
from robot_rt_control.processes.work_watch import WorkWatch
from robot_rt_control.server.builder.built_type import BuiltType
from robot_rt_control.server.preparer.process import Preparers
from robot_rt_control.vocabulary.errors import CompileError

TIMEOUT_S = 120.0
_STARTUP_S = 60.0
"""[s] of processor time for starting the builder itself, which the time of a build does not include."""
_SILENCE_S = 10.0
"""How long the builder process may be idle and silent; it reports every LOOK_S."""
_HANGS = "the builder hangs", "It was ended; the next request starts a new one"
_ENDED = (
    "the builder process ended in the middle", "Was it killed? Build again: the next request starts a new one"
)  # fmt: skip

Progress = Callable[[str], None]


def _nobody(_message: str) -> None:
    """Drop the progress."""


class Builder:
    """Builds action types in a process beside this one, which starts at the first request and again whenever it died.

    Its `preparers` run the types' other code. Thread-safe; requests are served one after the other. Use it in a
    `with` statement, or call `close`.

    Args:
        timeout: processor time that building one action type may take [s], and the time for which it may do nothing.
            A machine that is busy with other things counts for neither.
    """

    def __init__(self, *, timeout: float = TIMEOUT_S) -> None:
        if timeout <= 0.0:
            raise ValueError(f"timeout = {timeout}: expected seconds, more than 0")
        self.timeout = timeout
        self._lock = threading.Lock()
        self._process: PythonProcess | None = None
        self._closed = False
        self.preparers = Preparers()

    def __enter__(self) -> Builder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Process id of the builder process, None while there is none."""
        return self._process.pid if self._process is not None else None

    def build(
        self,
        spec: str | type[ActionType],
        progress: Progress = _nobody,
        trusted: Sequence[Path] | None = None,
    ) -> BuiltType:
        """Build one action type, or find it in the cache.

        Args:
            spec: "file.py:Class", "module:Class" or the class itself.
            progress: called with what is being done ("compiling sine_wave: ..."), in the calling thread.
            trusted: see `build.build`.

        Raises:
            CompileError: the code is refused, or building it crashed or took too long.
        """
        (result,) = self.build_many([spec], progress, trusted)
        if isinstance(result, CompileError):
            raise result
        return result

    def build_many(
        self,
        specs: Sequence[str | type[ActionType]],
        progress: Progress = _nobody,
        trusted: Sequence[Path] | None = None,
    ) -> list[BuiltType | CompileError]:
        """Build several action types; one that is refused does not stop the others.

        Returns:
            For each spec, in their order: the built type, or why there is none.
        """
        texts = [_absolute(s) if isinstance(s, str) else spec_of(s) for s in specs]
        return self._serve("build", texts, progress, trusted)

    def find(self, place: str) -> list[str]:
        """The specs of all action types that a file or module defines, in their order.

        Args:
            place: "file.py" or "package.module".

        Raises:
            CompileError: it cannot be imported, or defines none.
        """
        (found,) = self._serve("find", [str(Path(place).absolute()) if place.endswith(".py") else place], _nobody)
        if isinstance(found, CompileError):
            raise found
        return list(found)

    def _serve(
        self, task: str, texts: list[str], progress: Progress, trusted: Sequence[Path] | None = None
    ) -> list[Any]:
        with self._lock:
            results: list[Any] = []
            while len(results) < len(texts):
                if self._closed:
                    raise CompileError("the builder is closed", hint="Make a new Builder")
                # If the builder process itself dies, the next action type gets a new one.
                try:
                    results += self._request(task, texts[len(results) :], progress, trusted)
                except BaseException:
                    self._end()  # what it still says must not answer the next request
                    raise
            return results

    def close(self) -> None:
        """End the builder process, and those of `preparers`. Requests under way fail."""
        self._closed = True
        self._end()
        self.preparers.close()

    # ---------------------------------------------------------------------------------------------

    def _start(self) -> PythonProcess:
        if self._process is None or self._process.is_gone:
            self._end()
            self._process = PythonProcess("robot_rt_control.server.builder")
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _request(self, task: str, specs: list[str], progress: Progress, trusted: Sequence[Path] | None) -> list[Any]:
        """Results of the first specs at least: all that were built, and one more if the builder process died."""
        results: list[Any] = []
        process = self._start()
        folders = None if trusted is None else [str(folder) for folder in trusted]
        request = {"task": task, "specs": specs, "path": import_path(), "timeout": self.timeout, "trusted": folders}
        process.send(request)
        watch = WorkWatch(process.pid, processor_s=self.timeout + _STARTUP_S, idle_s=_SILENCE_S)
        while len(results) < len(specs):
            try:
                answer = process.watched(watch)
            except ProcessEnded as ended:
                self._end()
                what, hint = _HANGS if ended.hangs else _ENDED
                return [*results, CompileError(f"building {specs[len(results)]}: {what}", hint=hint)]
            if "progress" in answer:
                progress(answer["progress"])
            elif "alive" not in answer:
                results.append(_result(answer))
        return results


def _absolute(spec: str) -> str:
    """A spec that means the same in the builder process, whose working directory may be another one."""
    place, _, name = spec.rpartition(":")
    return f"{Path(place).absolute()}:{name}" if place.endswith(".py") else spec


def _result(answer: dict[str, Any]) -> BuiltType | list[str] | CompileError:
    if "found" in answer:
        return list(answer["found"])
    if "built" in answer:
        built = answer["built"]
        declared = DeclaredType.from_json(built["declared"])
        return BuiltType(**built | {"methods": tuple(built["methods"]), "declared": declared})
    return CompileError(**answer["error"])
