// Runs one device: publishes its states, wakes the loop, passes commands on, and brings the device to rest without commands.
#ifndef ROBOT_RT_CONTROL__DRIVER_HPP_
#define ROBOT_RT_CONTROL__DRIVER_HPP_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "robot_rt_control/device.hpp"
#include "robot_rt_control/hardware.hpp"
#include "robot_rt_control/image.hpp"
#include "robot_rt_control/log.hpp"
#include "robot_rt_control/rest_ramp.hpp"

namespace robot_rt_control {

// One device and its image. One thread calls `start` and then `run`.
//
// A cycle reads the device and publishes the states. If that wakes the loop (clock:=hardware), it waits for the command that was
// computed from these states, at most `Device::answer` periods; otherwise it takes the newest command. Then it writes.
// With Pace::loop a cycle begins with a new command, writes it, and then reads.
//
// The driver follows commands while they arrive, are enabled, and were computed from states at most five periods old.
// Otherwise it brings the joints to rest by itself (RestRamp), gives outputs their safe values, and holds:
// - enable is 0: until it is 1 again. At rest, joints are switched to the mode none.
// - no command, and the executor's process is dead; or no command for more than `Device::silence_periods` (five periods, if a
//   joint is commanded by its effort): it hangs. Later
//   commands are not followed, because the device has left their start: the image reports EXECUTOR_SILENT, the executor faults
//   the parts and withdraws its enable, which ends this state. While a hanging executor is waited for, its last command is held.
// - the device refuses a mode, or a command is not finite: the same, with MODE_REFUSED.
// - the driver begins: the same, with EXECUTOR_SILENT. Commands that are enabled already were meant for a predecessor that died.
// - the device has ended its activity: the same, with INACTIVE; it is activated again once enable is withdrawn.
// A device that fails is not called again; the image reports DEVICE with the reason.
class Driver {
public:
    // Throws std::runtime_error: another driver owns the image.
    Driver(const Device& device, Hardware& hardware, Log& log);
    ~Driver();

    // Open the device and publish its first state; `run` must follow at once. Throws if that fails. Returns false, and has not
    // activated the device, if it was to stop meanwhile: to open it may take long.
    bool start(const std::atomic<bool>& stop);

    // Cycle until `stop`; then bring the device to rest. Returns whether the device has not failed.
    bool run(const std::atomic<bool>& stop);

    std::int64_t cycles() const { return cycles_; }
    std::int64_t late_cycles() const { return late_; }
    std::int64_t unanswered_cycles() const { return unanswered_; }

private:
    void cycle();
    void cycle_after_command(std::int64_t deadline);
    void wait_for_next(std::int64_t& deadline);
    void read();
    void publish();
    void write(bool is_new);
    bool is_fresh();
    std::int64_t patience() const;
    std::int64_t& published_at(std::int64_t state_cycle);
    void follow();
    void bound_steps();
    bool switch_to(const std::vector<std::int64_t>& words);
    void rest();
    void begin_rest();
    void release();
    void reactivate();
    void latch(std::int64_t error, const std::string& reason);
    void fail(const std::string& what);
    void set_mode(std::int64_t driver_mode);
    bool set_modes(const std::vector<Mode>& modes);
    bool failed() const { return error_ == RRC_ERROR_DEVICE; }

    const Device& device_;
    Hardware& hardware_;
    Log& log_;
    Image image_;
    Command command_;                        // the last whole one of the loop
    std::vector<double> state_;
    std::vector<double> published_;          // the states after what is derived from them
    std::vector<double> sent_, older_;       // what the device gets, and the command before it
    std::int64_t newer_cycle_ = 0, older_cycle_ = 0;
    std::vector<std::int64_t> followed_words_;
    std::vector<Mode> modes_, wanted_, none_;  // of the joints: present, commanded, all none
    std::vector<double> velocities_;
    RestRamp ramp_;
    std::int64_t mode_ = RRC_DRIVER_HOLDING;
    std::int64_t error_ = RRC_ERROR_NONE;    // published
    bool went_on_ = false;                   // it was still being brought to rest when commands were enabled
    bool ending_ = false;
    bool active_ = false;
    std::int64_t activate_at_ = 0;           // when the device may be activated again
    std::int64_t silent_ = 0;                // periods without a command
    std::int64_t held_ = 0;                  // periods since the last command that was followed
    std::int64_t followed_at_ = 0;           // when it was
    std::int64_t state_cycle_ = 0;           // of the last publication
    std::array<std::int64_t, 64> published_at_{};  // of the last ones
    std::int64_t cycles_ = 0, late_ = 0, unanswered_ = 0;
    bool missed_ = false;                    // Pace::loop: no command came in the last cycle
};

// A driver's whole process: `main` of an executable with this hardware, whose first argument is the description's file.
// Ends cleanly on SIGTERM and SIGINT. Returns the exit code.
int run_driver(const std::string& description, Hardware& hardware);

}  // namespace robot_rt_control

#endif  // ROBOT_RT_CONTROL__DRIVER_HPP_
