#include "same_law_records.h"

#include <algorithm>
#include <cmath>

namespace {

template <class Number> struct Smoothed {
    const Number gain;
    Number operator()(Number x, Number y) const { return x + gain * (y - x) / (Number(1) + std::abs(x) + y * y); }
};

}  // namespace

int on_enter(State *state, const Params *params, Part *arm, const Part *) {
    state->count += 3 * params->n - 7;
    std::copy_n(arm->commanded_position, arm->dof, state->filtered);
    return 0;
}

int sense(State *state, const Params *params, Part *arm, const Part *other) {
    double total = 0.0;
    for (int j = 0; j < arm->dof; ++j) total += arm->position[j] * arm->velocity[j] - other->effort[j];
    state->level = std::sqrt(std::abs(total)) + std::atan2(total, params->gain);
    for (int i = 0; i < 3; ++i) {
        state->vector[i] = other->tool_position[i] * std::cos(state->level) + arm->chain.gravity[i];
        std::transform(arm->chain.axis[0], arm->chain.axis[0] + 3, state->square[i],
                       [&](double axis) { return axis != 0.0 ? state->vector[i] / axis : 0.0; });
    }
    return 0;
}

int set_parameters(State *state, const Params *, Part *, const Part *) {
    if (state->begin != 0.0) state->count = -state->count;
    return state->count > 2900 ? 2 : 0;
}

int control(State *state, const Params *params, Part *arm, const Part *) {
    const Smoothed<double> smooth{params->gain};
    arm->command_mode = POSITION;
    for (int64_t i = 0; i < std::min<int64_t>(params->n, 16); ++i)
        state->table[i] = smooth(state->table[i], std::exp(-std::abs(state->level)) * static_cast<double>(i));
    for (int j = 0; j < arm->dof; ++j) {
        state->filtered[j] = smooth(state->filtered[j], params->goal[j]);
        arm->position_command[j] = state->filtered[j] + 1e-3 * std::sin(static_cast<double>(state->count + j));
    }
    return state->count > 0 ? static_cast<int>(state->count) : 0;
}
