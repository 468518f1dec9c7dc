"""An application on another host than its workcell. It takes steps from its input, one in each line, as JSON.

It answers each step with lines of JSON: what happened, and when (`at`, time.time()). bench/two_hosts.py starts it.
"""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from robot_rt_control.client import Action, Client, Event, NoAnswer, Reaction, RobotControlError, Session, SessionError

SWING = 0.5
"""[rad] to each side."""
_STREAM_HZ = 50.0
_SWING_S = 3.0
"""Time for a swing to and fro, of a stream."""
_JOINT = 0
_PATIENCE_S = 120.0


def tell(what: str, **values: Any) -> None:
    """Report something."""
    print(json.dumps({"what": what, "at": time.time(), **values}), flush=True)


class Application:
    """The steps. Each method is one; its arguments come from the line."""

    def __init__(self) -> None:
        self._client: Client | None = None
        self._start: list[float] = []

    @property
    def client(self) -> Client:
        assert self._client is not None, "the first step is `meet`"
        return self._client

    def meet(self, patience_s: float) -> None:
        """Look for the workcell for this time."""
        begin = time.monotonic()
        self._client = Client("remote_application", startup_s=patience_s)
        try:
            arm = next(part for part in self._client.parts() if part.kind == "arm")
        except NoAnswer as error:
            self.leave()
            tell("not_met", error=str(error))
            return
        self._start = [self.client.value(f"arm.position[{j}]") for j in range(len(arm.joint_names))]
        tell("met", seconds=time.monotonic() - begin)

    def leave(self) -> None:
        """Disconnect."""
        begin = time.monotonic()
        if self._client is not None:
            self._client.close()
            self._client = None
        tell("left", seconds=time.monotonic() - begin)

    def work(self) -> None:
        """A session with an action, an event, a callback that replies, and a stream."""
        called: list[Event] = []

        def elsewhere(event: Event) -> dict[str, list[float]]:
            called.append(event)
            return {"position": self._goal(-SWING)}

        half = Reaction("progress > 0.2", event="half", call=elsewhere, reply_to="move", fire_once=True)
        with self.client.session("arm", name="work") as session:
            session.add(
                Action("move", "move_joint", position=self._goal(SWING), velocity_scale=0.5, reactions=[half]),
                Action("follow", "follow_joint_stream", goal_gap="linear"),
            )
            session.start("move")
            event = session.wait_for("half", _PATIENCE_S)
            session.wait_until("move.is_done", _PATIENCE_S)
            replied = abs(session.value(f"arm.position[{_JOINT}]") - self._goal(-SWING)[_JOINT])
            session.start("follow")
            goal = self._goal(0.0)
            with session.stream("follow", "goal") as stream:
                for i in range(101):
                    part = 1.0 - (1.0 - math.cos(math.pi * i / 100)) / 2
                    stream.write([g + part * (q - g) for g, q in zip(goal, self._goal(-SWING), strict=True)])
                    time.sleep(1 / _STREAM_HZ)
                session.wait_until("arm.at_rest", _PATIENCE_S)
            streamed = abs(session.value(f"arm.position[{_JOINT}]") - goal[_JOINT])
        tell("worked", event=event.name, called=len(called), reply_error=replied, stream_error=streamed)

    def _goal(self, swing: float) -> list[float]:
        return [q + swing * (j == _JOINT) for j, q in enumerate(self._start)]

    def stream(self, lease_s: float, seconds: float = math.inf) -> None:
        """Swing the arm by streamed goals, for this time or until the session ends."""
        with self._session("stream", lease_s) as session:
            gap = Reaction("goal_timed_out", event="timed_out")
            session.add(Action("follow", "follow_joint_stream", goal_gap="linear", reactions=[gap]))
            session.start("follow")
            with session.stream("follow", "goal") as stream:
                tell("moving", session=session.id)
                begin = time.monotonic()
                while (t := time.monotonic() - begin) < seconds:
                    stream.write(self._goal(SWING * math.sin(2 * math.pi * t / _SWING_S)))
                    time.sleep(1 / _STREAM_HZ)
                timed_out = [event.name for event in session.events].count("timed_out")
                tell("streamed", timed_out=timed_out, late=int(session.value("follow.goal_late")))
            session.wait_until("arm.at_rest", _PATIENCE_S)

    def action(self, lease_s: float) -> None:
        """Swing the arm by an action, until the session ends; meanwhile another thread calls the session."""
        longest, errors = [0.0], list[str]()
        with self._session("action", lease_s) as session:
            to = Action("to", "move_joint", position=self._goal(SWING), reactions=[Reaction("is_done", start="fro")])
            fro = Action("fro", "move_joint", position=self._goal(-SWING), reactions=[Reaction("is_done", start="to")])
            session.add(to, fro)
            session.start("to")

            def call() -> None:
                while not errors:
                    begin = time.monotonic()
                    try:
                        session.set("to", velocity_scale=1.0)
                    except RobotControlError as error:
                        errors.append(f"{type(error).__name__}: {error}")
                    longest[0] = max(longest[0], time.monotonic() - begin)
                    time.sleep(0.1)

            caller = threading.Thread(target=call, name="calls the session")
            caller.start()
            tell("moving", session=session.id)
            session.wait_for("session_ended_otherwise")
        caller.join(_PATIENCE_S)
        tell("called", longest=longest[0], error=errors[0] if errors else "")

    def run(self) -> None:
        """A slow action by name, without a session of this program."""
        done = self.client.run_action("move_joint", "arm", position=self._goal(SWING), velocity_scale=0.05)
        tell("ran", success=done.success, message=done.message)

    @contextmanager
    def _session(self, name: str, lease_s: float) -> Iterator[Session]:
        """A session. Its end by something else is reported, and is no error."""
        try:
            with self.client.session("arm", name=name, lease_s=lease_s) as session:
                try:
                    yield session
                except SessionError as error:
                    tell("ended", reason=session.ended, error=str(error))
                begin = time.monotonic()
            tell("closed", seconds=time.monotonic() - begin)
        except RobotControlError as error:
            tell("failed", error=f"{type(error).__name__}: {error}")

    def again(self) -> None:
        """A new session moves the arm to where it was first; tried until that succeeds."""
        begin, failures = time.monotonic(), list[str]()
        while True:
            try:
                with self.client.session("arm", name="again") as session:
                    session.add(Action("home", "move_joint", position=self._goal(0.0)))
                    session.start("home")
                    opened = time.monotonic() - begin
                    session.wait_until("home.is_done", _PATIENCE_S)
            except RobotControlError as error:
                failures.append(f"{time.monotonic() - begin:.1f} s: {error}")
                if time.monotonic() - begin > _PATIENCE_S:
                    raise
                continue
            tell("moved_again", seconds=opened, failures=failures)
            return


def main() -> int:
    """Do the steps until the input ends."""
    application = Application()
    for line in sys.stdin:
        step = json.loads(line)
        name = step.pop("step")
        try:
            getattr(application, name)(**step)
        except (RobotControlError, TimeoutError) as error:
            tell("failed", error=f"{type(error).__name__}: {error}")
        tell("done", step=name)
    application.leave()
    return 0


if __name__ == "__main__":
    sys.exit(main())
