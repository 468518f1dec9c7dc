"""A goal, a call, a message or a wait for one, under way. Used in the executor's thread; answers come in others."""

from __future__ import annotations

import math
import uuid
from typing import Any

from action_msgs.msg import GoalInfo

from robot_rt_control.blueprint.graph import events, orders
from robot_rt_control.blueprint.graph.results import CANCELLED, DONE, FAILED
from robot_rt_control.blueprint.makers.ros.answers import (
    KINDS,
    ending,
    fill,
    holds,
    sent_type,
    values_of_order,
)
from robot_rt_control.blueprint.makers.ros.connections import Connections
from robot_rt_control.blueprint.makers.ros.fields import short_text, type_of
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.text.schema import RosKeys
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.vocabulary.defaults import GOAL_ANSWER_S

SERVER_S = 5.0
"""[s] of the loop's time for a server to be there."""
FEEDBACK_S = 0.5
"""[s] of the loop's time from one text of a goal's feedback to the next."""
GONE_S = 3.0
"""[s] for which the server of a goal may be away."""
LISTENER_S = 1.0
"""[s] for somebody to listen before a message is published."""
_STATUS = {4: "succeeded", 5: "canceled", 6: "aborted"}


class _RosWork:
    """What all have.

    Raises:
        DefinitionError: the type is not installed, or a field cannot be filled.
    """

    def __init__(
        self, key: str, order: orders.StartSkill, template: SkillTemplate, robot: Robot, ros: Connections
    ) -> None:
        assert template.content.is_ is not None
        keys: Any = getattr(template.content.is_, key)
        assert isinstance(keys, RosKeys)
        self.keys: Any = keys
        self.order, self.template, self.robot, self.ros = order, template, robot, ros
        self.type = type_of(KINDS[key], keys.type)
        self.values = values_of_order(order)
        self.message = fill(sent_type(key, self.type), getattr(keys, "fields", {}), self.values)
        self.since = self.now()

    def now(self) -> float:
        """[s] of the loop."""
        return self.robot.backend.present()[1]

    def failed(self, reason: str) -> events.Ended:
        """It ends as failed."""
        return events.Ended(activity=self.order.activity, result=FAILED, reason=f"{self.keys.name}: {reason}")

    def ends(self, status: str, message: Any) -> events.Ended:
        """It ends by an answer."""
        return ending(self.order, self.keys, self.template, self.values, status, message)

    def cancelled(self) -> events.Ended:
        return events.Ended(activity=self.order.activity, result=CANCELLED)

    def answer(self, text: str) -> None:
        pass  # it never asks

    is_at_rest = True
    """Nothing of this session moves."""


class GoalWork(_RosWork):
    """A goal of a ROS action. Its identity is in the log before it is sent."""

    def __init__(
        self, key: str, order: orders.StartSkill, template: SkillTemplate, robot: Robot, ros: Connections
    ) -> None:
        super().__init__(key, order, template, robot, ros)
        self._client = ros.action_client(self.type, self.keys.name)
        self._id = uuid.uuid4()
        self._told, self._cancel, self._cancel_sent = False, False, False
        self._sent: Any = None
        self._sent_at = 0.0
        self._feedback: Any = None
        self._shown, self._shown_at = "", -math.inf
        self._result: Any = None
        self._away_since: float | None = None

    def poll(self) -> events.EngineEvent | None:
        if self._sent is None:
            return self._before()
        if not self._sent.done():
            return self._given_up(self._gone() or self._unanswered())
        handle = self._sent.result()
        if handle is None:
            return self.failed("the goal was not answered")
        if not handle.accepted:
            return self.ends("rejected", None)
        if self._result is None:
            self._result = handle.get_result_async()
            self._result.add_done_callback(self._changed)
        if self._result.done():
            answer = self._result.result()
            if answer is None:
                return self.failed("no result came")
            return self.ends(_STATUS.get(answer.status, "aborted"), answer.result)
        if self._cancel and not self._cancel_sent:
            self._cancel_sent = True
            handle.cancel_goal_async()
        return self._given_up(self._gone()) or self._progress()

    def _take(self, message: Any) -> None:
        """In a thread of the node. Nobody is woken: the followers of a run look often enough."""
        self._feedback = message.feedback

    def _progress(self) -> events.EngineEvent | None:
        """The server's last text, if that is new and not too soon after the text before."""
        feedback, now = self._feedback, self.now()
        if feedback is None or self._cancel or now - self._shown_at < FEEDBACK_S:
            return None
        self._feedback = None
        text = short_text(feedback)
        if text == self._shown:
            return None
        self._shown, self._shown_at = text, now
        return events.Told(activity=self.order.activity, what="progress", content={"text": text})

    def _before(self) -> events.EngineEvent | None:
        if self._cancel:
            return self.cancelled()
        if not self._client.server_is_ready():
            return self.failed("no action server is there") if self.now() - self.since > SERVER_S else None
        if not self._told:
            self._told = True
            content = {"server": self.ros.full_name(self.keys.name), "type": self.keys.type, "goal": self._id.hex}
            return events.Told(activity=self.order.activity, what="goal", content=content)
        info = GoalInfo()
        info.goal_id.uuid = list(self._id.bytes)
        self._sent_at = self.now()
        self._sent = self._client.send_goal_async(self.message, goal_uuid=info.goal_id, feedback_callback=self._take)
        self._sent.add_done_callback(self._changed)
        return None

    def _gone(self) -> events.EngineEvent | None:
        """Ended, if the server is away for too long."""
        if self._client.server_is_ready():
            self._away_since = None
            return None
        self._away_since = self.now() if self._away_since is None else self._away_since
        return self.failed("its action server is gone") if self.now() - self._away_since > GONE_S else None

    def _unanswered(self) -> events.EngineEvent | None:
        """Ended, if the server has neither accepted nor rejected the goal for too long."""
        if self.now() - self._sent_at <= GOAL_ANSWER_S:
            return None
        return self.failed(f"its action server neither accepted nor rejected the goal within {GOAL_ANSWER_S:g} s")

    def _changed(self, _: Any) -> None:
        self.robot.on_change()

    def cancel(self) -> None:
        self._cancel = True
        self.robot.on_change()

    def _given_up(self, ended: events.EngineEvent | None) -> events.EngineEvent | None:
        if ended is not None:
            self.abandon()
        return ended

    def abandon(self) -> str:
        """Nobody follows the goal any more, so it must not go on, whenever it is accepted."""
        if self._sent is not None:
            self._sent.add_done_callback(_cancel_late)  # its answer may also have come since the last look
            goal = {"what": "goal", "server": self.ros.full_name(self.keys.name), "goal": self._id.hex}
            self.ros.cancel_goals([goal])  # its answer may be lost, or its server away for a while
        return f"goal {self._id.hex} of action {self.keys.name} did not end, and was abandoned"


