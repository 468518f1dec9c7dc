"""YAML as data with lines, and the limits of what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.text import document as document_module
from robot_rt_control.text.document import Document, read_text
from robot_rt_control.text.dump import dump
from robot_rt_control.vocabulary.capacities import MAX_YAML_DEPTH, MAX_YAML_ITEMS
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


@pytest.fixture(params=[yaml.CSafeLoader, yaml.SafeLoader], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Everything holds with the compiled parser and with the other."""
    monkeypatch.setattr(document_module, "LOADER", request.param)
    return request.param


def read(text: str, max_bytes: int = 1 << 20) -> Document:
    return Document(text, "p.yaml", max_bytes=max_bytes)


def refusal(text: str, max_bytes: int = 1 << 20) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        read(text, max_bytes)
    assert str(caught.value).startswith(f"p.yaml:{caught.value.line}: ")
    return caught.value


def test_values_and_lines() -> None:
    document = read("a: 1e-3\nb:\n  - on\n  - {c: 5}\n  - '5'\nd: null\n")
    assert document.data == {"a": 0.001, "b": ["on", {"c": 5}, "5"], "d": None}
    assert str(document.root / "a") == "p.yaml:1: a"
    assert str(document.root / "b" / 1 / "c") == "p.yaml:4: b[1].c"
    assert str(document.root / "d" / "missing") == "p.yaml:6: d.missing"
    assert str(document.root) == "p.yaml:1"
    assert document.line("b") == 2 and document.line("b", 2) == 5 and document.line("b", 9) == 2
    assert document.text("a") == "1e-3" and document.text("b") == document.text("b", 7) == ""


def test_a_part_is_a_document_with_the_same_lines() -> None:
    part = read("a: 1\nb:\n  c:\n    - x\n    - y\n").part("b", "c")
    assert part.data == ["x", "y"]
    assert (part.line(), part.line(1), part.text(1), str(part.root / 1)) == (3, 5, "y", "p.yaml:5: [1]")


def test_keys_are_texts_as_written() -> None:
    assert read("1: a\ntrue: b\n'': c\n").data == {"1": "a", "true": "b", "": "c"}


def test_an_alias_repeats_an_item_with_the_line_of_its_own() -> None:
    document = read("a: &x\n  b: 1\nc: *x\nd: &x 2\ne: *x\n*x : key\n")
    assert document.data == {"a": {"b": 1}, "c": {"b": 1}, "d": 2, "e": 2, "2": "key"}
    assert (document.line("c"), document.line("c", "b")) == (3, 2)


def test_a_tag_makes_a_text_or_is_refused() -> None:
    assert read("a: !!str 1\nb: ! 2\n").data == {"a": "1", "b": "2"}
    assert str(refusal("a: 1\nb: !!float 1\n")) == (
        "p.yaml:2: tag tag:yaml.org,2002:float; expected no tag, or !!str; got another one"
    )
    assert str(refusal("!!python/object:os.system {}")).endswith("os.system; expected no tag; got one")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: the document is empty; expected a mapping; got nothing"),
        ("# nothing", "1: the document is empty"),
        ("a: 1\nb: [1", "2: not valid YAML; expected a YAML document; got while parsing a flow sequence"),
        ("a: 1\n\tb: 2", "2: not valid YAML"),
        ("a: 1\n---\nb: 2", "2: not valid YAML; expected a single document; got another one"),
        ("é: ä\na: \x00", "2: not valid YAML; expected a YAML document; got the character '\\x00'"),
        ("a: 1\nb: \ud800", "2: not valid YAML; expected a UTF-8 text; got surrogates not allowed"),
        ("a: *b", "1: alias *b; expected the name of an item above it; got an undefined one"),
        ("a: &x [*x]", "1: alias *x; expected the name of an item above it; got one that contains itself"),
        ("a: 1\nb: 2\na: 3", "3: key 'a' is given twice; expected each once; got two"),
        ("a:\n  b: 1\n  b: 2", "3: a: key 'b' is given twice"),
        ("\n? [a]\n: 1", "2: key; expected a text; got a list or a mapping"),
        ("? " * 2000, "1: key; expected a text; got a list or a mapping"),
        ("a: &x []\n*x : 1", "2: key; expected a text; got a list or a mapping"),
        ("a:\n  ~: 1", "2: a: key; expected a text; got nothing"),
    ],
)
def test_refuses_what_is_not_yaml(text: str, message: str) -> None:
    assert message in str(refusal(text))


