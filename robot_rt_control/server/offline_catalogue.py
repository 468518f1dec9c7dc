"""The catalogue for checking programs without a running workcell: built-in action types, and a workcell file."""

from __future__ import annotations

from pathlib import Path

from robot_rt_control.actions import BUILTIN
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.model.catalogue import workcell_catalogue
from robot_rt_control.model.workcell import load_workcell
from robot_rt_control.server.builder.source import ActionSource, load_action_type
from robot_rt_control.server.builder.syntax_check import check_syntax
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.enums import PartKind


def offline_catalogue(workcell_file: Path | None = None) -> Catalogue:
    """The catalogue. Nothing is compiled, and no hardware is touched.

    Args:
        workcell_file: None: no workcell is known, and parts may have any name.

    Raises:
        DefinitionError: the workcell file, or what an action type declares, is not valid.
        CompileError: an action type that it names cannot be loaded, or the code of a law is refused.
    """
    workcell = load_workcell(workcell_file) if workcell_file is not None else None
    own = workcell.action_types if workcell is not None else ()
    specs = [*BUILTIN, *(f"{t.path or t.module}:{t.class_name}" for t in own)]
    return workcell_catalogue(workcell, map(_declared, map(load_action_type, specs)))


def _declared(source: ActionSource) -> DeclaredType:
    is_law = PartKind.AXIS in source.action_type.slots[0].kinds  # of others nobody asks for the modes
    return DeclaredType.of(source.action_type, check_syntax(source).command_modes if is_law else ())
