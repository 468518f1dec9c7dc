"""Conditions as Python expressions: `variable("rangefinder.distance") < 0.2`. They become the condition's text."""

from __future__ import annotations

from robot_rt_control.vocabulary.errors import ConditionError


class Condition:
    """A condition as text. Combine with `&`, `|` and `~` (Python's `and`, `or`, `not` cannot be overloaded)."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __and__(self, other: Condition | str) -> Condition:
        return Condition(f"({self}) and ({other})")

    def __or__(self, other: Condition | str) -> Condition:
        return Condition(f"({self}) or ({other})")

    def __invert__(self) -> Condition:
        return Condition(f"not ({self})")

    def __bool__(self) -> bool:
        raise ConditionError(
            f"the condition {self.text!r} has no truth value here: it is evaluated in each tick",
            hint="Combine conditions with & | ~ instead of 'and', 'or', 'not'; write a < x < b as two conditions",
        )


class Variable(Condition):
    """A state variable by its name; a boolean one is a condition by itself."""

    def _compare(self, operator: str, other: Variable | float) -> Condition:
        return Condition(f"{self.text} {operator} {other.text if isinstance(other, Variable) else repr(other)}")

    def __lt__(self, other: Variable | float) -> Condition:
        return self._compare("<", other)

    def __le__(self, other: Variable | float) -> Condition:
        return self._compare("<=", other)

    def __gt__(self, other: Variable | float) -> Condition:
        return self._compare(">", other)

    def __ge__(self, other: Variable | float) -> Condition:
        return self._compare(">=", other)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]  # a condition, not a truth value
        if isinstance(other, bool):
            return Condition(f"{self.text} == {str(other).lower()}")
        if not isinstance(other, Variable | int | float):
            raise ConditionError(f"{self.text} ==", expected="a number or a variable", got=repr(other))
        return self._compare("==", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return ~(self == other)

    __hash__ = Condition.__hash__

    def approx(self, value: Variable | float, tolerance: float) -> Condition:
        """|self - value| <= tolerance."""
        other = value.text if isinstance(value, Variable) else repr(value)
        return Condition(f"approx({self.text}, {other}, {tolerance!r})")

    def is_unknown(self) -> Condition:
        """Whether the value is unknown: stale, missing, or of an action that is not active."""
        return Condition(f"is_unknown({self.text})")


def variable(name: str) -> Variable:
    """The state variable of this name, for building conditions."""
    return Variable(name)
