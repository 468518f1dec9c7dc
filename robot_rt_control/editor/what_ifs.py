"""What if: the page's text goes on from a moment of the past, simulated in a process of its own.

One at a time, for all pages together. The last one is kept until the next one, or until it is put away.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from functools import partial
from pathlib import Path

from aiohttp import web

from robot_rt_control.editor.past.recorded import Recorded
from robot_rt_control.editor.recent import Recent
from robot_rt_control.editor.robot import Json, Robot
from robot_rt_control.processes.call import call
from robot_rt_control.processes.python_process import PythonProcess
from robot_rt_control.vocabulary.defaults import MOST_WHAT_IF_RECORDS
from robot_rt_control.vocabulary.errors import RobotControlError

_SIMULATOR, _LIMIT_S = "robot_rt_control.testing.what_if", 300.0
"""The process, and the processor time [s] that it may take."""
_DONE: Json = {"success": True, "message": ""}


class WhatIfs:
    """For any thread, but `situation`.

    Args:
        workcell: its file; None: nothing can be simulated.
        recent: the ticks that are kept.
    """

    def __init__(self, robot: Robot, recent: Recent, workcell: Path | None) -> None:
        self._robot, self._recent, self._workcell = robot, recent, workcell
        self._lock = threading.Lock()
        self._busy: object | None = None
        """Of the one that is being simulated."""
        self._process: PythonProcess | None = None
        self._owner = ""
        """Id of the person who asked last."""
        self._id = ""
        """The page's own name for what it asked last."""
        self._number = 0
        self._shown: Recorded | None = None
        self._folder = ""

    @property
    def is_possible(self) -> bool:
        """Whether the workcell's file is known."""
        return self._workcell is not None

    def situation(self, body: Json) -> Json:
        """The moment that a page asks about, checked; for the event loop's thread.

        Returns:
            `id`, `run`, `tick`, `text`, `positions`.

        Raises:
            RobotControlError: it is malformed, or is not kept any more.
        """
        run, tick, loop, text, own = (body.get(key) for key in ("run", "tick", "loop", "text", "id"))
        words = all(isinstance(each, str) for each in (run, text, own))
        if not (words and type(tick) is int and type(loop) is int):
            raise RobotControlError("what if", expected="id, run, text, tick and loop as whole numbers", got="others")
        positions = self._recent.positions(loop, tick)
        if positions is None:
            raise RobotControlError(f"tick {tick}", expected="one of the ticks that are kept", got="another one")
        return {"id": own, "run": run, "tick": tick, "text": text, "positions": positions}

    def ask(self, person: str, situation: Json) -> Json:
        """Simulate it: minutes may pass.

        Args:
            person: id of who asks.

        Returns:
            As `testing.what_if.WhatIf`, with `number` of this answer, `about` the recording as `Recorded.about`.

        Raises:
            RobotControlError: what is wrong with the text, or why it cannot be simulated; or it was put away.
        """
        if self._workcell is None:
            raise RobotControlError("what if", expected="an editor that was started with --workcell FILE", got="none")
        own = object()
        with self._lock:
            if self._busy is not None:
                raise RobotControlError("what if", expected="one simulation at a time", got="another one under way")
            self._busy, self._owner, self._id = own, person, situation["id"]
            self._forget()
        folder = tempfile.mkdtemp(prefix="robot_rt_control_what_if_")
        kept = False
        try:
            found = call(_SIMULATOR, self._question(situation, folder), limit=_LIMIT_S, begun=partial(self._begun, own))
            recorded = Recorded(Path(folder, "what_if.mcap"))
            with self._lock:
                if self._busy is not own:
                    recorded.close()
                    raise RobotControlError("what if: it was cancelled")
                self._number += 1
                self._shown, self._folder, kept = recorded, folder, True
                return {**_DONE, **found, "number": self._number, "about": recorded.about()}
        except RobotControlError:
            if self._busy is not own:
                raise RobotControlError("what if: it was cancelled") from None
            raise
        finally:
            with self._lock:
                if self._busy is own:
                    self._busy = self._process = None
            if not kept:
                shutil.rmtree(folder, ignore_errors=True)

    def _begun(self, own: object, process: PythonProcess) -> None:
        with self._lock:
            if self._busy is own:
                self._process = process
            else:
                process.kill()

    def end(self, person: str | None = None, own: str | None = None) -> Json:
        """Put away what is shown, and end what is being simulated.

        Args:
            person: id of who asks: only what this one asked for; None: whoever did.
            own: only what was asked for by this `id`: an end that comes late, or from another page of the same
                person, must not end the next one; None: whichever it was.
        """
        with self._lock:
            if person not in (None, self._owner) or own not in (None, self._id):
                return dict(_DONE)
            if self._process is not None:
                self._process.kill()
            self._busy = self._process = None
            self._forget()
        return dict(_DONE)

    def _forget(self) -> None:
        if self._shown is not None:
            self._shown.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            self._shown = None

    def joints(self, body: Json) -> bytes:
        """The block `block` of the answer `number`, as `Recorded.joints_of`.

        Raises:
            web.HTTPNotFound: there is none.
        """
        with self._lock:
            block = body.get("block")
            if self._shown is None or body.get("number") != self._number or type(block) is not int:
                raise web.HTTPNotFound(text="there is no such simulation")
            try:
                return self._shown.joints_of(block)
            except ValueError as error:
                raise web.HTTPNotFound(text=str(error)) from None

    def _question(self, situation: Json, folder: str) -> Json:
        run = situation["run"]
        answer = self._asked("read_runs", {"run": run, "first": 0, "at_most": MOST_WHAT_IF_RECORDS})
        if answer["total"] > MOST_WHAT_IF_RECORDS:
            most = f"at most {MOST_WHAT_IF_RECORDS} records"
            raise RobotControlError(f"run {run}", expected=most, got=str(answer["total"]))
        skills = self._asked("list_skills", {"with_text": True}).get("skills", ())
        programs = self._robot.list_programs({"with_text": True}).get("programs", ())
        return {
            "workcell": str(self._workcell),
            "tick": situation["tick"],
            "text": situation["text"],
            "positions": situation["positions"],
            "records": [json.loads(line) for line in answer["lines"]],
            "skills": [skill["text"] for skill in skills if skill["origin"] == "store" and skill["text"]],
            "programs": [each["text"] for each in programs if each["origin"] == "store" and each["text"]],
            "record": str(Path(folder, "what_if.mcap")),
        }

    def _asked(self, service: str, request: Json) -> Json:
        answer = self._robot.call(service, request)
        if not answer["success"]:
            raise RobotControlError(answer["message"])
        return answer
