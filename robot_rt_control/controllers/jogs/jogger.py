"""Jogs an arm by streams: the half of the controller that knows no ROS."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_rt_control.actions.follow_twist_stream import FollowTwistStream
from robot_rt_control.client import Action, Client, Session
from robot_rt_control.client.event import Event
from robot_rt_control.client.stream import Stream
from robot_rt_control.definitions.streams import StreamInput
from robot_rt_control.hardware.parameters import Positive
from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.text.schema import Model
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, SessionError, unknown
from robot_rt_control.vocabulary.event_kinds import Kind

_WORLD, _TOOL, _JOINTS = "world", "tool", "joints"
"""Ids of the actions."""
_LARGEST_TWIST = np.concatenate(
    [np.atleast_1d(s.maximum) for s in FollowTwistStream.streams if isinstance(s, StreamInput) and s.maximum]
)
"""[m/s, rad/s]"""


class JogOptions(Model):
    """All of them."""

    incoming_command_timeout: Positive = 0.1
    """[s] without a jog after which the arm comes to rest; a jog that is older is dropped."""
    idle_time: Positive = 2.0
    """[s] without a jog, or with jogs of zero, after which an arm at rest is released."""
    linear_velocity: Positive = 0.25
    """[m/s] The tool is not jogged faster."""
    angular_velocity: Positive = 1.0
    """[rad/s] The tool is not jogged faster."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Jog:
    action: str
    values: np.ndarray
    """As the action's stream."""
    made: float
    """[s] on the clock of streams."""

    @property
    def moves(self) -> bool:
        return bool(self.values.any())


