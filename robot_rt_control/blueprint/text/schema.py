"""All keys of a skill's file, for reading it and, as a JSON Schema, for editors.

The models describe the text before skills are found and values are computed. Roles, parameters and values are those of
programs (program/schema.py).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from robot_rt_control.blueprint.text.levels import CATEGORIES, LEVELS
from robot_rt_control.program.schema import (
    GivenValue,
    Names,
    ParameterDeclaration,
    RoleDeclaration,
    Texts,
    ValueOf,
    View,
)
from robot_rt_control.text.json_schema import json_schema, write_json_schema
from robot_rt_control.text.schema import Each, Flag, Model, Name, refuse
from robot_rt_control.vocabulary.names import TYPE_PATTERN

SCHEMA_FILE = Path(__file__).resolve().parents[2] / "blueprint.schema.json"
"""Part of the package; `write_schema` makes it."""

_SKILL_PATTERN = rf"{TYPE_PATTERN}(?:@[1-9][0-9]{{0,8}})?"
_MAX_TIMES = 1_000_000
_LONGEST_S = 1e9
MAX_TITLE = 100
"""Letters of a name for people."""
STATUSES = ("succeeded", "aborted", "canceled", "rejected")
"""Status of a goal of a ROS action."""
MADE = ("ros_action", "ros_service", "publish", "topic", "python")
"""Keys of `is` for what neither programs nor other skills do."""


def _reference(value: str) -> str:
    if not re.fullmatch(_SKILL_PATTERN, value):
        raise refuse("the name of a skill such as greet or greet@2")
    return value


def _times(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_TIMES:
        return value
    raise refuse(f"a number of times, 0 to {_MAX_TIMES}")


def _condition(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _then(value: Any) -> Any:
    """A single node's id, or a list of ids and candidates."""
    listed = value if isinstance(value, list) else [value]
    return [{"go": item} if isinstance(item, str) else item for item in listed]


def _title(value: Any) -> Any:
    if isinstance(value, str) and 0 < len(value) <= MAX_TITLE and value == value.strip() and value.isprintable():
        return value
    raise refuse(f"a name for people: one line of 1 to {MAX_TITLE} letters")


Title = Annotated[str, BeforeValidator(_title, json_schema_input_type=Annotated[str, Field(max_length=MAX_TITLE)])]
SkillName = Annotated[
    str, AfterValidator(_reference), Field(json_schema_extra={"pattern": f"^{_SKILL_PATTERN}$"})
]
Times = Annotated[int, BeforeValidator(_times, json_schema_input_type=Annotated[int, Field(ge=0, le=_MAX_TIMES)])]
Seconds = Annotated[float, Field(ge=0.0, le=_LONGEST_S)]
Condition = Annotated[str, BeforeValidator(_condition, json_schema_input_type=str | bool)]


class ResultDeclaration(Model):
    """A way in which the skill can end."""

    failure: Flag = False
    """It did not reach what it is for."""
    description: str = ""


class OutputDeclaration(Model):
    """A value that the skill gives to what follows it: `$node.name`."""

    type: Literal["float", "int", "bool", "text"] = "float"
    unit: str = ""
    value: ValueOf | None = None
    """What is computed for it when a graph ends, such as $seat.wish."""
    description: str = ""


class Question(Model):
    """A question to the robot's operator; its answers are results."""

    text: ValueOf
    answers: Names = ("yes", "no")
    titles: Annotated[dict[Name, Title], Each] = {}
    """How people see answers: {again: try again}."""


