"""The messages of other packages are identical on the wire to the official ones."""

import json
from pathlib import Path

import pytest

from robot_rt_control.model.paths import package_folder

FOLDER = Path(__file__).resolve().parents[2] / "interfaces"
OFFICIAL = {
    name: digest
    for digest, name in (line.split() for line in (FOLDER / "official_hashes.txt").read_text().splitlines()[1:])
}


def test_all_are_here() -> None:
    files = [file for kind in ("msg", "srv", "action") for file in FOLDER.glob(f"*/{kind}/*")]
    assert {f"{file.parts[-3]}/{file.parts[-2]}/{file.stem}" for file in files} == set(OFFICIAL)


@pytest.mark.parametrize("name", OFFICIAL)
def test_types_are_identical_on_the_wire(name: str) -> None:
    package, kind, interface = name.split("/")
    share = package_folder(package)
    assert share is not None, f"{package} is not built: ./run interfaces"
    description = json.loads((share / kind / f"{interface}.json").read_text())
    hashes = {item["type_name"]: item["hash_string"] for item in description["type_hashes"]}
    assert hashes[name] == f"RIHS01_{OFFICIAL[name]}"
