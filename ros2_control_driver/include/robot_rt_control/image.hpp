// The driver's side of a process image: it owns the shared memory to which one executor attaches.
#ifndef ROBOT_RT_CONTROL__IMAGE_HPP_
#define ROBOT_RT_CONTROL__IMAGE_HPP_

#include <cstdint>
#include <string>
#include <vector>

#include "robot_rt_control/device.hpp"
#include "robot_rt_control/process_image.h"

namespace robot_rt_control {

// CLOCK_MONOTONIC [ns].
std::int64_t now_ns();
// Sleep until CLOCK_MONOTONIC is at the deadline [ns], whatever signals come meanwhile.
void sleep_until_ns(std::int64_t deadline);

// The last whole command of the loop.
struct Command {
    std::vector<double> values;        // as in `Device::commands`
    std::vector<std::int64_t> modes;   // a word for each part, four bits for each joint
    std::int64_t enable = 0;
    std::int64_t cycle = 0;            // counts the loop's writes
    std::int64_t state_cycle = 0;      // of the states from which it was computed
};

class Image {
public:
    // Create the image of a device; that of a dead driver is replaced.
    // Throws std::runtime_error: a running process owns it, or the memory cannot be had.
    explicit Image(const Device& device);
    ~Image();
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    rrc_device_image& record() { return *record_; }

    // Publish all states, and wake a loop that this driver drives. Returns the cycle's number.
    std::int64_t publish(const double* state, std::int64_t error);

    // Take the newest command, whole or not at all. Returns whether it is new.
    bool take(Command& command);

    // Take commands until one answers the states of this cycle, or CLOCK_MONOTONIC is at the deadline [ns]. `is_new`
    // says whether any came.
    bool await_answer(Command& command, std::int64_t state_cycle, std::int64_t deadline, bool& is_new);

    // Sleep until a command is written that `command` is not, at most until the deadline [ns].
    bool await_command(Command& command, std::int64_t deadline);

    bool drives_loop() const;
    // Whether the attached executor's process lives. One that has detached counts as dead.
    bool executor_lives() const;
    void set_mode(std::int64_t driver_mode);
    // Why an error is published; cut to what the image holds.
    void set_reason(const std::string& reason);
    void count(std::int64_t late_cycles, std::int64_t unanswered_cycles);

private:
    std::string path_;
    int descriptor_ = -1;
    std::size_t size_ = 0;
    std::size_t n_state_ = 0;
    rrc_device_image* record_ = nullptr;
    Command incoming_;  // a torn read must not reach the caller's command
};

}  // namespace robot_rt_control

#endif  // ROBOT_RT_CONTROL__IMAGE_HPP_
