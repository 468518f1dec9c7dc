"""What the text of a source means."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.server.types.action_sources import Source, resolve
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError


@pytest.mark.parametrize(
    ("text", "place", "class_name"),
    [
        ("/a/my.py", "/a/my.py", ""),
        ("/a/my.py:Wave", "/a/my.py", "Wave"),
        ("package.module:Wave", "package.module", "Wave"),
        ("package.module:Outer.Wave", "package.module", "Outer.Wave"),
        ("package.module", "package.module", ""),
        ("module:Wave", "module", "Wave"),
    ],
)
def test_files_and_modules(text: str, place: str, class_name: str) -> None:
    assert resolve(text) == Source(place, class_name, place)


@pytest.mark.parametrize("text", ["", ":", "a b", "my.py:", "/a/b:C", "package.module:", "1.2:C"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(CompileError, match=r"expected file.py, file.py:Class, package.module:Class, package.module"):
        resolve(text)


def test_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "glue-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: glue\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[robot_rt_control.action_types]\ngluing = glue.all:Glue\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert resolve("gluing") == Source("glue.all", "Glue", "entry point gluing (glue.all:Glue)")
    with pytest.raises(CompileError) as refused:
        resolve("glueing")
    assert str(refused.value) == (
        "source of action types 'glueing'; expected one of the known names; did you mean 'gluing'; "
        "got no entry point of this name. A package declares it in the group 'robot_rt_control.action_types'; "
        "for a file, give its path, ending in .py"
    )


def test_S28_a_source_with_nul_is_refused() -> None:
    with pytest.raises(DefinitionError, match="source of action types: .*; expected a text without the character NUL"):
        resolve("/a\0b.py")
