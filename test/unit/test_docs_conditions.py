"""Programs and conditions that the documentation shows are valid in a workcell that comes with the package."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.conditions.compiler import check_condition
from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.program.check import check_program
from robot_rt_control.program.expression import KnownParameter
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.substitution import Substitution
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.errors import DefinitionError

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
_COMPARISON = re.compile(r" (?:<|<=|>|>=|==|!=) |^(?:approx|is_unknown)\(")


@cache
def catalogues() -> dict[str, Catalogue]:
    return {file.stem: offline_catalogue(file) for file in sorted((ROOT / "config").glob("*.yaml"))}


def programs(text: str) -> list[str]:
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    return [block for block in blocks if re.search(r"^actions:", block, re.MULTILINE)]


def conditions(text: str) -> list[str]:
    """The conditions in code blocks; a list of operators is not one."""
    text = text.replace("approx(x, v, tolerance)", "approx(x, v, 0.1)")  # a place for a number
    shown = [span.strip('"') for span in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)]
    found = [span for span in shown if _COMPARISON.search(span) and not span.startswith(("<", "Reaction"))]
    return found + re.findall(r'Reaction\("([^"]+)"', text)


def names(text: str) -> list[str]:
    return re.findall(r'variable\("([^"]+)"', text)


def mistakes_of_condition(text: str, catalogue: Catalogue) -> str:
    """Why a workcell refuses a condition; empty: it does not. A bare name may be any action's."""
    text = re.sub(r"\b\w+\.count\b", "time", text)  # the visits of a blueprint's node: a number as well

    def resolve(name: str) -> VariableRef | None:
        return (catalogue.variables or {})[name] if "." in name else None

    parameters = {name: KnownParameter(value=1.0) for name in re.findall(r"\$(\w+)", text)}
    try:
        filled = Substitution(parameters, {}).condition(text, text)
        check_condition(filled, resolve, known=lambda: catalogue.variables or ())
    except DefinitionError as error:
        return str(error)
    return ""


def mistakes_of_program(text: str, catalogue: Catalogue) -> str:
    """Likewise, or why it cannot play all roles."""
    try:
        warnings = check_program(ProgramTemplate(text).sample(), catalogue)
    except DefinitionError as error:
        return str(error)
    return "".join(warning for warning in warnings if "the workcell has no part of kind" in warning)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_shows_is_valid_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = [(program, mistakes_of_program) for program in programs(text)]
    shown += [(condition, mistakes_of_condition) for condition in [*conditions(text), *names(text)] if condition]
    for item, mistakes_of in shown:
        if re.fullmatch(r"[\w.\[\]]+", item):
            item += " < 1" if "." in item else ""  # a state variable alone
        refusals = {name: mistakes_of(item, catalogue) for name, catalogue in catalogues().items()}
        assert "" in refusals.values(), "\n".join(f"{name}: {text}" for name, text in refusals.items())


def test_the_pages_are_really_searched() -> None:
    every = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert len(programs(every)) >= 1
    assert "wrist.force.z > $force - 1" in conditions(every) and "is_unknown(x)" in conditions(every)
    assert len(conditions(every)) >= 8 and "rangefinder.distance" in names(every)
    refused = [mistakes_of_condition("wrist.force_sum > $force - 1", c) for c in catalogues().values()]
    assert all("there is no such state variable" in text for text in refused)
    shown = next(program for program in programs(every) if "eye.distance <" in program)
    wrong = shown.replace("eye.distance <", "eye.distanse <")
    refused = [mistakes_of_program(wrong, c) for c in catalogues().values()]
    assert all(refused) and any("there is no such state variable" in text for text in refused)
