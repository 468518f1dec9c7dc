"""The licences of all Python packages of the environment: ./run licences.

Marked are those that a person has to look at: a licence that asks something of who passes the software on (copyleft),
and one that is not known. Libraries that a wheel contains beside its own are not listed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[1]
COPYLEFT = re.compile(
    r"\b(A?GPL|LGPL|MPL|EPL|CDDL|EUPL|OSL|SSPL|GNU|Mozilla|Eclipse)|General Public|Affero|Reciprocal|Share-?Alike", re.I
)
UNKNOWN = "unknown"
_LONGEST = 60
"""Some packages give the whole text of their licence as its name."""


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    licence: str
    needed: str
    """For what: "runtime", an extra such as "planning", "test", "set-up"; empty: nothing here names it."""

    @property
    def mark(self) -> str:
        """Why a person has to look at it; empty: nobody has to."""
        return UNKNOWN if self.licence == UNKNOWN else "copyleft" if COPYLEFT.search(self.licence) else ""


def key(name: str) -> str:
    """A package's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(package: Distribution, manifests: Path) -> str:
    """What a package says: SPDX expression, classifiers, the old field, its ROS manifest, or its licence's first line.

    Args:
        manifests: folder with the package.xml of each ROS package, in a folder of its name.
    """
    about = package.metadata
    classified = [c.split(" :: ")[2:] for c in about.get_all("Classifier") or () if c.startswith("License :: ")]
    for found in (
        _field(about, "License-Expression"),
        " / ".join(words[-1] for words in classified if words),
        _field(about, "License"),
        _of_manifest(manifests / key(about["Name"]).removeprefix("ros-").replace("-", "_") / "package.xml"),
        *(_title(package, name) for name in about.get_all("License-File") or ()),
    ):
        if found and found.upper() not in ("UNKNOWN", "NONE", "OTHER"):
            return found if len(found) <= _LONGEST else f"{found[: _LONGEST - 1]}…"
    return UNKNOWN


def _field(about: Any, name: str) -> str:
    return (about[name] or "").strip().split("\n")[0].strip() if name in about else ""


def _of_manifest(file: Path) -> str:
    if not file.is_file():
        return ""
    return " / ".join((e.text or "").strip() for e in ElementTree.parse(file).getroot().iter("license"))


def _title(package: Distribution, name: str) -> str:
    text = package.read_text(f"licenses/{name}") or package.read_text(name) or ""
    return next((line.strip() for line in text.split("\n") if line.strip()), "")


def needs(found: Mapping[str, Distribution], wanted: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Package → the first group that needs it, directly or not.

    Args:
        found: what is installed, by name.
        wanted: requirements of each group, the most important one first.
    """
    needed: dict[str, str] = {}
    for group, texts in wanted.items():
        seen: set[tuple[str, str]] = set()
        waiting = [Requirement(text) for text in texts]
        while waiting:
            one = waiting.pop()
            for extra in ("", *one.extras):
                if (key(one.name), extra) in seen or key(one.name) not in found:
                    continue
                seen.add((key(one.name), extra))
                needed.setdefault(key(one.name), group)
                further = [Requirement(text) for text in found[key(one.name)].requires or ()]
                waiting += [r for r in further if r.marker is None or r.marker.evaluate({"extra": extra})]
    return needed


def _wanted(project: Mapping[str, Any]) -> dict[str, list[str]]:
    extras, ros = project["project"]["optional-dependencies"], project["dependency-groups"]
    groups = {"runtime": [*ros["run"], *ros["kilted"]]}  # the packages of Jazzy have the same names
    groups |= {name: texts for name, texts in extras.items() if name not in ("test", "colcon")}
    return groups | {"test": extras["test"], "set-up": [*project["build-system"]["requires"], *ros["kilted-build"]]}


def packages(installed: Iterable[Distribution], project: Mapping[str, Any], manifests: Path) -> list[Package]:
    """All packages of an environment but this one, by name. The parts of a ROS package's wheel are not told apart."""
    found = {key(d.metadata["Name"]): d for d in installed if d.metadata["Name"]}
    needed = needs(found, _wanted(project))
    return [
        Package(d.metadata["Name"], d.version, licence_of(d, manifests), needed.get(name, ""))
        for name, d in sorted(found.items())
        if name != key("robot_rt_control") and f"ros-{name}" not in found
    ]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./run licences", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--marked", action="store_true", help="only those that a person has to look at")
    given = parser.parse_args(argv)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    found = packages(distributions(), project, Path(sys.prefix) / "share")
    shown = [p for p in found if p.mark or not given.marked]
    print("| package | version | licence | needed for | |\n|---|---|---|---|---|")
    for p in shown:
        print(f"| {p.name} | {p.version} | {p.licence.replace('|', '/')} | {p.needed} | {p.mark} |")
    marked = [p for p in found if p.mark]
    passed_on = [p.name for p in marked if p.needed not in ("test", "set-up", "")]
    print(f"\n{len(found)} packages, {len(marked)} marked; of these at run time: {', '.join(passed_on) or 'none'}.")
    print("The licences of what the editor's page contains: robot_rt_control/editor/page/licences.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
