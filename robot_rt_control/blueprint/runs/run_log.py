"""The log of a run: one file of JSON lines, written before what it says is done (N30)."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.blueprint.graph.orders import Record
from robot_rt_control.blueprint.graph.results import Outcome
from robot_rt_control.vocabulary.errors import DefinitionError
from robot_rt_control.vocabulary.private_files import make_private, private

KEPT = 200
"""Runs whose logs are kept."""
_ON_DISK = ("jump", "question", "goal", "end")
"""Records after which the file is on the disk."""


class Log(Protocol):
    """Where records go."""

    def write(self, record: Record) -> None:
        """Raises OSError: it cannot be written."""


class RunLog:
    """The file of one run: `<folder>/<name>.jsonl`.

    Args:
        name: unique in the folder, and later than those of earlier runs when sorted as text.

    Raises:
        OSError: it cannot be written, or exists.
    """

    def __init__(self, folder: Path, name: str) -> None:
        make_private(folder)
        for old in sorted(folder.glob("*.jsonl"))[: -(KEPT - 1)]:
            old.unlink(missing_ok=True)
        self.path = folder / f"{name}.jsonl"
        self._file = open(self.path, "x", encoding="utf-8", opener=private)  # noqa: SIM115  # until `close`

    def write(self, record: Record) -> None:
        """Add a line. Raises OSError."""
        self._file.write(_line(record))
        self._file.flush()
        if record["what"] in _ON_DISK:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        with suppress(OSError):  # what a full disk did not take was reported when it was written
            self._file.close()

    def discard(self) -> None:
        """Close and delete it: nothing has begun."""
        self.close()
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def _line(record: Record) -> str:
    """A record as a line of JSON, which knows no number that is not finite: it becomes null, as what is unknown."""
    try:
        return json.dumps(record, allow_nan=False) + "\n"
    except ValueError:
        return json.dumps(_finite(record), allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def end_record(moment: Moment, outcome: Outcome, *, refused: bool = False) -> Record:
    """The last record of a run that its engine does not end.

    Args:
        refused: it could not begin; the reason says why.
    """
    return {"tick": moment.tick, "time": moment.time, "what": "end", "result": outcome.result,
            "failure": outcome.failure, "reason": outcome.reason, "outputs": {},
            **({"refused": True} if refused else {})}  # fmt: skip


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a run. A last line that is cut off, because the process died while it wrote, is left out.

    Raises:
        DefinitionError: it is not the log of a run.
    """
    try:
        *lines, _ = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"log {str(path)!r} cannot be read", got=str(error)) from None
    if not lines:
        raise DefinitionError(f"{path.name}:1: not a record of a run", got="no whole line")
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            if not isinstance(record, dict) or "what" not in record:
                raise ValueError("no record")
        except ValueError as error:
            raise DefinitionError(f"{path.name}:{number}: not a record of a run", got=str(error)) from None
        found.append(record)
    return found


def append(path: Path, record: Record) -> None:
    """Add a record to the log of a run whose process died, in place of a last line that is cut off. Raises OSError."""
    with path.open("r+b") as file:
        whole = file.read().rfind(b"\n") + 1
        file.seek(whole)
        file.truncate()
        file.write(_line(record).encode())
        file.flush()
        os.fsync(file.fileno())


def was_interrupted(records: Iterable[Record]) -> bool:
    """Whether the run has no end: what executed it died."""
    return all(record["what"] != "end" for record in records)


def present_nodes(records: Iterable[Record]) -> tuple[str, ...]:
    """Paths of the nodes that had begun and not ended, outermost first."""
    running: dict[str, None] = {}
    for record in records:
        if record["what"] == "node":
            running[record["path"]] = None
        elif record["what"] == "ended":
            for path in [p for p in running if p == record["path"] or p.startswith(f"{record['path']}/")]:
                del running[path]
    return tuple(running)


def outputs_of(records: Iterable[Record]) -> Mapping[str, Any]:
    """The outputs of the outermost graph's nodes, for a run that begins further on: "seat.wish" → value."""
    found: dict[str, Any] = {}
    for record in records:
        if record["what"] == "ended" and "/" not in record["path"] and record.get("cut", "skip") in ("skip", "timeout"):
            node = record["path"]
            found = {name: value for name, value in found.items() if not name.startswith(f"{node}.")}
            given = {f"{node}.{name}": value for name, value in record["outputs"].items()}
            found |= {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in given.items()
                if value is not None and not (isinstance(value, list) and None in value)
            }
    return found
