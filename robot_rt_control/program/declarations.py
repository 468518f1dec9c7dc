"""What the user of a program fills in: values of parameters, and parts for roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.declared_type import check_parameter
from robot_rt_control.definitions.definitions import ParameterValue, Value
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.program.expression import KnownParameter
from robot_rt_control.vocabulary.errors import DefinitionError, unknown
from robot_rt_control.vocabulary.names import check_name, each_once
from robot_rt_control.vocabulary.part_kinds import WORKCELL_KINDS

KINDS = tuple(kind.name.lower() for kind in WORKCELL_KINDS)
_SAMPLE_LENGTH = 3
"""Length of the sample of a parameter of any length."""


@dataclass(frozen=True, kw_only=True)
class Role:
    """A part that a program needs, named by its purpose.

    Args:
        name: used in the program in place of a part's name.
        kinds: of parts that fit; empty: all.
        description: for people.
        default: the part if none is given; empty: one must be given.

    Raises:
        DefinitionError: a bad name, or no kind of a part.
    """

    name: str
    kinds: tuple[str, ...] = ()
    description: str = ""
    default: str = ""

    def __post_init__(self) -> None:
        check_name("name of a role", self.name)
        for kind in self.kinds:
            if kind not in KINDS:
                raise DefinitionError(
                    f"role {self.name!r}: unknown kind of part", expected=unknown("kind", kind, KINDS), got=repr(kind)
                )
        if self.default:
            check_name(f"role {self.name!r}: name of a part", self.default)

    @property
    def shown_kinds(self) -> str:
        """The kinds as text: "arm or base"."""
        return " or ".join(self.kinds) if self.kinds else "any kind"


def check_declaration(parameter: Parameter) -> None:
    """Check the declaration of a parameter, including its default.

    Raises:
        DefinitionError: it contradicts itself.
    """
    check_name("name of a parameter", parameter.name)
    check_parameter("", parameter, lengths=("any",))


def values_of(
    declared: Sequence[Parameter], given: Iterable[ParameterValue], *, of: str, only_given: bool = False
) -> dict[str, KnownParameter]:
    """The given values, checked, with defaults filled in.

    Args:
        of: the program's name in messages.
        only_given: check only the given values; others may be missing.

    Raises:
        DefinitionError: unknown, missing, or given twice; wrong unit, type, length, range or choice.
    """
    checked = check_parameters("", declared, given, dof=1, of=of, only_given=only_given)
    units = {p.name: p.unit for p in declared}
    return {
        name: KnownParameter(
            value=value if isinstance(value, float | int | str) else _as_tuple(value), unit=units[name]
        )
        for name, value in checked.items()
    }


def samples_of(declared: Sequence[Parameter]) -> dict[str, KnownParameter]:
    """The defaults, and a sample for each required value: for checking a program before it is used."""
    found = {}
    for parameter in declared:
        if parameter.default is not None:
            found.update(values_of([parameter], [], of="program"))
        else:
            found[parameter.name] = KnownParameter(value=_sample(parameter), unit=parameter.unit, sampled=True)
    return found


def parts_of(roles: Sequence[Role], given: Mapping[str, str] | Iterable[str], *, of: str) -> dict[str, str]:
    """The part of each role.

    Args:
        given: role → part, or texts "role=part".
        of: the program's name in messages.

    Raises:
        DefinitionError: an unknown role, or one without a part.
    """
    pairs = dict(given) if isinstance(given, Mapping) else _pairs(given, of)
    known = {role.name: role for role in roles}
    for name, part in pairs.items():
        if name not in known:
            raise DefinitionError(
                f"{of} has no role {name!r}",
                expected=unknown("role", name, known),
                got=f"'{name}={part}'",
                hint="" if known else "This program names its parts itself: give none",
            )
        check_name(f"{of}: part of role {name!r}", part)
    missing = [role for role in roles if role.name not in pairs and not role.default]
    if missing:
        raise DefinitionError(
            f"{of}: no part for " + ", ".join(f"role {r.name!r} ({r.shown_kinds})" for r in missing),
            expected=f"'{missing[0].name}=<part>'",
            got="none" if not pairs else ", ".join(f"'{r}={p}'" for r, p in pairs.items()),
        )
    return {role.name: pairs.get(role.name, role.default) for role in roles}


def _pairs(given: Iterable[str], of: str) -> dict[str, str]:
    texts = [given] if isinstance(given, str) else list(given)
    for text in texts:
        if "=" not in text:
            raise DefinitionError(f"{of}: parts", expected="'role=part'", got=repr(text))
    pairs = [text.split("=", 1) for text in texts]
    each_once(f"{of}: role", [role for role, _ in pairs])
    return {role: part for role, part in pairs}


def _as_tuple(value: object) -> Value:
    return tuple(value.tolist())  # type: ignore[attr-defined]  # an array: check_parameters gives nothing else


def _sample(parameter: Parameter) -> Value:
    if parameter.type == "text":
        return parameter.choices[0] if parameter.choices else "text"
    if parameter.type == "bool":
        one: float | int | bool = True
    else:
        low, high = parameter.minimum, parameter.maximum
        one = min(max(1.0, low if low is not None else 1.0), high if high is not None else max(1.0, low or 1.0))
        one = int(one) if parameter.type == "int" else one
    if parameter.length == 1:
        return one
    return (one,) * (parameter.length if isinstance(parameter.length, int) else _SAMPLE_LENGTH)
