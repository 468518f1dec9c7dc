"""Messages of any topic that start blueprints: checked against the installed types, followed, and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from robot_rt_control.blueprint.makers.ros.connections import Connections
from robot_rt_control.blueprint.makers.ros.fields import Numbers, check_path, output_of, read_all, type_of
from robot_rt_control.blueprint.runs.armed import Take
from robot_rt_control.blueprint.text.schema import StartTopicKeys
from robot_rt_control.conditions.compiler import check_condition
from robot_rt_control.conditions.evaluation import evaluate_ast
from robot_rt_control.conditions.tree import Condition
from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.vocabulary.errors import DefinitionError

Found = Iterator[tuple[DefinitionError, tuple[str | int, ...]]]


def mistakes_of(keys: StartTopicKeys, parameters: Sequence[Parameter]) -> Found:
    """What is wrong with a start by messages, with the key that it concerns.

    Args:
        parameters: of the blueprint.
    """
    try:
        kind = type_of("msg", keys.type)
    except DefinitionError as error:
        yield error, ("type",)
        return
    if keys.when:
        try:
            _condition(kind, keys.when)
        except DefinitionError as error:
            yield error, ("when",)
    for path in keys.texts:
        try:
            _check_text(kind, path)
        except DefinitionError as error:
            yield error, ("texts", path)
    declared = {parameter.name: parameter for parameter in parameters}
    for name, path in keys.parameters.items():
        try:
            if name in declared and declared[name].type == "text":
                _check_text(kind, path)
            else:
                check_path(kind, path, is_number=name in declared and declared[name].length == 1)
        except DefinitionError as error:
            yield error, ("parameters", name)


def _check_text(kind: Any, path: str) -> None:
    """Raises DefinitionError: it is no field of text."""
    found = check_path(kind, path)
    if not found.startswith(("string", "wstring")):
        raise DefinitionError(f"field {path!r}", expected="a field of text; numbers are compared by `when`", got=found)


def _condition(kind: Any, text: str) -> Condition:
    """A condition over the numbers and booleans of a message. Raises DefinitionError."""
    if "$" in text:
        raise DefinitionError(f"when: {text!r}", expected="fields of the message: there are no $values before a start")

    def resolve(name: str) -> VariableRef:
        found = check_path(kind, name, is_number=True)
        return VariableRef(0, "bool" if found == "boolean" else "int" if "int" in found else "float")

    return check_condition(text, resolve, of="when")[0]


class RosTopics:
    """The topics of one node, as `armed.Topics`."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def follow(self, keys: StartTopicKeys, take: Take) -> Callable[[], None]:
        """See `armed.Topics`."""
        kind = type_of("msg", keys.type)
        judge = judge_of(keys, kind)

        def took(message: Any) -> None:
            fits = judge(message)
            values = {name: output_of(message, path) for name, path in keys.parameters.items()} if fits else {}
            take(fits, values)

        subscription = self._connections.subscribe(
            kind, keys.name, took, latched=keys.latched, reliable=keys.reliable
        )
        return lambda: self._connections.unsubscribe(subscription)


def judge_of(keys: StartTopicKeys, kind: Any) -> Callable[[Any], bool]:
    """What says whether a message is one that starts.

    Raises:
        DefinitionError: the type has no such fields.
    """
    tree = _condition(kind, keys.when) if keys.when else None
    for path in keys.texts:
        _check_text(kind, path)
    for path in keys.parameters.values():
        check_path(kind, path)
    texts = {path: frozenset(map(_plain, words)) for path, words in keys.texts.items()}

    def judge(message: Any) -> bool:
        if tree is not None and evaluate_ast(tree, Numbers(message)) is not True:
            return False
        return all(any(_plain(text) in words for text in _texts(message, path)) for path, words in texts.items())

    return judge


def _texts(message: Any, path: str) -> Iterable[str]:
    return (value for value in read_all(message, path) if isinstance(value, str))


def _plain(text: str) -> str:
    return text.strip().casefold()


