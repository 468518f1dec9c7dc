"""Types of this package are not built, checked or imported by the builder again as long as no source has changed."""

import json
import os
import shutil
from pathlib import Path

import pytest

import robot_rt_control
from robot_rt_control.definitions import native_code
from robot_rt_control.native import cache_folder, toolchain
from robot_rt_control.native.toolchain import sources_digest
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.types import known_builds, type_building
from robot_rt_control.server.types.type_building import LoadedType, build_types
from robot_rt_control.vocabulary.errors import RobotControlError

OWN = "robot_rt_control.actions.hold:Hold"

USERS = """
from robot_rt_control.actions.hold import Hold
class Mine(Hold):
    name = "mine"
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache_folder, "_checked", set())
    monkeypatch.setattr(type_building, "sources_digest", lambda: "1" * 64)  # whoever edits sources during the test
    return tmp_path / "cache"


def built(source: str = OWN) -> tuple[LoadedType, bool]:
    """The type, and whether the builder's process was started for it."""
    with Builder() as builder:
        (one,) = build_types([source], builder, lambda _message: None)
        return one, builder.pid is not None


def test_K23_a_type_of_this_package_is_known_until_a_source_changes(cache, monkeypatch):
    first, asked = built()
    assert asked
    again, asked = built()
    assert not asked
    assert (again.key, again.code, again.origin) == (first.key, first.code, first.origin)
    assert json.dumps(again.declared.to_json()) == json.dumps(first.declared.to_json())  # some defaults are NaN
    assert again.compute_time == first.compute_time and again.worst_time == first.worst_time
    # As after an edit of any file of the package.
    monkeypatch.setattr(type_building, "sources_digest", lambda: "0" * 64)
    assert built()[1] and not built()[1]


def test_K23_what_is_known_counts_only_with_its_native_code(cache):
    key = built()[0].key
    folder = native_code.folder_of(key)
    for spoil in (
        lambda: (folder / native_code.OBJECT_FILE).write_bytes(b"damaged"),
        lambda: (folder / native_code.MEASURED_FILE).unlink(),
        lambda: shutil.rmtree(folder),
        lambda: next((cache / "built").iterdir()).write_text('{"robot_rt_control.actions.hold:Hold": {}}'),
        lambda: next((cache / "built").iterdir()).write_text("{"),
    ):
        spoil()
        one, asked = built()
        assert asked and one.key == key
        assert not built()[1]


def test_K23_files_of_users_are_always_looked_at(cache, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(USERS)
    assert built(str(file))[1] and built(str(file))[1]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_K22_what_another_user_can_have_written_is_not_taken_for_known(cache, monkeypatch, what):
    built()
    monkeypatch.setattr(cache_folder, "_checked", set())
    (file,) = (cache / "built").iterdir()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    {"file": file, "folder": file.parent}[what].chmod(0o707)
    with pytest.raises(RobotControlError, match="could have been written by another user"):
        built()


def test_any_change_of_a_source_or_of_what_compiles_it_shows(tmp_path, monkeypatch):
    package = tmp_path / "package"
    shutil.copytree(Path(robot_rt_control.__file__).parent / "actions", package / "actions")
    seen = [sources_digest(package)]

    def changed() -> bool:
        seen.append(sources_digest(package))
        return len(set(seen)) == len(seen)

    assert sources_digest(package) == seen[0]
    law = package / "actions" / "laws" / "force.py"
    text, status = law.read_text(), law.stat()
    law.write_text(text[:-2] + "\t\n")  # as long, and as old
    os.utime(law, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert changed()
    law.rename(law.with_name("forces.py"))
    assert changed()
    law.with_name("forces.py").unlink()
    assert changed()
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert changed()
    monkeypatch.setattr(toolchain, "processor", lambda: "another")
    assert changed()
    monkeypatch.setattr(toolchain, "compiler", lambda: "newer")
    assert changed()


def test_answers_for_sources_of_long_ago_are_removed(cache, monkeypatch):
    built()
    (old,) = (cache / "built").iterdir()
    monkeypatch.setattr(known_builds, "_KEPT_S", -1.0)
    monkeypatch.setattr(type_building, "sources_digest", lambda: "0" * 64)
    built()
    assert not old.exists() and (cache / "built" / f"{'0' * 64}.json").exists()
