"""V24: without MuJoCo or PIQP, one line names the command that installs them."""

import subprocess
import sys

import pytest

from robot_rt_control.planning.solve import engines
from robot_rt_control.vocabulary.errors import RobotControlError

LINE = "planning; expected MuJoCo and PIQP; got no {}. Install them: pip install 'robot_rt_control[planning]'"


@pytest.mark.parametrize(
    ("missing", "named"), [({"mujoco"}, "MuJoCo"), ({"piqp"}, "PIQP"), ({"mujoco", "piqp"}, "MuJoCo and no PIQP")]
)
def test_V24_what_is_missing_and_how_to_install_it(monkeypatch, missing, named):
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name in missing else object())
    with pytest.raises(RobotControlError) as caught:
        engines.require_engines()
    assert str(caught.value) == LINE.format(named)


def test_V24_task_files_and_plans_are_read_without_them():
    code = (
        "import sys; sys.modules.update(mujoco=None, piqp=None);"
        "from robot_rt_control.planning import Plan, Task, read_task;"
        "print(read_task('push_box').task.name)"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    assert done.stdout == "push_box\n"


def test_V24_the_planner_itself_is_refused_in_the_same_line():
    code = "import sys; sys.modules.update(mujoco=None, piqp=None); import robot_rt_control.planning.solve.planner"
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, timeout=120)
    last = done.stderr.splitlines()[-1]
    assert last == "robot_rt_control.vocabulary.errors.RobotControlError: " + LINE.format("MuJoCo and no PIQP")
