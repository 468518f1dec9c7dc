"""Logs of the last ticks before a failure: files as of all recorded ticks, see docs/recording.md.

    log = load_fault_log("/…/cell_20260101-120000_42_001.mcap")
    print(log.text())
    log["arm.position"]     # shape (ticks, joints) [rad]

Arrays: `tick`, `time_ns`, `speed`, `protective_stop`; for each part `part.action` (identity), `part.state`
(OperationalState), `part.fault` (FaultReason), `part.age` [ticks]; for parts with joints also `mode` (CommandMode of
each joint), `position`, `velocity`, `effort` (measured), `commanded_position`, `commanded_velocity`,
`commanded_acceleration`, `commanded_effort`; `wrench`, `distance`, `inputs`, `outputs` for sensors and channels.
Unknown is NaN.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.vocabulary.enums import CommandMode, FaultReason, OperationalState
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.fault_reasons import FAULTS


def told_logs(prefix: str, last: int) -> bytes:
    """What the executor tells the server of its logs: the prefix of their paths, and the last one that it promises."""
    return prefix.encode() + b"\0%d" % last


def promised_log(told: bytes, number: int) -> str:
    """The path of a log; empty: there is none, or none is promised. told: by `told_logs`, or empty."""
    prefix, _, last = told.rpartition(b"\0")
    return log_path(prefix.decode(), number) if last and number <= int(last) else ""


def log_path(prefix: str, number: int) -> str:
    """The file of the log with this number; empty: there is no log."""
    return f"{prefix}_{number:03d}.mcap" if number > 0 and prefix else ""


@dataclass(frozen=True, kw_only=True, eq=False)
class FaultLog:
    """The ticks up to a fault, a failed action or a protective stop, and some that followed."""

    path: Path
    about: Mapping[str, Any]
    """workcell, period [s], kind, reason, part, joint, tick, action, status, parts, actions (identity → id)."""
    arrays: Mapping[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    @property
    def ticks(self) -> np.ndarray:
        """int64, consecutive."""
        return self.arrays["tick"]

    @property
    def seconds(self) -> np.ndarray:
        """[s] relative to the tick that the log is about; negative before it."""
        return (self.ticks - int(self.about["tick"])) * float(self.about["period"])

    def part(self, name: str) -> Mapping[str, Any]:
        """The log's entry for a part: name, joints, units. Raises KeyError."""
        return next(p for p in self.about["parts"] if p["name"] == name)

    def action_name(self, identity: int) -> str:
        """The id of an action; "-" if there is none."""
        return str(self.about["actions"].get(str(identity), f"action {identity}")) if identity else "-"

    def title(self) -> str:
        """One-line summary: what the log is about."""
        about = self.about
        what = str(about["kind"]).replace("_", " ")
        subject = f" {about['part']!r}" if about["part"] else ""
        action = f", action {about['action']!r}" if about["action"] else ""
        reason = f": {about['reason']}" if about["reason"] else ""
        return f"{what}{subject}{action} in tick {about['tick']}{reason}"

    def changes(self) -> Iterator[tuple[int, str]]:
        """(tick, what changed): modes, actions, states and faults of all parts, in order."""
        found: list[tuple[int, str]] = []
        for part in self.about["parts"]:
            name = part["name"]
            for what, words in (
                ("action", self.action_name),
                ("state", lambda n: OperationalState(n).name.lower()),
                ("fault", lambda n: FAULTS[FaultReason(n)].text or "none"),
                ("mode", lambda n: CommandMode(n).name.lower()),
            ):
                if what == "mode" and not part["joints"]:
                    continue
                values = self.arrays[f"{name}.{what}"].reshape(len(self.ticks), -1)
                changed: dict[tuple[int, int, int], list[int]] = {}
                for i, j in np.argwhere(np.diff(values, axis=0)).tolist():
                    changed.setdefault((i, int(values[i, j]), int(values[i + 1, j])), []).append(j)
                for (i, before, after), joints in changed.items():
                    all_of_them = len(joints) == values.shape[1]
                    of = "" if all_of_them else f" of {', '.join(part['joints'][j] for j in joints)}"
                    found.append((int(self.ticks[i + 1]), f"{name}: {what}{of} {words(before)} -> {words(after)}"))
        yield from sorted(found, key=lambda entry: entry[0])

    def text(self) -> str:
        """Readable text of the log: what failed, when, what changed, and the joint positions in that tick."""
        about = self.about
        lines = [
            self.title(),
            f"workcell {about['workcell']}, {len(self.ticks)} ticks of {float(about['period']) * 1e3:g} ms:"
            f" {int(self.ticks[0])} to {int(self.ticks[-1])}",
        ]
        lines += [f"  tick {tick}: {what}" for tick, what in self.changes()]
        at = np.flatnonzero(self.ticks == int(about["tick"]))
        for part in about["parts"] if len(at) else ():
            if part["joints"]:
                lines.append(f"{part['name']} in tick {about['tick']}:")
            for j, (joint, unit) in enumerate(zip(part["joints"], part["units"], strict=True)):
                row = {q: self.arrays[f"{part['name']}.{q}"][at[0], j] for q in _SHOWN}
                shown = ", ".join(f"{q.replace('_', ' ')} {value:.5g}" for q, value in row.items())
                lines.append(f"  {joint} [{unit}]: {shown}")
        return "\n".join(lines)

    def write_csv(self, path: Path | str) -> Path:
        """Write all columns as text, one line for each tick."""
        joints = {part["name"]: part["joints"] for part in self.about["parts"]}
        names, columns = [], []
        for name, array in self.arrays.items():
            table = array.reshape(len(array), -1)
            of_joints = joints.get(name.rpartition(".")[0], [])
            for i in range(table.shape[1]):
                suffix = "" if array.ndim == 1 else f".{of_joints[i]}" if table.shape[1] == len(of_joints) else f"[{i}]"
                names.append(name + suffix)
                columns.append(table[:, i].tolist())
        target = Path(path)
        with target.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            writer.writerows(zip(*columns, strict=True))
        return target


_SHOWN = ("position", "commanded_position", "velocity", "commanded_velocity", "effort")


def load_fault_log(path: Path | str) -> FaultLog:
    """Read a log.

    Raises:
        RobotControlError: the file does not exist or is not a log.
    """
    file = TickFile(path)
    if "kind" not in file.about:
        raise RobotControlError(f"recording {path}", expected="a log of the last ticks", got="a recorded session")
    return FaultLog(path=file.path, about=file.about, arrays=file.arrays())
