// A component of ros2_control, named by a <ros2_control> tag, behind the driver's narrow interface.
#ifndef ROS2_CONTROL_HARDWARE_HPP_
#define ROS2_CONTROL_HARDWARE_HPP_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hardware_interface/loaned_command_interface.hpp"
#include "hardware_interface/loaned_state_interface.hpp"
#include "hardware_interface/resource_manager.hpp"
#include "rclcpp/rclcpp.hpp"
#include "robot_rt_control/hardware.hpp"

namespace robot_rt_control {

// Hosts a ResourceManager with one component: that of the device's tag. Its interfaces are `joint/position`, as in ros2_control,
// and `part/value` for the sensor or gpio that has the part's name.
//
// Nothing but this object changes the component's state, and only in the thread of the cycle: the manager's read and write skip a
// component whose state another thread changes, and report success. The limits are those of the executor: no limiter is imported.
class Ros2ControlHardware : public Hardware {
public:
    // Needs rclcpp to be initialised.
    // ros_arguments: of this object's own node. As the process's, its name would become that of all nodes of the component.
    explicit Ros2ControlHardware(const std::vector<std::string>& ros_arguments);
    ~Ros2ControlHardware() override;

    void configure(const Device& device) override;
    void activate() override;
    Outcome read(double* state, std::int64_t time_ns, double period_s) override;
    bool switch_modes(const std::vector<Mode>& modes, const double* command) override;
    Outcome write(const double* command, std::int64_t time_ns, double period_s) override;
    void shutdown() noexcept override;

private:
    struct State {
        hardware_interface::LoanedStateInterface loan;
        std::size_t index;
        bool is_bool;
    };
    struct Command {
        hardware_interface::LoanedCommandInterface loan;
        std::string key;
        std::size_t index;
        bool is_bool;
        bool active;
    };

    void claim_state(const std::string& key, std::size_t index, bool needed);
    void claim_command(const std::string& key, std::size_t index);
    void set_state(std::uint8_t id, const char* label);
    bool send(Command& command, double value);  // false: the component holds it locked
    // As the controller manager does with the controllers of a component that ends its activity: a component that is not told
    // to stop a mode goes on with its last command once it is active again.
    void stop_all();
    std::string failure(const hardware_interface::HardwareReadWriteStatus& status, const char* call) const;

    const Device* device_ = nullptr;
    rclcpp::Node::SharedPtr node_;
    rclcpp::Executor::SharedPtr executor_;
    std::atomic<bool> spun_{false};
    std::thread spinning_;
    std::unique_ptr<hardware_interface::ResourceManager> manager_;
    std::vector<State> states_;
    std::vector<Command> commands_;                  // first those of joints, then outputs
    std::vector<std::vector<std::size_t>> of_joint_; // of each joint and mode (position, velocity, effort): place in commands_
    std::size_t first_output_ = 0;
    std::vector<std::pair<std::size_t, std::size_t>> echoed_;  // outputs that are not read back: state, place in commands_
    std::vector<double> written_;                    // last value of each command; NaN: none
    std::vector<Mode> modes_;
    std::int64_t last_read_ns_ = 0, last_write_ns_ = 0;
    std::int64_t locked_ = 0;                        // cycles in a row in which a command could not be set
};

}  // namespace robot_rt_control

#endif  // ROS2_CONTROL_HARDWARE_HPP_
