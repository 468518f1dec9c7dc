"""What simulators have beside robots, as browsers draw it: as links of a scene that stand in the world."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import logging
import math
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

from robot_rt_control.editor.robot import Json, Robot
from robot_rt_control.processes.call import call
from robot_rt_control.vocabulary.errors import RobotControlError

_MODULE = "robot_rt_control.view.scene"
_LIMIT_S = 60.0
"""[s] of processor time, and of idleness, for the meshes of objects."""
_PERIOD_S = 0.1
"""Between two looks [s]."""
_MOST_FILES = 200
_FARTHEST = 1e6
"""[m] Greatest length or coordinate."""
_EYE = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
_FILE = "file://"
_log = logging.getLogger(__name__)


class SceneObjects:
    """For the event loop's thread; a process beside this one reads meshes.

    Args:
        robot: whose objects are shown.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._text, self._looked = "", -math.inf
        self._shown: list[Json] | None = None
        """Those in the text; None: it has to be written anew."""
        self._of_file: dict[str, str] = {}
        """File of a mesh → its id; empty: it is not taken, or not read yet."""
        self._of_files: dict[str, bytes] = {}
        """Id → mesh, see `view.mesh.encoded`."""
        self._triangles: dict[str, bytes] = {}
        """Likewise, of those that were drawn last."""
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="scene_objects")
        self._reading: asyncio.Task[None] | None = None

    def text(self) -> str:
        """{"objects": [links]}, as a scene has them."""
        now = time.monotonic()
        if now - self._looked < _PERIOD_S:
            return self._text
        self._looked = now
        objects = self._robot.objects()
        if objects != self._shown:
            self._shown = objects
            self._triangles = {}
            links = [link for each in objects if (link := self._link(each)) is not None]
            self._text = json.dumps({"objects": links}, allow_nan=False, separators=(",", ":"))
        return self._text

    def mesh(self, id: str) -> bytes | None:
        """One of those that were drawn; None: there is no such."""
        return self._of_files.get(id) or self._triangles.get(id)

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _link(self, given: Json) -> Json | None:
        """None: it cannot be drawn, or not yet."""
        numbers = [*given["position"], *given["orientation"], *given["scale"], *given["color"]]
        numbers += [x for corner in given["triangles"] for x in corner]
        if not all(math.isfinite(x) and abs(x) <= _FARTHEST for x in numbers):
            return None
        shape = self._shape(given)
        if shape is None:
            return None
        return {
            "name": given["name"], "parent": -1, "X": _columns(given["position"], given["orientation"]),
            "motion": "fixed", "axis": [0.0, 0.0, 1.0], "joint": -1, "shapes": [shape],
        }  # fmt: skip

    def _shape(self, given: Json) -> Json | None:
        x, y, z = given["scale"]
        kind, mesh = given["kind"], ""
        size = {"sphere": [x / 2], "cylinder": [x / 2, z]}.get(kind, [x, y, z])
        if kind == "mesh":
            mesh = self._mesh_of(given["mesh"])
        elif kind == "triangles":
            kind, mesh = "mesh", self._keep(given["triangles"])
        if kind == "mesh" and not mesh:
            return None
        return {"kind": kind, "size": size, "X": _EYE, "color": [min(max(c, 0.0), 1.0) for c in given["color"]],
                "mesh": mesh}  # fmt: skip

    def _keep(self, corners: list[list[float]]) -> str:
        """The id of a mesh of these triangles."""
        n = len(corners) // 3 * 3
        content = struct.pack("<IIIIfff", 1, n, n // 3, 0, *(math.nan,) * 3)
        content += struct.pack(f"<{3 * n}f", *(x for corner in corners[:n] for x in corner))
        content += struct.pack(f"<{n}I", *range(n))
        id = hashlib.sha256(content).hexdigest()[:24]
        self._triangles[id] = content
        return id if n else ""

    def _mesh_of(self, uri: str) -> str:
        """The id of a mesh in a file; empty: it is being read, or not taken."""
        file = unquote(uri.removeprefix(_FILE)) if uri.startswith(_FILE) else ""
        if file and file not in self._of_file and len(self._of_file) < _MOST_FILES:
            self._of_file[file] = ""
            if self._reading is None:
                self._reading = asyncio.get_running_loop().create_task(self._read())
        return self._of_file.get(file, "")

    async def _read(self) -> None:
        """Read the meshes that have come; those that come meanwhile are read next."""
        asked: set[str] = set()
        while files := [file for file in self._of_file if file not in asked and not self._of_file[file]]:
            asked.update(files)
            loop = asyncio.get_running_loop()
            try:
                found = await loop.run_in_executor(self._threads, _meshes_of, files)
            except RobotControlError as error:
                _log.warning("meshes of objects are not drawn: %s", error)
                continue
            for problem in found["problems"]:
                _log.warning("an object is not drawn: %s", problem)
            for file, (id, text) in found["meshes"].items():
                self._of_file[file], self._of_files[id] = id, base64.b64decode(text)
            self._shown = None
        self._reading = None


def _meshes_of(files: list[str]) -> Json:
    found: Json = call(_MODULE, {"files": files}, limit=_LIMIT_S)
    return found


def _columns(position: list[float], orientation: list[float]) -> list[float]:
    """4 by 4, column by column, of a pose; its quaternion x y z w may have any length but 0."""
    n = math.hypot(*orientation) or 1.0
    x, y, z, w = (q / n for q in orientation)
    return [
        1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0.0,
        2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0.0,
        2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0.0,
        *position, 1.0,
    ]  # fmt: skip
