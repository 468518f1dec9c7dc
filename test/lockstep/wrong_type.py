"""An action type that is refused: its code in the loop prints."""

from robot_rt_control.actions.authoring import ActionType, PartKind, Slot


class Wrong(ActionType):
    """Print."""

    name = "wrong"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)

    @staticmethod
    def control(state, params, arm):
        print(arm.dof)
