"""What makes skills that are neither programs nor other skills: Python functions, and ROS (makers/ros).

    from robot_rt_control.blueprint.makers import Handle, skill

    @skill(level="meta_skill", results={"empty": {"failure": True}}, outputs={"count": {"type": "int"}})
    def count_parts(handle: Handle, colour: str = "red") -> object:
        '''Count the parts on the table.'''
        …
        return {"count": 3}
"""

from robot_rt_control.blueprint.graph.results import Outcome
from robot_rt_control.blueprint.makers.declaration import skill
from robot_rt_control.blueprint.makers.handle import Handle, SkillCancelled, SkillFailed, View

__all__ = ["Handle", "Outcome", "SkillCancelled", "SkillFailed", "View", "skill"]
