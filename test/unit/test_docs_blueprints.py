"""docs/blueprints.md: its texts are valid on the bench, its code can be imported, and no key is missing."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from robot_rt_control.blueprint.makers.capability_files import SHIPPED, load_capabilities
from robot_rt_control.blueprint.makers.ros.answers import InstalledTypes
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.schema import (
    MADE,
    CallKeys,
    CandidateKeys,
    CommandKeys,
    NodeKeys,
    ReactionKeys,
    SkillFile,
)
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.command_line.blueprints.main import parser
from robot_rt_control.server.offline_catalogue import offline_catalogue

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "blueprints.md").read_text(encoding="utf-8")
BLOCKS = [(kind, textwrap.dedent(text)) for kind, text in re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)]


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "yaml"])
def test_its_texts_are_valid(text: str) -> None:
    bench, made = offline_catalogue(ROOT / "config" / "bench.yaml"), load_capabilities(SHIPPED).templates
    catalogue = SkillCatalogue(bench, {}, {}, interfaces=InstalledTypes(), made=made)
    check_skill(SkillTemplate(text), catalogue)


def test_its_code_is_a_skill(tmp_path: Path) -> None:
    (code,) = [text for kind, text in BLOCKS if kind == "python"]
    (tmp_path / "own_skills.py").write_text(code)
    found = load_capabilities([tmp_path / "own_skills.py"])
    assert list(found.functions) == ["lift"] and not found.templates["lift"].mistakes


def test_every_key_has_a_line() -> None:
    models = (SkillFile, NodeKeys, CallKeys, CandidateKeys, ReactionKeys, CommandKeys)
    keys = {field.alias or name for model in models for name, field in model.model_fields.items()}
    missing = {key for key in {*keys, *MADE} - {"python"} if not re.search(rf"[`{{ ]{key}[`:, ]", PAGE)}
    assert missing == set()


def test_its_commands_exist() -> None:
    verbs = set(re.findall(r"robot-rt-control-blueprint (\w+)", PAGE))
    assert len(verbs) > 8
    for line in re.findall(r"^ *robot-rt-control-blueprint (.*)$", PAGE, re.MULTILINE):
        parser().parse_args(line.split())
