"""YAML nodes with their lines."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.text.yaml_reader import YamlReader, parse_scalar
from robot_rt_control.vocabulary.errors import DefinitionError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-007", -7),
        ("+3", 3),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("-.inf", -math.inf),
        ("true", True),
        ("FALSE", False),
        ("", None),
        ("~", None),
        ("null", None),
        ("on", "on"),
        ("yes", "yes"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2026-11-21", "2026-11-21"),
        ("0.2 m", "0.2 m"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_scalars(text: str, value: object) -> None:
    got = parse_scalar(text)
    assert got == value
    assert type(got) is type(value)


def test_not_a_number() -> None:
    assert math.isnan(parse_scalar(".nan"))  # type: ignore[arg-type]  # it is a float


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**64), 2**64))
def test_numbers_round_trip(value: float) -> None:
    got = parse_scalar(repr(value))
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.yaml:1: the document is empty; expected a mapping; got nothing"),
        ("# nothing", "p.yaml:1: the document is empty"),
        ("a: 1\nb: [1", "p.yaml:2: not valid YAML; expected a YAML document; got while parsing a flow sequence"),
        ("a: 1\n\tb: 2", "p.yaml:2: not valid YAML"),
        ("a: 1\n---\nb: 2", "p.yaml:2: not valid YAML; expected a YAML document; got expected a single document"),
        ("a: \x00", "p.yaml:1: not valid YAML; got unacceptable character"),
        ("a: *b", "p.yaml:1: not valid YAML; expected a YAML document; got found undefined alias"),
        ("[" * 5000, "p.yaml:1: nested too deeply; expected a program, at most a few levels deep; got hundreds"),
    ],
)
def test_refuses_what_is_not_yaml(text: str, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        YamlReader(text, "p.yaml")
    assert str(caught.value).startswith(message)


def read(text: str) -> YamlReader:
    return YamlReader(text, "p.yaml")


def test_mapping() -> None:
    reader = read("a: 1\nb: 2")
    assert sorted(reader.mapping(reader.root, "thing", ("a", "b"))) == ["a", "b"]
    with pytest.raises(DefinitionError, match="p.yaml:2: thing: unknown key; expected one of: a, c; got 'b'"):
        reader.mapping(reader.root, "thing", ("a", "c"))
    double = read("a: 1\nb: 2\na: 3")
    with pytest.raises(DefinitionError, match="p.yaml:3: thing: key 'a' is given twice; expected each once; got two"):
        double.mapping(double.root, "thing")
    with pytest.raises(DefinitionError, match=r"p.yaml:1: thing; expected a mapping \(key: value\); got a list"):
        reader.mapping(read("[]").root, "thing")
    strange = read("\n? [a]\n: 1")
    with pytest.raises(DefinitionError, match="p.yaml:2: thing: key; expected a text; got a list"):
        strange.mapping(strange.root, "thing")


def test_texts_are_what_was_written() -> None:
    reader = read("[true, 1e5, on, 'a b', ~, ~]")
    assert reader.texts(read("[true, 1e5, on, 'a b', '~']").root, "t") == ("true", "1e5", "on", "a b", "~")
    assert reader.texts(read("x < 3").root, "t") == ("x < 3",)
    with pytest.raises(DefinitionError, match="p.yaml:1: t; expected a text; got nothing"):
        reader.texts(reader.root, "t")
    with pytest.raises(DefinitionError, match="p.yaml:1: t; expected a list; got a mapping"):
        reader.texts(read("{a: 1}").root, "t")


def test_flags_and_scalars() -> None:
    reader = read("x")
    assert reader.flag(read("true").root, "f") is True
    for text, got in (("'true'", "'true'"), ("yes", "'yes'"), ("1", "'1'"), ("[]", "a list")):
        with pytest.raises(DefinitionError) as caught:
            reader.flag(read(text).root, "f")
        assert str(caught.value) in (
            f"p.yaml:1: f; expected true or false; got {got}",
            "p.yaml:1: f; expected a number, true, false or a text; got a list",
        )
    assert reader.scalar(read("'1'").root, "s") == "1"
    assert reader.scalar(read("1").root, "s") == 1


def test_located_errors_keep_their_kind_and_parts() -> None:
    reader = read("a: 1\nb: x")
    node = reader.mapping(reader.root, "thing")["b"]
    with pytest.raises(DefinitionError) as caught, reader.located(node):
        raise DefinitionError("w", expected="e", got="g", hint="h")
    assert str(caught.value) == "p.yaml:2: w; expected e; got g. h"
    assert caught.value.what == "p.yaml:2: w"
