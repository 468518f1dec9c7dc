"""Sentences start blueprints, or nothing."""

from __future__ import annotations

import re

import pytest

from robot_rt_control.blueprint.phrases import understand
from robot_rt_control.blueprint.skill_file import SkillTemplate
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


def skill(name: str, *phrases: str, parameters: str = "{}") -> SkillTemplate:
    head = f"name: {name}\ncommands: [{{say: {list(phrases)}}}]\nparameters: {parameters}\n"
    return SkillTemplate(f"{head}nodes: {{a: {{wait: 1}}}}")


SKILLS = {
    "welcome": skill(
        "welcome", "Welcome the guest!", "receive {guest}", parameters="{guest: {type: text, default: dear guest}}"
    ),
    "welcome@1": skill("welcome", "receive {guest}"),
    "wipe": skill(
        "wipe", "wipe {times} times {how}", "receive order {n}",
        parameters="{times: {type: int, maximum: 9}, n: {type: int, default: 1},"
        " how: {type: text, choices: [Softly, hard]}}",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "name", "arguments"),
    [
        ("welcome, the GUEST", "welcome", {}),
        ("Receive Mr. O'Hara, please", "welcome", {"guest": "Mr O'Hara please"}),
        ("wipe 3 times softly!", "wipe", {"times": 3, "how": "Softly"}),
        ("STOP!", "", {}),
    ],
)
def test_a_phrase_matches_as_a_whole(sentence: str, name: str, arguments: dict[str, object]) -> None:
    said = understand(sentence, SKILLS)
    assert (said.skill, {a.name: a.value for a in said.arguments}) == (name, arguments)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("please welcome the guest", "'please welcome the guest' is no known phrase; expected one such as"),
        ("", "'' is no known phrase; expected one of 4 phrases"),
        ("receive order 7", "fits several phrases; expected one of them; got welcome ('receive {guest}'), wipe ('rec"),
        ("wipe 12 times hard", "phrase 'wipe {times} times {how}': parameter 'times': out of range"),
        ("wipe two times hard", "parameter 'times': wrong type; expected a whole number; got 'two'"),
    ],
)
def test_anything_else_starts_nothing_and_says_why(sentence: str, message: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(message)):
        understand(sentence, SKILLS)


def test_a_sentence_has_a_bounded_length() -> None:
    with pytest.raises(CapacityError):
        understand("a" * 5000, SKILLS)
    with pytest.raises(CapacityError):
        understand("a " * 65, SKILLS)
    blanks = {"x": skill("x", " ".join(f"{{b{i}}}" for i in range(20)) + " end")}
    with pytest.raises(DefinitionError, match="no known phrase"):
        understand("a " * 64, blanks)