class Jogger:
    """Opens a session on the arm at the first jog that moves, and closes it when the arm has been at rest for a while.

    If jogs stop coming, the arm comes to rest by the time-out of the action's stream, in the loop. A session that
    ended otherwise, or could not be opened, is opened again only after a pause in the jogs, or a jog of zero: a stick
    that is still held when the arm becomes free must not move it.

    Args:
        name: of the controller: that of its sessions.
        part: that it moves.
        client: of the workcell.
        on_event: called when `process` has something to do; returns at once.
    """

    def __init__(
        self, name: str, part: PartDescription, client: Client, options: JogOptions, on_event: Callable[[], None]
    ) -> None:
        self._name, self._part, self._client, self._options, self._on_event = name, part, client, options, on_event
        self._frames = _frames(part)
        self._lock = threading.RLock()
        self._newest: _Jog | None = None
        self._session: Session | None = None
        self._streams: dict[str, Stream] = {}
        self._active, self._begun = "", 0
        """The action that runs, and the tick since which it does."""
        self._ended = ""
        """Why the session must be closed; empty: it need not."""
        self._must_pause = False
        self._last = -math.inf
        self._last_moving = -math.inf
        """[s] when the newest jog came, and the newest one that moves."""
        self._is_closed = False
        client.add_listener(self._receive)

    # --- jogs; from any thread, at once -----------------------------------------------------------

    def jog_tool(self, twist: Sequence[float], frame: str, age: float = 0.0) -> None:
        """Take a twist of the tool.

        Args:
            twist: (6,) [m/s, rad/s] linear and angular velocity of the tool.
            frame: its axes: those of this frame. Empty: of the world.
            age: [s] since it was made.

        Raises:
            RobotControlError: it is refused.
        """
        if frame not in self._frames:
            named = [name for name in self._frames if name]
            raise DefinitionError("frame_id", expected=f"empty, or {unknown('frame', frame, named)}", got=repr(frame))
        values = _finite("twist", twist)
        if (np.abs(values) > _LARGEST_TWIST).any():
            raise DefinitionError(
                "twist",
                expected=f"at most {_LARGEST_TWIST[0]:g} m/s and {_LARGEST_TWIST[3]:g} rad/s",
                got=", ".join(f"{x:g}" for x in values),
                hint="Are they in mm/s or degrees/s, or unitless?",
            )
        action, R = self._frames[frame]
        self._take(action, np.concatenate([R @ values[:3], R @ values[3:]]), age)

    def jog_joints(
        self, names: Sequence[str], velocities: Sequence[float], displacements: Sequence[float] = (), age: float = 0.0
    ) -> None:
        """Take velocities of joints; the other joints come to rest.

        Args:
            names: of the joints.
            velocities: [rad/s or m/s] one for each.
            displacements: none.
            age: [s] since it was made.

        Raises:
            RobotControlError: it is refused.
        """
        joints = self._part.joint_names
        if len(displacements):
            raise DefinitionError(
                "displacements",
                expected="none: a jog is a velocity, which ends when no more come",
                got=str(len(displacements)),
                hint="Send velocities, or a trajectory",
            )
        if not names or len(names) != len(velocities):
            raise DefinitionError(
                "velocities", expected=f"one for each of {len(names)} joint names", got=str(len(velocities))
            )
        given = _finite("velocities", velocities)
        values = np.zeros(len(joints))
        for name, velocity in zip(names, given, strict=True):
            if name not in joints:
                raise DefinitionError(f"joint {name!r}", expected=unknown("joint", name, joints))
            j = joints.index(name)
            limit = float(self._part.system_limits.velocity[j])
            if abs(velocity) > limit:
                raise DefinitionError(
                    f"velocity of joint {name!r}", expected=f"at most {limit:g}", got=f"{abs(velocity):g}"
                )
            values[j] = velocity
        if len(set(names)) < len(names):
            raise DefinitionError("joint names", expected="each joint once", got=", ".join(names))
        self._take(_JOINTS, values, age)

    def _take(self, action: str, values: np.ndarray, age: float) -> None:
        if age > self._options.incoming_command_timeout:
            raise RobotControlError(
                "a jog is too old",
                expected=f"a stamp of the last {self._options.incoming_command_timeout:g} s",
                got=f"{age:.3f} s",
                hint="Synchronize the clocks, or let the stamp be 0",
            )
        now, jog = self._now(), _Jog(action=action, values=values, made=self._now() - max(age, 0.0))
        if not jog.moves or now - self._last > self._options.incoming_command_timeout:
            self._must_pause = False
        self._last, self._newest = now, jog
        if jog.moves:
            self._last_moving = now
        self._on_event()

    def _now(self) -> float:
        return self._client.backend.source_time()

    def _receive(self, event: Event) -> None:
        session = self._session
        if session is None or event.session != session.id:
            return
        failed = event.kind in (Kind.ACTION_FAILED, Kind.ACTION_STOPPED) and event.tick > self._begun
        if event.kind == Kind.SESSION_ENDED or (failed and event.previous_action == self._active):
            self._ended = event.reason or event.kind
            self._on_event()

    # --- what may wait for the workcell -----------------------------------------------------------

    def process(self) -> None:
        """Pass the newest jog on; release an arm that is idle. Must be called when `on_event` was, and now and then.

        Raises:
            RobotControlError: the arm cannot be jogged.
        """
        with self._lock:
            if self._is_closed:
                return
            if self._session is not None and (self._ended or self._session.ended is not None):
                why = self._session.ended or self._ended
                self._release()
                self._must_pause = True
                raise RobotControlError(f"jogging was ended: {why}")
            jog = self._due()
            if jog is not None and not self._must_pause:
                self._open(jog.moves)
                if self._session is not None:
                    jog = self._due() or jog  # opening takes time
                    self._pass_on(jog)
            self._newest = None if self._newest is jog else self._newest
            self._release_if_idle()

    def _due(self) -> _Jog | None:
        """The newest jog; None: there is none, or it is too old."""
        jog = self._newest
        if jog is None or self._now() - jog.made > self._options.incoming_command_timeout:
            return None
        return jog

    def _open(self, moves: bool) -> None:
        if self._session is not None or not moves:
            return
        part, options = self._part.name, self._options
        common: dict[str, Any] = {"parts": part, "goal_timeout": options.incoming_command_timeout}
        common["report_interval"] = 0.0
        actions = [Action(_JOINTS, "follow_joint_velocity_stream", **common)]
        if self._frames:
            common |= {"linear_velocity": options.linear_velocity, "angular_velocity": options.angular_velocity}
            actions += [Action(axes, "follow_twist_stream", frame=axes, **common) for axes in (_WORLD, _TOOL)]
        try:
            self._ended, self._active, self._begun = "", "", 0
            self._session = self._client.session(part, name=self._name)
            self._session.add(*actions)
        except RobotControlError as error:
            self._release()
            self._must_pause = True
            if isinstance(error, SessionError):
                raise RobotControlError(f"part {part!r} is not free: {error}") from None
            raise

    def _pass_on(self, jog: _Jog) -> None:
        session = self._session
        assert session is not None
        if self._now() - jog.made > self._options.incoming_command_timeout:
            return
        if jog.action not in self._streams:
            self._streams[jog.action] = session.stream(jog.action, "goal")
        self._streams[jog.action].write(jog.values)
        if self._active != jog.action:
            try:
                self._active = jog.action
                self._begun = session.start(jog.action)
            except RobotControlError:
                self._release()
                self._must_pause = True
                raise

    def _release_if_idle(self) -> None:
        session = self._session
        if session is None or self._now() - self._last_moving < self._options.idle_time:
            return
        if session.value(f"{self._part.name}.at_rest") == 1.0:
            self._release()

    def _release(self) -> None:
        session, self._session, self._streams = self._session, None, {}
        if session is not None:
            session.close()

    def close(self) -> None:
        """Stop the arm and release it. The jogger is not used any more."""
        with self._lock:
            self._is_closed = True
            self._client.remove_listener(self._receive)
            self._release()


def _frames(part: PartDescription) -> Mapping[str, tuple[str, np.ndarray]]:
    """Frame → the action that takes twists in its axes, and R from these axes to the action's; none without a tool."""
    if part.tip_link is None or part.base_link is None:
        return {}
    same = np.eye(3)
    return {
        "": (_WORLD, same),
        "world": (_WORLD, same),
        part.base_link: (_WORLD, part.base.matrix[:3, :3]),
        part.tip_link: (_TOOL, part.tool.matrix[:3, :3].T),
        f"{part.name}_tool": (_TOOL, same),
    }


def _finite(what: str, values: Sequence[float]) -> np.ndarray:
    found = np.array(values, float)
    if not np.isfinite(found).all():
        raise DefinitionError(what, expected="finite numbers", got=", ".join(f"{x:g}" for x in found))
    return found
