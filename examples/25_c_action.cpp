// The real-time functions of Sway (25_c_action.py). The header is made from the class: `robot-rt header 25_c_action.py`.
#include "25_c_action_records.h"

#include <algorithm>
#include <cmath>

namespace {

constexpr double PI = 3.14159265358979323846;
constexpr int NOT_AT_REST = 1;

/// From 0 to 1 as s goes from 0 to 1, without a jump of velocity or acceleration.
double faded(double s) {
    s = std::clamp(s, 0.0, 1.0);
    return s * s * s * (10.0 + s * (6.0 * s - 15.0));
}

}  // namespace

int on_enter(State *state, const Params *, Part *arm) {
    for (int j = 0; j < arm->dof; ++j) {
        if (std::abs(arm->motion_velocity[j]) > 1e-3) return NOT_AT_REST;
        state->center[j] = arm->commanded_position[j];
    }
    return 0;
}

int control(State *state, const Params *params, Part *arm) {
    state->elapsed += arm->dt;
    const double periods = state->elapsed / params->period;
    const double size = params->angle * faded(periods) * faded(params->count - periods);
    state->offset = size * std::sin(2.0 * PI * periods);
    state->is_done = periods >= params->count;
    arm->command_mode = POSITION;
    for (int j = 0; j < arm->dof; ++j) arm->position_command[j] = state->center[j];
    arm->position_command[params->joint] += state->offset;
    return 0;
}
