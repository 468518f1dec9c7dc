// Brings a device's joints to rest from their last command, within their limits, when no commands arrive any more.
#ifndef ROBOT_RT_CONTROL__REST_RAMP_HPP_
#define ROBOT_RT_CONTROL__REST_RAMP_HPP_

#include <vector>

#include "robot_rt_control/device.hpp"

namespace robot_rt_control {

// Each joint's velocity goes to zero with its acceleration limit; then the joint holds.
//
// Position and velocity commands keep their mode: a drive must not be switched while it moves. From effort commands, which
// have no speed, the measured motion is braked in position mode, else in velocity mode. A joint with effort mode alone cannot
// be braked: its effort goes to zero. Joints that were not commanded stay as they are.
// The same law as robot_rt_control/hardware/rest_ramp.py.
class RestRamp {
public:
    explicit RestRamp(const std::vector<Joint>& joints);

    // Begin from the last command.
    // modes: in which each joint was commanded. velocity: [rad/s or m/s] of the last position commands, one for each joint.
    // state, command: of the device.
    void begin(const std::vector<Mode>& modes, const std::vector<double>& velocity, const double* state, double* command);

    // Write the next command.
    void step(double period_s, double* command);

    // The modes in which the joints are braked.
    const std::vector<Mode>& modes() const { return modes_; }

    bool at_rest() const;

private:
    void write(double* command) const;

    const std::vector<Joint>& joints_;
    std::vector<Mode> modes_;
    std::vector<double> position_, velocity_;
};

}  // namespace robot_rt_control

#endif  // ROBOT_RT_CONTROL__REST_RAMP_HPP_
