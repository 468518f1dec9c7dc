"""change_tool: bring an arm to rest, and put another tool on."""

from robot_rt_control.actions.following import follow, longest, plan_stops
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.vocabulary.enums import PartKind, Status
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

_WRONG_TOOL = int(Status.WRONG_TOOL)


class ChangeTool(ActionType):
    """Bring the arm to rest, tell the loop which tool is on, and hold.

    The tool itself changes outside: a person, a coupling or a rack does it, before this action or while it waits. In
    the tick in which the loop puts the tool on, its pose, its weight and the arm's limits change; commands do not.
    """

    name = "change_tool"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    parameters = (
        Parameter(name="tool", type="text", description="Tool to put on: one that the workcell file lists."),
        Parameter(
            name="wait",
            type="bool",
            default=False,
            description="Wait until the sensors confirm the tool; false: if they do not, the start is refused.",
        ),
    )
    state_variables = (
        StateVariable(name="is_done", type="bool", description="The tool is on, and the arm at rest."),
        StateVariable(name="is_waiting", type="bool", description="The sensors do not confirm the tool yet."),
    )
    example = {"tool": "second"}
    Params = {"number": int, "wait": float}
    State = {"elapsed": float, "total": float, "plan": (profile_dtype, PER_JOINT)}

    def prepare_parameters(self, values, params):
        arm = self.parts["arm"]
        if values["tool"] not in arm.tools:
            raise DefinitionError(
                f"change_tool of {arm.name!r}: tool",
                expected=unknown("tool", values["tool"], arm.tools) if arm.tools else "an arm that lists tools",
                got=repr(values["tool"]),
                hint="" if arm.tools else "List them under `tools` of the arm in the workcell file",
            )
        params.number, params.wait = arm.tools.index(values["tool"]), values["wait"]

    @staticmethod
    def on_enter(state, params, arm):
        if params.wait == 0.0 and arm.tool_fits[params.number] != 1.0:
            return _WRONG_TOOL
        status = plan_stops(state.plan, arm)
        state.total = longest(state.plan, arm.dof)
        return status

    @staticmethod
    def sense(state, params, arm):
        on = arm.tool_number == params.number
        state.is_done = on and state.elapsed >= state.total and arm.at_rest != 0.0
        state.is_waiting = not on and arm.tool_fits[params.number] != 1.0

    @staticmethod
    def control(state, params, arm):
        state.elapsed += arm.dt
        follow(state.plan, state.elapsed, arm)
        if state.elapsed >= state.total and arm.tool_number != params.number:
            arm.tool_command = params.number  # the loop puts it on once the arm is at rest and sensors confirm it
