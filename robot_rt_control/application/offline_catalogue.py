"""What programs are checked against where no workcell is running: built-in action types, and a workcell file."""

from __future__ import annotations

from pathlib import Path

from robot_rt_control.actions import BUILTIN
from robot_rt_control.model.workcell import Workcell, load_workcell
from robot_rt_control.program.catalogue import Catalogue, KnownPart
from robot_rt_control.server.builder.source import load_action_type
from robot_rt_control.server.tables.variables import SYSTEM_VARIABLES, workcell_variables


def offline_catalogue(workcell_file: Path | None = None) -> Catalogue:
    """The catalogue. Nothing is compiled, and no hardware is touched.

    Args:
        workcell_file: None: of a workcell nothing is known, and parts may have any name.

    Raises:
        DefinitionError: the workcell file is not valid.
        CompileError: an action type that it names cannot be loaded.
    """
    specs, parts, variables = list(BUILTIN), None, {v.name: v for v in SYSTEM_VARIABLES}
    if workcell_file is not None:
        workcell = load_workcell(workcell_file)
        specs += [f"{t.path or t.module}:{t.class_name}" for t in workcell.action_types]
        parts, variables = _parts(workcell), workcell_variables(workcell)
    types = [load_action_type(spec).action_type for spec in specs]
    return Catalogue(
        types={t.name: t for t in types}, parts=parts, variables={name: v.ref for name, v in variables.items()}
    )


def _parts(workcell: Workcell) -> dict[str, KnownPart]:
    return {
        part.name: KnownPart(
            kinds=(part.kind.name.lower(),),
            dof=part.dof,
            joint_unit=" or ".join(sorted(set(part.units), reverse=True)),
        )
        for part in workcell.parts
    }
