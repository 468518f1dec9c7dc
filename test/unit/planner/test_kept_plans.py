"""Which plans of the node are kept."""

from __future__ import annotations

from pathlib import Path

from robot_rt_control.planner.kept_plans import delete_old, new_plan_file


def made(folder: Path, count: int) -> list[Path]:
    files = [folder / f"20260101_00000{i}_000000.plan" for i in range(count)]
    for file in [*files, folder / "mine.plan", folder / "20260101_000000_000000.plan.part"]:
        file.touch()
    return files


def test_the_newest_stay_and_so_does_what_is_in_use_or_has_another_name(tmp_path: Path) -> None:
    files = made(tmp_path, 6)
    delete_old(tmp_path, 2, in_use=[tmp_path / "." / files[1].name, ""])
    assert [file for file in files if file.exists()] == [files[1], files[4], files[5]]
    assert (tmp_path / "mine.plan").exists() and len(list(tmp_path.iterdir())) == 5


def test_none_is_deleted_with_0_and_none_of_so_few(tmp_path: Path) -> None:
    files = made(tmp_path, 3)
    delete_old(tmp_path, 0)
    delete_old(tmp_path, 3)
    assert all(file.exists() for file in files)


def test_a_new_name_is_one_of_those_that_are_deleted_when_they_are_old(tmp_path: Path) -> None:
    file = new_plan_file(tmp_path)
    file.touch()
    (tmp_path / "99990101_000000_000000.plan").touch()
    delete_old(tmp_path, 1)
    assert not file.exists()
