"""The list of licences: what packages say in their many ways, and what of it a person has to look at."""

from __future__ import annotations

from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from bench.licences import UNKNOWN, Package, licence_of, packages


def installed(folder: Path, name: str, *lines: str, **files: str) -> PathDistribution:
    made = folder / f"{name}-1.0.dist-info"
    (made / "licenses").mkdir(parents=True)
    (made / "METADATA").write_text("\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *lines, ""]))
    for file, text in files.items():
        (made / "licenses" / file).write_text(text)
    return PathDistribution(made)


@pytest.mark.parametrize(
    ("lines", "files", "licence", "mark"),
    [
        (["License-Expression: MIT", "License: GPL"], {}, "MIT", ""),
        (["Classifier: License :: OSI Approved :: MIT License"], {}, "MIT License", ""),
        (["Classifier: License :: OSI Approved"], {}, UNKNOWN, UNKNOWN),
        (["License: UNKNOWN"], {}, UNKNOWN, UNKNOWN),
        (["License-File: TEXT"], {"TEXT": "\n  Apache License\nVersion 2.0"}, "Apache License", ""),
        (["License-Expression: LGPL-3.0-only"], {}, "LGPL-3.0-only", "copyleft"),
        (["Classifier: License :: OSI Approved :: GNU General Public License v2 (GPLv2)"], {},
         "GNU General Public License v2 (GPLv2)", "copyleft"),
        (["License-Expression: MPL-2.0"], {}, "MPL-2.0", "copyleft"),
        (["License: " + "x" * 100], {}, "x" * 59 + "…", ""),
    ],
)  # fmt: skip
def test_what_a_package_says(
    tmp_path: Path, lines: list[str], files: dict[str, str], licence: str, mark: str
) -> None:
    found = licence_of(installed(tmp_path, "some", *lines, **files), tmp_path)
    assert (found, Package("some", "1.0", found, "").mark) == (licence, mark)


def test_ros_packages_say_it_in_their_manifest_and_each_is_needed_for_the_first_group(tmp_path: Path) -> None:
    (tmp_path / "share" / "core_msgs").mkdir(parents=True)
    manifest = "<package><license>Apache License 2.0</license><license>BSD</license></package>"
    (tmp_path / "share" / "core_msgs" / "package.xml").write_text(manifest)
    found = [
        installed(tmp_path, "ros-core-msgs", "Requires-Dist: deep"),
        installed(tmp_path, "core_msgs"),
        installed(tmp_path, "deep", 'Requires-Dist: tests; extra == "check"'),
        installed(tmp_path, "tests"),
        installed(tmp_path, "left"),
        installed(tmp_path, "robot_rt_control"),
    ]
    project = {
        "project": {"optional-dependencies": {"test": ["tests", "deep"]}},
        "dependency-groups": {"run": [], "kilted": ["ros_core.msgs[check]>=1"], "kilted-build": []},
        "build-system": {"requires": []},
    }
    rows = {p.name: (p.licence, p.needed) for p in packages(found, project, tmp_path / "share")}
    assert rows == {
        "ros-core-msgs": ("Apache License 2.0 / BSD", "runtime"),
        "deep": (UNKNOWN, "runtime"),
        "tests": (UNKNOWN, "test"),
        "left": (UNKNOWN, ""),
    }