class CallKeys(Model):
    """What a node, or a branch of one, does: exactly one of skill, wait, wait_until, say, ask, log, set, all_of,
    first_of."""

    skill: SkillName | None = None
    """Name of a skill, program or action type: greet, greet@2."""
    with_: Annotated[dict[Name, GivenValue], Each, Field(alias="with")] = {}
    """Values of its parameters."""
    parts: Annotated[dict[Name, Name], Each] = {}
    """Role of the skill → part, or role of this one."""
    until: Condition = ""
    """For an action type, the condition that ends it; default: its is_done."""
    wait: GivenValue | None = None
    """[s] of the loop's time."""
    wait_until: Condition | None = None
    """A condition."""
    say: ValueOf | None = None
    """A text for the speech output."""
    ask: Question | None = None
    log: ValueOf | None = None
    """A text for the run's log."""
    set: Annotated[dict[Name, GivenValue] | None, Each] = None
    """New values of this graph; all are computed before any is set."""
    all_of: Annotated[dict[Name, CallKeys] | None, Each] = None
    """Branches side by side: done when all are."""
    first_of: Annotated[dict[Name, CallKeys] | None, Each] = None
    """Branches side by side: the first that ends decides."""


class CandidateKeys(Model):
    """What may follow a node. The first one that holds is taken."""

    on: Texts = ("success",)
    """A result, several, success, failure, or any."""
    when: Condition = ""
    """A condition over state variables, and $outputs of nodes."""
    go: Name = ""
    """The node that follows."""
    end: Name = ""
    """The graph ends with this result."""


class NodeKeys(CallKeys):
    """A node of the graph."""

    title: Title | None = None
    """How people see its name."""
    retry: Times = 0
    """How often it is tried again after failures."""
    repeat: Times = 0
    """How often it is done again after successes."""
    manual: Flag = False
    """It is reached by a person's jump: nothing needs to lead here."""
    timeout: GivenValue | None = None
    """[s] after which an attempt is cancelled."""
    then: Annotated[
        list[CandidateKeys],
        Each,
        BeforeValidator(_then, json_schema_input_type=Name | CandidateKeys | list[Name | CandidateKeys]),
    ] = []
    """The node that follows its success, or candidates; none: the graph ends."""


class ReactionKeys(Model):
    """A condition that leads to a node from every node of the graph."""

    when: Condition
    go: Name
    at: Literal["once", "end"] = "once"
    """once: the present node is cancelled; end: it ends first."""


class EndKeys(Model):
    """How the answer of a ROS node becomes a result. The first one that holds is taken."""

    on: Annotated[Texts, AfterValidator(lambda words: tuple(_word("status", word, STATUSES) for word in words))] = ()
    """For an action, the goal's status: succeeded, aborted, canceled, rejected; default: any."""
    when: Condition = ""
    """A condition over the answer's numbers and booleans by the names of its fields: error_code == 0."""
    end: Name
    """The result."""


class RosKeys(Model):
    """What all skills made of ROS have."""

    name: str
    """Name of the action, service or topic; relative to the workcell's namespace."""
    type: str
    """Such as std_srvs/srv/Trigger."""


class _SentKeys(RosKeys):
    fields: dict[str, Any] = {}
    """What is sent: field → value; $parameters are computed. Others keep their defaults."""


class _AnsweredKeys(RosKeys):
    results: list[EndKeys] = []
    """None that holds: done if it went well, failed otherwise."""
    outputs: dict[Name, str] = {}
    """Output → field of the answer: pose.position.x, data[0]."""


class RosActionKeys(_SentKeys, _AnsweredKeys):
    """A goal of a ROS action."""


class RosServiceKeys(_SentKeys, _AnsweredKeys):
    """A call of a ROS service. A field `success` that is false means failed."""


class PublishKeys(_SentKeys):
    """A message to publish; it is done once somebody listens, or after 1 s."""

    latched: Flag = False
    """Those who listen later get it as well."""


class TopicKeys(_AnsweredKeys):
    """A message to wait for."""

    when: Condition = ""
    """Which message: a condition over its fields; default: the first."""
    latched: Flag = False
    """A message that was published before counts."""


