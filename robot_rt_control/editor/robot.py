"""What the editor needs of a robot. Requests and answers are the fields of the ROS interfaces, as JSON values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # who asks for help alone loads no NumPy
    import numpy as np

    from robot_rt_control.ros.tick_batches import TickBatch, TickNames

Json = dict[str, Any]

SOURCE = "editor"
"""Under which the page's STOP is latched."""
SILENT_S = 0.7
"""[s] without a word of an executor, which speaks every 0.2 s, after which the page says so: within 1 s."""
SERVICES = ("list_skills", "save_skill", "delete_skill", "give_command", "control", "read_runs")
"""Services of the blueprint executor."""


@dataclass(kw_only=True)
class TimelineNews:
    """What the loop did since the last look."""

    names: TickNames | None = None
    """None: no executor has told them yet."""
    batches: Sequence[TickBatch] = ()
    """Some may be of an executor before: only those with the version of `names` count."""
    events: Sequence[Json] = ()
    """As msg/Event, with `values` as name → value; also the last ones from before anybody looked."""
    sampled: Sequence[str] | None = None
    """Names that the control server publishes at a lower rate, `s1/approach.progress` among them; None: unchanged."""
    samples: Sequence[tuple[int, Sequence[float]]] = field(default_factory=list)
    """Tick and values of the names that were `sampled` last."""
    problem: str = ""
    """Why something of this is not there."""


class Jogging(Protocol):
    """What jogs a part: `client.jogger.Jogger`."""

    @property
    def is_open(self) -> bool: ...

    @property
    def is_closed(self) -> bool: ...

    def take(
        self, action: str, values: np.ndarray[Any, Any], age: float, *, moves: bool | None = None
    ) -> None: ...

    def process(self) -> None: ...

    def close(self) -> None: ...


class Robot(Protocol):
    """A robot, reached over ROS; in tests one in memory. All methods may block, and are called from any thread."""

    def call(self, service: str, request: Mapping[str, Any]) -> Json:
        """One of SERVICES, with the fields of its request. Fields that are left out have their defaults.

        Raises:
            RobotControlError: no answer, or a field that it does not have.
        """

    def run(self, goal: Mapping[str, Any]) -> Json:
        """Start a run, and wait until it has begun or was refused; not for its end.

        Returns:
            The action's result, as far as it is known: success, message, refusals, run.
        """

    def list_programs(self, request: Mapping[str, Any]) -> Json:
        """Programs of the control server: `name`, `search`, `tags`, `with_text`. Returns `programs`."""

    def save_program(self, request: Mapping[str, Any]) -> Json:
        """Check a program's `text` (`check_only`), or keep it (`based_on`). Answers as save_skill does."""

    def delete_program(self, request: Mapping[str, Any]) -> Json:
        """Delete all versions of a program, or one of them: `name` is "mine" or "mine@2"."""

    def action_types(self) -> list[Json]:
        """The library of actions, as msg/ActionTypeInfo."""

    def parts(self) -> list[Json]:
        """The workcell's parts: name, kind, operational_state, fault, session."""

    def variables(self, session: str = "") -> list[Json]:
        """All state variables: name, type, unit, description; those of a session's actions as well, if one is given."""

    def actions(self, session: str) -> Json:
        """What a session has defined: `actions`, as msg/ActionDefinition, and free-standing `reactions`, msg/Reaction.

        Raises:
            RobotControlError: there is no such session.
        """

    def set_motion(self, part: str, command: str) -> None:
        """`enable`, `disable`, `clear_faults` or `recover` a part.

        Raises:
            RobotControlError: it was refused, or was not confirmed.
        """

    def jogger(self, part: Json, name: str, on_event: Callable[[], None]) -> Jogging:
        """What jogs a part; see `client_use.part_jogger`. Does not wait."""

    def run_action(
        self,
        type: str,
        parts: list[str],
        values: Mapping[str, Any],
        *,
        until: str,
        limit_s: float,
        cancelled: threading.Event,
        on_progress: Callable[[], None],
    ) -> Json:
        """Run an action in a session of its own, and wait for its end: `success`, `message`. See `Client.run_action`.

        Raises:
            RobotControlError: it could not be started, or the control server has gone.
        """

    def values(self, names: Iterable[str]) -> Json:
        """Present values of state variables; None: unknown."""

    def set_speed(self, speed: float) -> None: ...

    def protective_stop(self, stop: bool, reason: str, who: str) -> None:
        """Latch the stop SOURCE, or release it; other sources' stops stay.

        Raises:
            RobotControlError: it was not confirmed.
        """

    def resume(self, session: str, who: str) -> None:
        """Let a session that a protective stop has suspended start motion again. Starts nothing by itself.

        Raises:
            RobotControlError: a stop is still latched, or there is no such session.
        """

    def status(self) -> Json:
        """Without waiting: `blueprints` and `executor` (whether each is there), `speed`, `protective_stop`, `stops`.

        `silent`: "executor", "blueprints" → [s] since its last word, of those that are there no more or have said
        nothing for SILENT_S. `stops`: those that are latched: source, reason, who, needs_secret.

        `parts`: name, operational_state, fault of each.

        And `programs`: the states of each session that lives, for live pictures of programs: session, program, active,
        strategies (action, degree_of_freedom, strategy), last_reaction, last_event, suspended.
        """

    def description(self) -> str:
        """Without waiting: the workcell's robot_description; empty: none has come."""

    def joint_positions(self) -> Mapping[str, float]:
        """Without waiting: the last position [rad or m] of each joint of joint_states, in their order. From the first
        call on they are followed, until `forget_scene`."""

    def shapes(self) -> list[Json]:
        """Without waiting: what the control server draws (goals, paths, forces, rays, limits), as `drawing.shape.Shape`
        has it, with names for kinds; the same list as long as nothing changes. Followed as the joints."""

    def objects(self) -> list[Json]:
        """Without waiting: what simulators have beside robots, in the world's frame: `name`; `kind`, box, sphere,
        cylinder, mesh or triangles; `position` [m] and `orientation` (x y z w); `scale`, the three edges or diameters
        [m], of a mesh factors; `color`; `mesh`, the URI of its file; `triangles`, corners [m]. Followed as the
        joints."""

    def forget_scene(self) -> None:
        """Nobody looks at joints, shapes and objects any more: they cost nothing."""

    def timeline(self) -> TimelineNews:
        """Without waiting: what is new. From the first call on it is followed, until `forget_timeline`."""

    def forget_timeline(self) -> None:
        """Nobody looks at a timeline any more: it costs nothing."""

    def on_state(self, callback: Callable[[Json], None]) -> None:
        """Call back with the whole BlueprintState at each change, in any thread. The latest one comes first."""

    def close(self) -> None: ...