def test_size_is_limited(tmp_path: Path) -> None:
    assert read("a: ä", 5).data == {"a": "ä"}
    assert str(refusal("a: ää", 5)) == "p.yaml:1: the text is too large; expected at most 5 bytes; got 7 bytes"
    path = tmp_path / "p.yaml"
    path.write_text("a: ä")
    assert Document.load(path, max_bytes=5).source == str(path)
    path.write_text("a: ää")
    with pytest.raises(CapacityError, match="p.yaml: the text is too large; expected at most 5 bytes; got more"):
        read_text(path, 5)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="none.yaml' cannot be read; expected a readable UTF-8 .*; got .*No such"):
        read_text(tmp_path / "none.yaml", 5)
    (tmp_path / "p").write_bytes(b"\xff")
    with pytest.raises(DefinitionError, match="p' cannot be read; expected a readable UTF-8 text file; got 'utf-8'"):
        read_text(tmp_path / "p", 5)


class Counting:
    """Counts the events that are taken from the parser: the work that is done, whatever the machine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events = 0
        parse = yaml.parse

        def counted(*args: Any, **kwargs: Any) -> Any:
            for event in parse(*args, **kwargs):
                self.events += 1
                yield event

        monkeypatch.setattr(document_module.yaml, "parse", counted)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_depth_is_limited_before_anything_is_built(opening: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    error = refusal("\n" + opening * 2000)
    assert isinstance(error, CapacityError)
    assert str(error) == f"p.yaml:2: nested too deeply; expected at most {MAX_YAML_DEPTH} (MAX_YAML_DEPTH); got more"
    assert counting.events <= 3 * MAX_YAML_DEPTH


def aliases(levels: int, width: int = 10) -> str:
    lines = [f"a0: &a0 [{', '.join('x' * width)}]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, levels)]
    return "\n".join(lines)


def test_items_that_aliases_repeat_count(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    assert len(read(aliases(3)).data["a2"]) == 10
    counting.events = 0
    error = refusal(aliases(60))
    assert isinstance(error, CapacityError) and error.line == 5
    assert "too many items, those included that aliases repeat; expected at most 100000 (MAX_YAML_ITEMS)" in str(error)
    assert counting.events < 100


def test_depth_counts_through_aliases() -> None:
    levels = "\n".join(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 60))
    error = refusal(f"a0: &a0 x\n{levels}")
    assert "nested too deeply" in str(error) and error.line == MAX_YAML_DEPTH + 1


@pytest.mark.long
def test_items_are_limited() -> None:
    error = refusal("[" + "\n0," * (MAX_YAML_ITEMS + 1) + "]")
    assert "too many items" in str(error) and error.line == MAX_YAML_ITEMS + 1


data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.just("\n"), max_size=9)
    | st.sampled_from(
        ["1e5", "0o17", "on", "null", "~", "", "1:30", ".nan", "a: b", "#", "<<", "$x", "!x", "&x", "*x"]
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc1 :", max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(data)
def test_what_is_dumped_is_read_as_the_same(value: Any) -> None:
    assert repr(read(dump(value)).data) == repr(value)


PIECES = [
    *"{}[]:,-&*!|>'\"#%@`? \n\t",
    "a",
    "b",
    ": ",
    "- ",
    "\n  ",
    "&a ",
    "*a",
    "*a, ",
    "1",
    "---\n",
    "!!str ",
    "\x00",
]


@settings(deadline=None, max_examples=tries(75, whole=300))
@given(st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@example("[" * 2000)
@example(aliases(9))
@example("? " * 900)
def test_any_text_is_data_or_refused_with_a_line_and_bounded_work(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        counting = Counting(patch)
        try:
            document = read(text)
        except DefinitionError as error:
            assert error.line >= 1 and str(error).startswith(f"p.yaml:{error.line}: ")
        else:
            assert items(document.data) <= MAX_YAML_ITEMS
        assert counting.events <= 2 * len(text) + 8


def items(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(items, children))
