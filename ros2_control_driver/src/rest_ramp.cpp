#include "robot_rt_control/rest_ramp.hpp"

#include <algorithm>
#include <cmath>

namespace robot_rt_control {

RestRamp::RestRamp(const std::vector<Joint>& joints)
: joints_(joints), modes_(joints.size(), Mode::none), position_(joints.size(), 0.0), velocity_(joints.size(), 0.0)
{
}

void RestRamp::begin(
    const std::vector<Mode>& modes, const std::vector<double>& velocity, const double* state, double* command)
{
    for (std::size_t j = 0; j < joints_.size(); ++j) {
        const Joint& joint = joints_[j];
        Mode mode = modes[j];
        double speed = 0.0;
        position_[j] = command[joint.command];
        if (mode == Mode::position) {
            speed = velocity[j];
        } else if (mode == Mode::velocity) {
            speed = command[joint.command + 1];
        } else if (mode == Mode::effort && std::isfinite(state[joint.state]) && std::isfinite(state[joint.state + 1])) {
            if (joint.allows(Mode::position)) {
                mode = Mode::position;
            } else if (joint.allows(Mode::velocity)) {
                mode = Mode::velocity;
            }
            if (mode != Mode::effort) {
                position_[j] = state[joint.state];
                speed = state[joint.state + 1];
            }
        }
        modes_[j] = mode;
        velocity_[j] = std::isnan(speed) ? 0.0 : std::clamp(speed, -joint.velocity, joint.velocity);
    }
    write(command);
}

void RestRamp::step(double period_s, double* command)
{
    for (std::size_t j = 0; j < joints_.size(); ++j) {
        const Joint& joint = joints_[j];
        const double change = joint.acceleration * period_s;
        const double slower = velocity_[j] - std::clamp(velocity_[j], -change, change);
        const double moved = position_[j] + 0.5 * (velocity_[j] + slower) * period_s;
        // Never beyond a limit; a joint that is already beyond one is not pulled back.
        const double lower = std::min(joint.lower, position_[j]), upper = std::max(joint.upper, position_[j]);
        velocity_[j] = slower;
        position_[j] = std::clamp(moved, lower, upper);
    }
    write(command);
}

bool RestRamp::at_rest() const
{
    return std::all_of(velocity_.begin(), velocity_.end(), [](double velocity) { return velocity == 0.0; });
}

void RestRamp::write(double* command) const
{
    for (std::size_t j = 0; j < joints_.size(); ++j) {
        double* own = command + joints_[j].command;
        if (modes_[j] == Mode::position) own[0] = position_[j];
        own[1] = velocity_[j];
        own[2] = 0.0;
    }
}

}  // namespace robot_rt_control
