"""How the simulated world looks: sky, light, floor, and how cameras see it."""

from __future__ import annotations

import mujoco

from robot_rt_control.hardware.mujoco.shapes import HIDDEN_GROUP, VISUAL_GROUP

FIELD_OF_VIEW_DEG = 50.0
"""From top to bottom of a picture."""
_NEAR_M, _FAR_M = 0.05, 40.0
_EXTENT_M = 3.0
"""MuJoCo's unit for what it knows by the world's size."""
_SHADOWS_M = 20.0
"""How far from the origin shadows fall. From half as far on, single points of a floor are dark: near the horizon."""
_SKY = (1.0, 1.0, 1.0)
_TILES = (0.97, 0.97, 0.97), (0.65, 0.74, 0.9)
_TILE_M = 1.0
_TILE_PIXELS = 128
_FLOOR = "world/tiles"


def add_looks(spec: mujoco.MjSpec) -> None:
    """Add sky, light, floors' pattern and the camera's properties; once for each specification. A scene keeps its own
    light and sky."""
    spec.stat.extent, spec.stat.center = _EXTENT_M, [0.0, 0.0, 0.5]
    visual = spec.visual
    visual.global_.fovy = FIELD_OF_VIEW_DEG
    visual.map.znear, visual.map.zfar = _NEAR_M / _EXTENT_M, _FAR_M / _EXTENT_M
    visual.map.shadowclip = _SHADOWS_M / _EXTENT_M
    visual.headlight.ambient, visual.headlight.diffuse = [0.55] * 3, [0.1] * 3
    visual.headlight.specular = [0.0] * 3
    if not spec.lights:
        spec.worldbody.add_light(
            type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
            pos=[3.0, 3.0, 6.0],
            dir=[-1.0, -1.0, -2.0],
            diffuse=[0.45] * 3,
            specular=[0.15] * 3,
            castshadow=True,
        )
    if all(each.type != mujoco.mjtTexture.mjTEXTURE_SKYBOX for each in spec.textures):
        spec.add_texture(
            name="world/sky",
            type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
            rgb1=_SKY,
            rgb2=_SKY,
            width=8,
            height=48,
        )
    spec.add_texture(
        name=_FLOOR,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=_TILES[0],
        rgb2=_TILES[1],
        width=_TILE_PIXELS,
        height=_TILE_PIXELS,
    )
    tiles = spec.add_material(name=_FLOOR, texrepeat=[1.0 / _TILE_M] * 2, texuniform=True, specular=0.0)
    tiles.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = _FLOOR


def tile(body: mujoco.MjsBody, floor: mujoco.MjsGeom) -> None:
    """Draw a floor with a pattern, up to the horizon."""
    body.add_geom(
        name=f"{floor.name}/visual",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 1.0],
        contype=0,
        conaffinity=0,
        group=VISUAL_GROUP,
        material=_FLOOR,
        rgba=[1.0, 1.0, 1.0, 1.0],
    )
    floor.group = HIDDEN_GROUP
