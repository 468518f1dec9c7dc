"""Finding users' programs and their arguments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_rt_control.application.user_program import bind, load_program
from robot_rt_control.vocabulary.errors import DefinitionError


@pytest.fixture(autouse=True)
def import_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "beside_the_program.py").write_text("VALUE = 7\n")
    path = tmp_path / "03_program.py"
    path.write_text(
        "import beside_the_program\n"
        "def main(client): return beside_the_program.VALUE\n"
        "def other(client): return 'other'\n"
        "constant = 1\n"
    )
    return path


def test_a_file_has_main_or_the_named_function(program: Path) -> None:
    assert load_program(str(program))(None) == 7
    assert load_program(f"{program}:other")(None) == "other"


def test_a_file_is_read_anew_each_time(program: Path) -> None:
    load_program(str(program))
    program.write_text("def main(client): return 'new'\n")
    assert load_program(str(program))(None) == "new"


def test_a_module_has_main_or_the_named_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_package").mkdir()
    (tmp_path / "some_package" / "program.py").write_text("def main(client): return 1\ndef two(client): return 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_program("some_package.program")(None) == 1
    assert load_program("some_package.program:two")(None) == 2


def refusal(program: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        load_program(program)
    return str(caught.value)


def test_what_is_not_there_is_refused(program: Path, tmp_path: Path) -> None:
    assert refusal(f"{tmp_path}/none.py") == (
        f"program '{tmp_path}/none.py'; expected a file; got nothing at {tmp_path}/none.py"
    )
    assert refusal(f"{program}:othre") == (
        f"program '{program}:othre': function 'othre'; "
        "expected one of the known names; did you mean 'other'; got no function"
    )
    assert refusal(f"{program}:constant").endswith("got no function")
    form = "file.py, file.py:function, package.module or package.module:function"
    assert refusal("no_such_module:main") == (
        f"program 'no_such_module:main'; expected {form}; got No module named 'no_such_module'. "
        "Check the spelling and PYTHONPATH"
    )
    assert refusal("a.py:") == f"program 'a.py:'; expected {form}"
    assert refusal(":main") == f"program ':main'; expected {form}"


def test_a_mistake_inside_a_module_is_shown_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_more.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        load_program("needs_more")


def run(
    client: object, seconds: float, times: int = 1, loud: bool = False, name: str = "x", free: object = None
) -> None:
    """A program."""


def test_arguments_become_what_their_annotations_say() -> None:
    client = object()
    assert bind(run, client, ["1.5"]) == (client, 1.5)
    values = bind(run, client, ["2", "3", "Yes", "4", "5"])
    assert values == (client, 2.0, 3, True, "4", "5")
    assert [type(value) for value in values[1:]] == [float, int, bool, str, str]


def test_any_number_of_arguments() -> None:
    def program(client: object, *numbers: int) -> None:
        """A program."""

    assert bind(program, None, []) == (None,)
    assert bind(program, None, ["1", "2"]) == (None, 1, 2)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["one"], "program 'run', argument 'seconds'; expected a number; got 'one'"),
        (["1", "1.5"], "program 'run', argument 'times'; expected a whole number; got '1.5'"),
        (["1", "1", "maybe"], "program 'run', argument 'loud'; expected true or false; got 'maybe'"),
    ],
)
def test_arguments_of_another_type_are_refused(texts: list[str], message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        bind(run, None, texts)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("texts", "problem"), [([], "missing a required argument: 'seconds'"), (["1"] * 6, "too many positional arguments")]
)
def test_the_wrong_number_of_arguments_is_refused(texts: list[str], problem: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        bind(run, None, texts)
    assert str(caught.value).startswith("program 'run': its arguments; expected client and those of run(client: ")
    assert str(caught.value).endswith(f"; got {problem}")
