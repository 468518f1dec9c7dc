"""A blueprint: what comes after what, outside real time. Sort a cube, then wipe a pad, softer if it was too hard.

    ./run shell python examples/20_blueprint.py --lockstep        alone, in simulated time
    ./run shell workcell --workcell bench --blueprints            or: a workcell in real time, and beside it
    ./run shell python examples/20_blueprint.py

Texts: examples/blueprints. docs/blueprints.md begins from nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_rt_control.blueprint.remote import Blueprints, StartRequest
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.diagram import blueprint_diagram
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.client import Client
from robot_rt_control.drawing.diagram_picture import draw
from robot_rt_control.program.file import library_template
from robot_rt_control.program.library import library_programs
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_blueprint import LockstepBlueprint
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.testing.program_main import run_program

WORKCELL = Path(__file__).parent.parent / "config" / "bench.yaml"
FOLDER = Path(__file__).parent / "blueprints"
NAMES = ("wipe_pad", "sort_and_wipe")  # what is called comes first


def main(client: Client, output: Path | str = "output/20_blueprint") -> list[dict[str, Any]]:
    """Returns the log."""
    texts = [(FOLDER / f"{name}.yaml").read_text() for name in NAMES]
    log = in_lockstep(client, texts) if isinstance(client, LockstepClient) else on_robot(client, texts)
    for record in log:
        if record["what"] in ("ended", "reaction", "end"):
            print(f"{record['time']:7.3f} s  {record.get('path', ''):<20} {record.get('result', record['what'])}")
    client.take_picture(copy_to=Path(output) / "scene.png")
    way = frozenset(record["path"] for record in log if record["what"] == "ended")
    draw(blueprint_diagram(SkillTemplate(texts[-1]), active=way), Path(output) / "way.png")
    return log


def in_lockstep(client: LockstepClient, texts: list[str]) -> list[dict[str, Any]]:
    programs = {name: library_template(name) for name in library_programs()}
    catalogue = SkillCatalogue(offline_catalogue(WORKCELL), programs, {})
    for text in texts:
        template = SkillTemplate(text)
        check_skill(template, catalogue)  # all mistakes at once, before anything moves
        catalogue = catalogue.with_skill(template)
    run = LockstepBlueprint(client, catalogue, NAMES[-1], times=2)
    run.run()
    print("\n".join(f"said: {text}" for text in run.said))
    return [dict(record) for record in run.records]


def on_robot(client: Client, texts: list[str]) -> list[dict[str, Any]]:
    with Blueprints(client) as blueprints:
        for text in texts:
            blueprints.save_skill(text, source="example")
        run = blueprints.run(StartRequest(skill=NAMES[-1], parameters={"times": 2}, source="example"))
        run.wait()
        records, _ = blueprints.read_runs(run.id)
        return records


if __name__ == "__main__":
    raise SystemExit(run_program(main, workcell=WORKCELL, output=Path("output/20_blueprint"), description=__doc__))
