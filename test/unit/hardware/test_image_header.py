"""The header for drivers in C and C++."""

import subprocess
from pathlib import Path

import pytest

from robot_rt_control.hardware.image_header import HEADER, image_header
from robot_rt_control.memory.layout import IMAGE_LAYOUT, IMAGE_VERSION

LAYOUTS = {2: 0x6CFBEF4CB1BA91BC}
"""Version → digest of the layout. A changed layout gets a new version, so that people can tell drivers apart."""


def test_the_committed_header_is_that_of_the_layout() -> None:
    assert HEADER.read_text() == image_header(), "python -m robot_rt_control.hardware.image_header writes it"


def test_each_layout_has_a_version_of_its_own() -> None:
    assert {IMAGE_VERSION: IMAGE_LAYOUT} == LAYOUTS


@pytest.mark.parametrize(("compiler", "standard"), [("gcc", "c11"), ("g++", "c++17")])
def test_it_compiles_by_itself(tmp_path: Path, compiler: str, standard: str) -> None:
    source = tmp_path / ("a.c" if compiler == "gcc" else "a.cpp")
    source.write_text('#include "robot_rt_control/process_image.h"\n')
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", f"-I{HEADER.parents[1]}"]
    subprocess.run([compiler, *flags, str(source)], check=True)
