// What a driver translates: between arrays of numbers and a device. The narrow interface behind `Driver`.
#ifndef ROBOT_RT_CONTROL__HARDWARE_HPP_
#define ROBOT_RT_CONTROL__HARDWARE_HPP_

#include <cstdint>
#include <string>
#include <vector>

#include "robot_rt_control/device.hpp"

namespace robot_rt_control {

// What a cycle's call has come to.
enum class Outcome {
    ok,
    error,     // the device has failed; it is not called again, but for `shutdown`
    inactive,  // the device has ended its activity: it does not follow commands until `activate` succeeds
};

// One device. The thread that calls `Driver::start` and `Driver::run` calls all methods. What they throw
// (std::exception) is the reason of a failure. `reason` may be set at any time.
//
// Numbers are SI: rad and m, rad/s and m/s, Nm and N. An unknown state is NaN.
class Hardware {
public:
    virtual ~Hardware() = default;

    // Open the device; nothing may move. May take long. Throws if the device does not fit its description.
    virtual void configure(const Device& device) = 0;

    // Allow motion: all joints hold, in the mode none. May take long; also called again after Outcome::inactive.
    virtual void activate() = 0;

    // Once in each cycle, first. Writes the states of joints (position, velocity, effort), values and outputs; a state
    // that it does not write keeps its value, which is NaN until the first one. For real time, unless `Pace::device`.
    virtual Outcome read(double* state, std::int64_t time_ns, double period_s) = 0;

    // Switch the modes of all joints, given in the order of `Device::joints`. Returns false if the device refuses them and
    // still has the modes of before. Called at rest, or while joints move if an action asks for it.
    virtual bool switch_modes(const std::vector<Mode>& modes, const double* command) = 0;

    // Once in each cycle, last. For real time. Of a joint the command of its mode applies; they are finite.
    virtual Outcome write(const double* command, std::int64_t time_ns, double period_s) = 0;

    // Release the device, whatever has happened before. The joints are at rest, unless the device has failed.
    virtual void shutdown() noexcept = 0;

    std::string reason;  // of what was not ok, for people
};

}  // namespace robot_rt_control

#endif  // ROBOT_RT_CONTROL__HARDWARE_HPP_
