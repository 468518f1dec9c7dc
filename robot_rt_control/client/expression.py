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


class Value:
    """A number that is computed in each tick: add, subtract, `abs()` it, and compare it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __add__(self, other: Value | float) -> Value:
        return Value(f"{self} + {_term(other)}")

    def __radd__(self, other: float) -> Value:
        return Value(f"{other!r} + {_term(self)}")

    def __sub__(self, other: Value | float) -> Value:
        return Value(f"{self} - {_term(other)}")

    def __rsub__(self, other: float) -> Value:
        return Value(f"{other!r} - {_term(self)}")

    def __abs__(self) -> Value:
        return Value(f"abs({self})")

    def _compare(self, operator: str, other: Value | float) -> Condition:
        return Condition(f"{self} {operator} {_side(other)}")

    def __lt__(self, other: Value | float) -> Condition:
        return self._compare("<", other)

    def __le__(self, other: Value | float) -> Condition:
        return self._compare("<=", other)

    def __gt__(self, other: Value | float) -> Condition:
        return self._compare(">", other)

    def __ge__(self, other: Value | float) -> Condition:
        return self._compare(">=", other)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]  # a condition, not a truth value
        if isinstance(other, bool):
            return Condition(f"{self} == {str(other).lower()}")
        if not isinstance(other, Value | int | float):
            raise ConditionError(f"{self} ==", expected="a number or a variable", got=repr(other))
        return self._compare("==", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return ~(self == other)

    __hash__ = object.__hash__

    def approx(self, value: Value | float, tolerance: float) -> Condition:
        """|self - value| <= tolerance."""
        return Condition(f"approx({self}, {_side(value)}, {tolerance!r})")


class Variable(Value, Condition):
    """A state variable by its name; a boolean one is a condition by itself."""

    def is_unknown(self) -> Condition:
        """Whether the value is unknown: stale, missing, or of an action that is not active."""
        return Condition(f"is_unknown({self.text})")


def variable(name: str) -> Variable:
    """The state variable of this name, for building conditions."""
    return Variable(name)


def norm(vector: Variable | str) -> Value:
    """The Euclidean norm of a vector state variable, such as "wrist.force"."""
    return Value(f"norm({vector})")


def _side(value: Value | float) -> str:
    return value.text if isinstance(value, Value) else repr(value)


def _term(value: Value | float) -> str:
    """A term of a sum: a sum itself in parentheses."""
    return _side(value) if isinstance(value, Variable | int | float) else f"({value})"
