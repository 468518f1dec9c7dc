#include "same_law_records.h"

#include <math.h>

static double smooth(double x, double y, double gain) { return x + gain * (y - x) / (1.0 + fabs(x) + y * y); }

int on_enter(State *state, const Params *params, Part *arm, const Part *other) {
    state->count += 3 * params->n - 7;
    for (int j = 0; j < arm->dof; ++j) state->filtered[j] = arm->commanded_position[j];
    return 0;
}

int sense(State *state, const Params *params, Part *arm, const Part *other) {
    double total = 0.0;
    for (int j = 0; j < arm->dof; ++j) total += arm->position[j] * arm->velocity[j] - other->effort[j];
    state->level = sqrt(fabs(total)) + atan2(total, params->gain);
    for (int i = 0; i < 3; ++i) {
        state->vector[i] = other->tool_position[i] * cos(state->level) + arm->chain.gravity[i];
        for (int k = 0; k < 3; ++k) {
            const double axis = arm->chain.axis[0][k];
            state->square[i][k] = axis != 0.0 ? state->vector[i] / axis : 0.0;
        }
    }
    return 0;
}

int set_parameters(State *state, const Params *params, Part *arm, const Part *other) {
    if (state->begin != 0.0) state->count = -state->count;
    return state->count > 2900 ? 2 : 0;
}

int control(State *state, const Params *params, Part *arm, const Part *other) {
    arm->command_mode = POSITION;
    for (int64_t i = 0; i < (params->n < 16 ? params->n : 16); ++i)
        state->table[i] = smooth(state->table[i], exp(-fabs(state->level)) * (double)i, params->gain);
    for (int j = 0; j < arm->dof; ++j) {
        state->filtered[j] = smooth(state->filtered[j], params->goal[j], params->gain);
        arm->position_command[j] = state->filtered[j] + 1e-3 * sin((double)(state->count + j));
    }
    return state->count > 0 ? (int)state->count : 0;
}