class StartTopicKeys(RosKeys):
    """Messages that start a blueprint: what another node has recognised, or any field of any topic."""

    when: Condition = ""
    """Which messages: a condition over their numbers and booleans, results[0].score > 0.8."""
    texts: dict[str, Texts] = {}
    """Which messages: field → the texts that it may have; with [*], that any of them may have."""
    parameters: Annotated[dict[Name, str], Each] = {}
    """Parameter → field of the message that fills it."""
    hold: Seconds = 0.0
    """[s] for which all messages must be such ones before it starts."""
    gap: Seconds = 1.0
    """[s] without such a message after which the next one counts as a new appearance."""
    latched: Flag = False
    """A message that was published before counts."""
    reliable: Flag = False
    """No message is lost; a publisher that is not reliable is not heard then."""


class CommandKeys(Model):
    """What starts a blueprint."""

    say: Texts = ()
    """Phrases; {name} fills a parameter."""
    gesture: Names = ()
    when: Condition = ""
    """A condition over state variables."""
    topic: StartTopicKeys | None = None
    """Messages of another node."""
    cooldown: Seconds = 0.0
    """[s] during which neither `when` nor `topic` starts it again."""
    busy: Literal["refuse", "wait", "replace"] = "refuse"
    """What happens while another run holds its parts."""


class IsKeys(CallKeys):
    """What a skill is that has no nodes: one call, or what ROS or Python does."""

    ros_action: RosActionKeys | None = None
    ros_service: RosServiceKeys | None = None
    publish: PublishKeys | None = None
    topic: TopicKeys | None = None
    python: str | None = None
    """A function of a file that the workcell names: vision.py:count. Written by the package, not by hand."""

    @property
    def made(self) -> str:
        """Which of the keys below MADE it has; empty: none."""
        return next((key for key in MADE if getattr(self, key) is not None), "")


class SkillFile(Model):
    """A skill or a blueprint, for robot_rt_control."""

    model_config = ConfigDict(title="robot_rt_control blueprint")

    name: Name = ""
    """The name under which it is stored."""
    level: Annotated[str, AfterValidator(lambda level: _word("level", level, LEVELS)),
                     Field(json_schema_extra={"enum": list(LEVELS)})] = "blueprint"  # fmt: skip
    category: Annotated[str, AfterValidator(lambda word: _word("category", word, CATEGORIES)),
                        Field(json_schema_extra={"enum": list(CATEGORIES)})] = ""  # fmt: skip
    """Category of a capability."""
    title: Title | None = None
    """How people see its name."""
    description: str = ""
    scenarios: Names = ()
    """For which it is a value skill."""
    tags: Names = ()
    commands: Annotated[list[CommandKeys], Each] = []
    roles: Annotated[dict[Name, RoleDeclaration | None], Each] = {}
    parameters: Annotated[dict[Name, ParameterDeclaration | None], Each] = {}
    results: Annotated[dict[Name, ResultDeclaration | None], Each] = {}
    """Beside done, failed, timeout and cancelled."""
    outputs: Annotated[dict[Name, OutputDeclaration | None], Each] = {}
    values: Annotated[dict[Name, ParameterDeclaration | None], Each] = {}
    """Values that `set` changes; each call begins with their defaults."""
    is_: Annotated[IsKeys | None, Field(alias="is")] = None
    """It is this one call, such as a program with fixed values; then it has no nodes, and ends as this call does."""
    start: Name = ""
    """The node that begins."""
    nodes: Annotated[dict[Name, NodeKeys], Each] = {}
    reactions: Annotated[list[ReactionKeys], Each] = []
    view: View = {}
    """Places of nodes that a person moved: node → [x, y]; nodes that are folded into one box of the editor's picture:
    box → {nodes: [names]}. Nothing but pictures reads it."""


def _word(what: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise refuse(f"a {what}: {', '.join(known)}")
    return value


def skill_schema() -> dict[str, Any]:
    """The JSON Schema of skills' files."""
    return json_schema(SkillFile)


def write_schema(path: Path = SCHEMA_FILE) -> None:
    """Write the JSON Schema: `python -m robot_rt_control.blueprint.text.schema`."""
    write_json_schema(SkillFile, path)


if __name__ == "__main__":
    write_schema()