def _cancel_late(sent: Any) -> None:
    """A server answers after its skill was abandoned."""
    handle = sent.result()
    if handle is not None and handle.accepted:
        handle.cancel_goal_async()


class CallWork(_RosWork):
    """A call of a ROS service. It cannot be cancelled: its answer is ignored then."""

    def __init__(
        self, key: str, order: orders.StartSkill, template: SkillTemplate, robot: Robot, ros: Connections
    ) -> None:
        super().__init__(key, order, template, robot, ros)
        self._client = ros.service_client(self.type, self.keys.name)
        self._answer: Any = None
        self._cancel = False
        self._away_since: float | None = None

    def poll(self) -> events.EngineEvent | None:
        if self._cancel:
            if self._answer is not None:
                self._client.remove_pending_request(self._answer)
            return self.cancelled()
        ready = self._client.service_is_ready()
        if self._answer is None:
            if not ready:
                return self.failed("no service is there") if self.now() - self.since > SERVER_S else None
            self._answer = self._client.call_async(self.message)
            self._answer.add_done_callback(lambda _: self.robot.on_change())
        if self._answer.done():
            answer = self._answer.result()
            return self.ends("succeeded", answer) if answer is not None else self.failed("no answer came")
        self._away_since = None if ready else self.now() if self._away_since is None else self._away_since
        if self._away_since is not None and self.now() - self._away_since > GONE_S:
            return self.failed("its server is gone")
        return None

    def cancel(self) -> None:
        self._cancel = True
        self.robot.on_change()

    def abandon(self) -> str:
        return f"call of service {self.keys.name} was abandoned"


class PublishWork(_RosWork):
    """A message to publish."""

    def __init__(
        self, key: str, order: orders.StartSkill, template: SkillTemplate, robot: Robot, ros: Connections
    ) -> None:
        super().__init__(key, order, template, robot, ros)
        self._publisher = ros.publisher(self.type, self.keys.name, latched=self.keys.latched)
        self._cancel = False

    def poll(self) -> events.EngineEvent | None:
        if self._cancel:
            return self.cancelled()
        heard = self.keys.latched or self._publisher.get_subscription_count() > 0
        if not heard and self.now() - self.since < LISTENER_S:
            return None
        self._publisher.publish(self.message)
        return events.Ended(activity=self.order.activity, result=DONE)

    def cancel(self) -> None:
        self._cancel = True

    def abandon(self) -> str:
        return f"message to {self.keys.name} was abandoned"


class TopicWork(_RosWork):
    """A wait for a message."""

    def __init__(
        self, key: str, order: orders.StartSkill, template: SkillTemplate, robot: Robot, ros: Connections
    ) -> None:
        super().__init__(key, order, template, robot, ros)
        self._found: Any = None
        self._cancel = False
        self._subscription = ros.subscribe(self.type, self.keys.name, self._take, latched=self.keys.latched)

    def _take(self, message: Any) -> None:
        """In a thread of the node."""
        if self._found is None and holds(self.keys.when, message, self.values):
            self._found = message
            self.robot.on_change()

    def poll(self) -> events.EngineEvent | None:
        if self._found is None and not self._cancel:
            return None
        self.ros.unsubscribe(self._subscription)
        return self.cancelled() if self._cancel else self.ends("succeeded", self._found)

    def cancel(self) -> None:
        self._cancel = True

    def abandon(self) -> str:
        self.ros.unsubscribe(self._subscription)
        return f"wait for {self.keys.name} was abandoned"


WORKS: dict[str, type[GoalWork | CallWork | PublishWork | TopicWork]] = {
    "ros_action": GoalWork,
    "ros_service": CallWork,
    "publish": PublishWork,
    "topic": TopicWork,
}
