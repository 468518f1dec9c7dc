"""Makes the pictures of the pages: ./run shell python bench/pictures.py

All are taken of the real thing: the demonstration, examples and the pages' own programs in lockstep, a plan in its
replay, the editor during a run of example 20 on the bench, the view of an arm that moves, its timeline, and measured
latenesses. Needs PyBullet, MuJoCo, and an installed Chromium or Chrome; for the latenesses, ros2_control.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from robot_rt_control.blueprint.remote import Blueprints, StartRequest
from robot_rt_control.client import Action, Client, Reaction, variable
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.testing.ros_domain import claim_domain

REPOSITORY = Path(__file__).resolve().parents[1]
CONFIG, PICTURES = REPOSITORY / "config", REPOSITORY / "docs" / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, COLOURS, GAP = 1000, 256, 8
"""Pages show no more; so a picture stays below 120 kB."""
_PATIENCE_MS = 120_000.0
_VIEW = "document.querySelector('.robot-scene')?.view"
_BACK_TICKS = 4000


def kept(source: Path, name: str) -> None:
    """Put a picture among the pages', small."""
    PICTURES.mkdir(exist_ok=True)
    with Image.open(source) as picture:
        shown = picture.convert("RGB")
        if shown.width > WIDTH:
            shown = shown.resize((WIDTH, round(shown.height * WIDTH / shown.width)), Image.Resampling.LANCZOS)
        target = PICTURES / f"{name}.png"
        # So that small things keep their colour.
        few = shown.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
        few.save(target, optimize=True)
    print(f"{target.relative_to(REPOSITORY)}: {target.stat().st_size // 1024} kB")


