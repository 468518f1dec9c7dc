"""The messages of other packages are identical on the wire to the official ones."""

import json
from pathlib import Path

import pytest

from robot_rt_control.model.paths import package_folder

FOLDER = Path(__file__).resolve().parents[2] / "interfaces"


def _official(file: str) -> dict[str, str]:
    lines = (FOLDER / file).read_text().splitlines()[1:]
    return {name: digest for digest, name in (line.split() for line in lines)}


OFFICIAL = _official("official_hashes.txt")
OLDER = _official("official_hashes_jazzy.txt")
"""Of Jazzy, whose Fast DDS is another package."""


def test_all_are_here() -> None:
    files = [file for kind in ("msg", "srv", "action") for file in FOLDER.glob(f"*/{kind}/*")]
    assert {f"{file.parts[-3]}/{file.parts[-2]}/{file.stem}" for file in files} == set(OFFICIAL) > set(OLDER)


@pytest.mark.parametrize("name", OFFICIAL)
def test_types_are_identical_on_the_wire(name: str) -> None:
    package, kind, interface = name.split("/")
    share = package_folder(package)
    assert share is not None, f"{package} is not built: ./run interfaces"
    description = json.loads((share / kind / f"{interface}.json").read_text())
    hashes = {item["type_name"]: item["hash_string"] for item in description["type_hashes"]}
    official = OFFICIAL | OLDER if package_folder("fastrtps") else OFFICIAL
    assert hashes[name] == f"RIHS01_{official[name]}"
