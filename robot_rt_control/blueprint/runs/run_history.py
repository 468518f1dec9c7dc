"""The runs whose logs are kept: how each ended, and how often and how long each skill ran."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from robot_rt_control.blueprint.runs.run_log import append, present_nodes, read_log, was_interrupted
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

RUN = "run"
"""The first record of a log says what was started, by whom."""
INTERRUPTED = "interrupted"
"""The last record of a run whose process died: the next process has found it, and cancelled its goals."""


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """One run.

    Args:
        began: when, as people read it.
        result: empty: it has not ended.
        seconds: [s] of the loop's time, until its end or its last record.
        title: how people see the skill's name, if otherwise.
        interrupted_at: nodes that ran when its process died, "drinks/open_bottle"; empty: it was not interrupted.
    """

    run: str
    skill: str
    began: str
    result: str
    reason: str
    seconds: float
    source: str
    interrupted_at: str = ""
    rehearsed: bool = False
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """How often a skill ran.

    Args:
        duration: [s] median of those that succeeded; NaN: none did.
    """

    runs: int = 0
    succeeded: int = 0
    duration: float = float("nan")


@dataclass(frozen=True)
class _Read:
    size: int
    summary: RunSummary
    uses: tuple[tuple[str, bool, float], ...]
    """Skill, whether it succeeded, seconds."""
    is_cared_for: bool = False
    """It was interrupted, and the log says that this was found."""


class RunHistory:
    """The logs of a folder. Files that have not grown are read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, _Read] = {}

    def runs(self, under_way: Collection[str] = ()) -> list[RunSummary]:
        """All runs, the newest first.

        Args:
            under_way: ids of those that have no end because they go on.
        """
        found = {}
        for path in sorted(self.folder.glob("*.jsonl"), reverse=True):
            try:
                size = path.stat().st_size
                known = self._read.get(path.stem)
                found[path.stem] = known if known is not None and known.size == size else _read(path, size)
            except (OSError, DefinitionError):  # just deleted, or no log
                continue
        self._read = found
        return [
            read.summary if read.summary.run not in under_way else _without_interruption(read.summary)
            for read in found.values()
        ]

    def interrupted(self) -> list[str]:
        """Ids of the runs whose process died and for which `care_for` was not called yet."""
        return [run.run for run in self.runs() if run.interrupted_at and not self._read[run.run].is_cared_for]

    def care_for(self, run: str) -> None:
        """Note in the log of an interrupted run that its goals are cancelled. Raises OSError, DefinitionError."""
        last = self.records(run)[-1]
        append(self.folder / f"{run}.jsonl", {"tick": last["tick"], "time": last["time"], "what": INTERRUPTED})
        self._read.pop(run, None)  # in place of a cut line, it may be just as long

    def records(self, run: str) -> list[dict[str, Any]]:
        """All records of a run.

        Raises:
            DefinitionError: there is no such run.
        """
        known = [path.stem for path in self.folder.glob("*.jsonl")]
        if run not in known:
            raise DefinitionError(f"unknown run {run!r}", expected=unknown("run", run, known))
        return read_log(self.folder / f"{run}.jsonl")

    def statistics(self) -> Mapping[str, Statistics]:
        """Name of a skill → how often it ran, by itself or called by others."""
        self.runs()
        uses: dict[str, list[tuple[bool, float]]] = {}
        for read in self._read.values():
            for skill, success, seconds in read.uses:
                uses.setdefault(skill.partition("@")[0], []).append((success, seconds))
        return {
            skill: Statistics(
                runs=len(found),
                succeeded=sum(success for success, _ in found),
                duration=median([seconds for success, seconds in found if success] or [float("nan")]),
            )
            for skill, found in uses.items()
        }


def _without_interruption(summary: RunSummary) -> RunSummary:
    return replace(summary, interrupted_at="")


def _read(path: Path, size: int) -> _Read:
    records = read_log(path)
    first = records[0] if records else {}
    if first.get("what") != RUN:
        raise DefinitionError(f"log {path.name!r} has no beginning")
    end = records[-1] if records[-1]["what"] == "end" else None
    seconds = records[-1]["time"] - first["time"]
    interrupted = was_interrupted(records)
    nodes = present_nodes(records)
    summary = RunSummary(
        run=path.stem,
        skill=first["skill"],
        began=first["began"],
        result=end["result"] if end else "",
        reason=end["reason"] if end else "",
        seconds=seconds,
        source=first["source"],
        interrupted_at=(nodes[-1] if nodes else "the beginning") if interrupted else "",
        rehearsed=first["rehearsed"],
        title=first.get("title", ""),
    )
    uses: list[tuple[str, bool, float]] = []
    begun: dict[str, list[tuple[str, float]]] = {}
    for record in records if not summary.rehearsed else ():
        if record["what"] in ("start", "call"):
            begun.setdefault(record["path"], []).append((record["skill"], record["time"]))
        elif record["what"] == "ended":  # of a skill that is one call, and of what it calls
            for skill, since in begun.pop(record["path"], ()):
                uses.append((skill, not record["failure"], record["time"] - since))
    if end is not None and not summary.rehearsed and "refused" not in end and len(records) > 2:  # else it never began
        uses.append((first["skill"], not end["failure"], seconds))
    return _Read(size, summary, tuple(uses), records[-1]["what"] == INTERRUPTED)