def shown_yaml(page: str, name: str) -> str:
    """The YAML text of this name that a page shows."""
    text = (REPOSITORY / "docs" / page).read_text()
    blocks = [textwrap.dedent(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    return next(block for block in blocks if re.search(rf"^name: {name}$", block, re.MULTILINE))


def of_demo(folder: Path) -> None:
    """The arm, and what its rangefinder switches."""
    command = [sys.executable, "-m", "robot_rt_control.demo.demo", "--output", str(folder)]
    subprocess.run(command, check=True)
    kept(folder / "scene.png", "arm")
    kept(folder / "distance.png", "reactions")


def of_strategies(folder: Path) -> None:
    """Which law governs each axis on the way into a corner: example 10."""
    subprocess.run([sys.executable, REPOSITORY / "examples" / "10_corner.py", "--lockstep"], check=True, cwd=folder)
    kept(folder / "output" / "10_corner" / "corner.png", "strategies")


def of_groups(folder: Path) -> None:
    """Two arms that begin and arrive in the same ticks: the program of the page about motion groups."""
    names = {part: [f"{part}.commanded_{what}[0]" for what in ("position", "velocity")] for part in ("left", "right")}
    with LockstepClient(CONFIG / "pair.yaml") as client, client.session(["left", "right"]) as session:
        session.upload(shown_yaml("motion_groups.md", "swing"))
        with session.record(*names["left"], *names["right"]) as recording:
            session.start("swing")
            session.wait_for("arrived", timeout_s=60.0)
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2, sharex=True)
    time = recording.time - recording.time[0]
    for axis, what, unit in zip(axes, range(2), ("rad", "rad/s"), strict=True):
        for part, (colour, style) in {"left": ("#1f618d", "-"), "right": ("#b03a2e", "--")}.items():
            axis.plot(time, recording[names[part][what]], style, color=colour, lw=1.6, label=part)
        axis.set(xlabel="time [s]", ylabel=f"commanded {('position', 'velocity')[what]} of joint 1 [{unit}]")
        axis.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(folder / "groups.png", dpi=100)
    kept(folder / "groups.png", "groups")


def of_planning(folder: Path) -> None:
    """A push that was found, as PyBullet replays it."""
    for arguments in (("solve", "push_box", "-o", "push.plan"), ("replay", "push.plan", "--film", "film.png")):
        subprocess.run(["robot-rt-control-plan", *arguments], check=True, cwd=folder)
    kept(folder / "film.png", "push")


def of_simulators(folder: Path) -> None:
    """One scene in both engines, after the same motion; and a scene from an MJCF."""
    taken = [folder / f"{simulator}.png" for simulator in SIMULATORS]
    for simulator, file in zip(SIMULATORS, taken, strict=True):
        with LockstepClient(CONFIG / "panda.yaml", hardware="simulator", simulator=simulator) as client:
            moved(client, [0.3, 0.1, 0.0, -2.3, 0.0, 2.4, 1.1])
            client.take_picture(copy_to=file)
    with Image.open(taken[0]) as left, Image.open(taken[1]) as right:
        both = Image.new("RGB", (left.width + right.width + GAP, left.height), "white")
        both.paste(left, (0, 0))
        both.paste(right, (left.width + GAP, 0))
    both.save(folder / "simulators.png")
    kept(folder / "simulators.png", "simulators")
    with LockstepClient(CONFIG / "table_arm.yaml", hardware="mujoco") as client:
        moved(client, [0.0, -0.35, 1.92])
        client.take_picture(copy_to=folder / "mjcf.png")
    kept(folder / "mjcf.png", "mjcf")


def moved(client: LockstepClient, position: Sequence[float]) -> None:
    """Let the arm go there."""
    with client.session("arm") as session:
        session.add(Action("go", "move_joint", position=position))
        session.follow("go").wait(60.0)


def of_blueprints(folder: Path) -> None:
    """The first blueprint of the page about them."""
    (folder / "tour.yaml").write_text(shown_yaml("blueprints.md", "tour"))
    subprocess.run(["robot-rt-control-blueprint", "draw", "tour.yaml", "-o", "tour.png"], check=True, cwd=folder)
    kept(folder / "tour.png", "blueprint")


def of_editor(folder: Path) -> None:
    """The page, while a blueprint runs."""
    from playwright.sync_api import sync_playwright

    arguments = ["--workcell", "bench", "--controllers", "false", "--blueprints", "--editor", "--editor-port", "0"]
    log = folder / "workcell.log"
    blueprints_folder = REPOSITORY / "examples" / "blueprints"
    with (
        DemoWorkcell(arguments, log, environment={"XDG_DATA_HOME": str(folder)}) as workcell,
        Client("pictures", timeout_s=60.0) as client,
        Blueprints(client, timeout_s=60.0) as blueprints,
        sync_playwright() as playwright,
    ):
        workcell.wait_until_ready(client, lambda _: None, 900.0)
        for name in ("wipe_pad", "sort_and_wipe"):
            blueprints.save_skill((blueprints_folder / f"{name}.yaml").read_text(), source="example")
        link = re.findall(r"http://127\.0\.0\.1:\d+/\S*", log.read_text())[0]
        page = browser_page(playwright, link)
        page.get_by_role("tab", name="Files").click()
        page.locator(".skill-item:has(.skill-name:text-is('sort_and_wipe'))").first.click()
        page.wait_for_selector(".react-flow__node")
        page.get_by_role("tab", name="Run").last.click()
        run = blueprints.run(StartRequest(skill="sort_and_wipe", parameters={"times": 2}, source="example"))
        page.wait_for_selector(".react-flow__node .was-success")
        page.wait_for_selector(".react-flow__node .is-runs")
        page.screenshot(path=str(folder / "editor.png"))
        page.context.close()
        run.wait()
    kept(folder / "editor.png", "editor")


def of_compared(folder: Path) -> None:
    """Latenesses beside ros2_control, where it is installed: the benchmark takes eight minutes."""
    program = REPOSITORY / "bench" / "beside_ros2_control.py"
    if subprocess.run([sys.executable, str(program), "--output", str(folder)]).returncode:
        print("not made again: compared.png")
        return
    kept(folder / "beside_ros2_control.png", "compared")


def of_field(folder: Path) -> None:
    """The planner's results in field.jsonl, as docs/planning_results.md makes them: all tasks take hours."""
    results, program = Path("field.jsonl"), REPOSITORY / "bench" / "planning_field.py"
    if not results.is_file():
        print(f"not made again: planning_field.png, without {results.resolve()}")
        return
    subprocess.run([sys.executable, str(program), "--merge", str(results), "--output", str(folder)], check=True)
    kept(folder / "planning_field.png", "planning_field")


@contextmanager
def viewed(folder: Path) -> Iterator[tuple[Client, Any]]:
    """A client of a simulated arm, and a page that shows it."""
    from playwright.sync_api import sync_playwright

    arguments = ["--workcell", "iiwa", "--controllers", "false", "--view", "--editor-port", "0"]
    log = folder / "workcell.log"
    with (
        DemoWorkcell(arguments, log, environment={"XDG_DATA_HOME": str(folder)}) as workcell,
        Client("pictures", timeout_s=60.0) as client,
        sync_playwright() as playwright,
    ):
        workcell.wait_until_ready(client, lambda _: None, 900.0)
        page = browser_page(playwright, re.findall(r"http://127\.0\.0\.1:\d+/\S*", log.read_text())[0])
        page.wait_for_function(f"() => {_VIEW}?.shown")
        yield client, page
        page.context.close()


def of_view(folder: Path) -> None:
    """The view of the workcell, while the arm moves along a line."""
    with viewed(folder) as (client, page), client.session("arm") as session:
        session.add(Action("line", "move_linear", offset=[0.0, 0.35, -0.25], speed=0.1))
        session.start("line")
        page.wait_for_function(f"() => {_VIEW}.shapes.drawn.length > 2")
        page.wait_for_timeout(1500)
        page.screenshot(path=str(folder / "view.png"))
    kept(folder / "view.png", "view")


def of_timeline(folder: Path) -> None:
    """The timeline, while two actions are switched by a rangefinder; and the view, some seconds back."""
    with viewed(folder) as (client, page), client.session("arm") as session:
        page.get_by_role("button", name="Timeline", exact=True).click()
        page.wait_for_function("() => document.querySelector('.timeline-panel')?.source?.range")
        for name in ("rangefinder.distance", "arm.velocity[1]", "arm.velocity[3]"):
            page.get_by_role("combobox", name="Plot a variable").fill(name)
            page.keyboard.press("Enter")
        page.get_by_text("Reactions", exact=True).click()
        distance = variable("rangefinder.distance")
        session.add(
            Action("down", "velocity_move", linear=[0, 0, -0.1],
                   reactions=[Reaction(distance < 0.35, start="up", name="near")]),
            Action("up", "velocity_move", linear=[0, 0, 0.1],
                   reactions=[Reaction(distance > 0.50, start="down", name="far")]),
        )  # fmt: skip
        session.start("down")
        page.locator(".timeline-reaction").wait_for()
        page.wait_for_timeout(10_000)
        page.screenshot(path=str(folder / "timeline.png"))
        page.get_by_role("button", name="Timeline", exact=True).click()
        page.get_by_role("button", name="Back in time", exact=True).click()
        page.wait_for_timeout(12_000)
        moment = page.get_by_label("Moment")
        moment.fill(str(int(moment.get_attribute("max")) - _BACK_TICKS))
        page.get_by_text("THE PAST").wait_for()
        page.wait_for_timeout(3000)
        page.screenshot(path=str(folder / "past.png"))
    kept(folder / "timeline.png", "timeline")
    kept(folder / "past.png", "past")


def browser_page(playwright: Any, link: str) -> Any:
    """A page of an installed browser, which draws 3D without a graphics card."""
    browser_path = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser_path is None:
        raise SystemExit(f"no browser is installed; tried: {', '.join(BROWSERS)}")
    flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    page = playwright.chromium.launch(executable_path=browser_path, args=flags).new_page(
        viewport={"width": 1280, "height": 760}
    )
    page.set_default_timeout(_PATIENCE_MS)
    page.goto(link)
    return page


PARTS: dict[str, Callable[[Path], None]] = {
    "demo": of_demo,
    "strategies": of_strategies,
    "groups": of_groups,
    "planning": of_planning,
    "simulators": of_simulators,
    "blueprints": of_blueprints,
    "editor": of_editor,
    "compared": of_compared,
    "field": of_field,
    "view": of_view,
    "timeline": of_timeline,
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", choices=PARTS, help="default: all")
    given = parser.parse_args(argv)
    os.environ["ROS_DOMAIN_ID"] = str(claim_domain("pictures"))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    with tempfile.TemporaryDirectory() as folder:
        for name, make in PARTS.items():
            if given.only in (None, name):
                make(Path(folder))


if __name__ == "__main__":
    main()
