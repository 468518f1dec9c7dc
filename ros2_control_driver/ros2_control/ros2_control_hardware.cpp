#include "ros2_control_hardware.hpp"

#include <tinyxml2.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "hardware_interface/introspection.hpp"
#include "hardware_interface/types/lifecycle_state_names.hpp"
#include "lifecycle_msgs/msg/state.hpp"
#include "rclcpp/executors/single_threaded_executor.hpp"
#include "rclcpp_lifecycle/state.hpp"

namespace robot_rt_control {

namespace {

using hardware_interface::return_type;
using PrimaryState = lifecycle_msgs::msg::State;

// The URDF without the other <ros2_control> tags: each device has a process of its own.
std::string with_one_tag(const std::string& path, const std::string& name)
{
    tinyxml2::XMLDocument document;
    if (document.LoadFile(path.c_str()) != tinyxml2::XML_SUCCESS || document.RootElement() == nullptr) {
        throw std::runtime_error("the URDF '" + path + "' cannot be read: " + document.ErrorStr());
    }
    tinyxml2::XMLElement* robot = document.RootElement();
    bool found = false;
    for (tinyxml2::XMLElement* tag = robot->FirstChildElement("ros2_control"); tag != nullptr;) {
        tinyxml2::XMLElement* next = tag->NextSiblingElement("ros2_control");
        const char* own = tag->Attribute("name");
        if (own != nullptr && name == own) {
            found = true;
        } else {
            robot->DeleteChild(tag);
        }
        tag = next;
    }
    if (!found) throw std::runtime_error("the URDF '" + path + "' has no <ros2_control> tag '" + name + "'");
    tinyxml2::XMLPrinter printer;
    document.Print(&printer);
    return printer.CStr();
}

std::string listed(const std::vector<std::string>& names)
{
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

}  // namespace

Ros2ControlHardware::Ros2ControlHardware(const std::vector<std::string>& ros_arguments)
: node_(std::make_shared<rclcpp::Node>("ros2_control_driver", rclcpp::NodeOptions().arguments(ros_arguments))),
  executor_(std::make_shared<rclcpp::executors::SingleThreadedExecutor>())
{
    // Components make nodes of their own, and take time from the executor that spins here, beside the cycle.
    INITIALIZE_ROS2_CONTROL_INTROSPECTION_REGISTRY(
        node_, hardware_interface::DEFAULT_INTROSPECTION_TOPIC, hardware_interface::DEFAULT_REGISTRY_KEY);
    executor_->add_node(node_);
    spinning_ = std::thread([this] {
        try {
            executor_->spin();
        } catch (const std::exception& error) {  // the cycle goes on: it must not end because of a service
            RCLCPP_ERROR(node_->get_logger(), "nodes and services are not served any more: %s", error.what());
        }
        spun_ = true;
    });
}

Ros2ControlHardware::~Ros2ControlHardware() { shutdown(); }

void Ros2ControlHardware::configure(const Device& device)
{
    device_ = &device;
    if (device.control_tag.empty() || device.urdf.empty()) {
        throw std::runtime_error(
            "expected `ros2_control: NAME` of a tag in the URDF of the device's parts (workcell file); got none");
    }
    hardware_interface::ResourceManagerParams params;
    params.robot_description = with_one_tag(device.urdf, device.control_tag);
    params.clock = node_->get_clock();
    params.logger = node_->get_logger();
    params.node_namespace = node_->get_namespace();
    params.executor = executor_;
    params.update_rate = static_cast<unsigned int>(std::lround(1.0 / device.period_s));
    manager_ = std::make_unique<hardware_interface::ResourceManager>(params, true);
    if (!manager_->are_components_initialized()) {
        throw std::runtime_error("the component of <ros2_control> '" + device.control_tag +
                                 "' was not loaded or not initialized: its own messages tell why. Is the package with "
                                 "its plugin installed?");
    }
    set_state(PrimaryState::PRIMARY_STATE_INACTIVE, hardware_interface::lifecycle_state_names::INACTIVE);
    const char* const kinds[] = {"position", "velocity", "effort"};
    for (const Joint& joint : device.joints) {
        std::vector<std::size_t> places;
        for (std::size_t k = 0; k < 3; ++k) {
            const std::string key = joint.name + "/" + kinds[k];
            claim_state(key, joint.state + k, k == 0);
            places.push_back(commands_.size());
            if (joint.allows(static_cast<Mode>(k + 1))) {
                claim_command(key, joint.command + k);
            } else {
                places.back() = std::numeric_limits<std::size_t>::max();
            }
        }
        of_joint_.push_back(places);
    }
    first_output_ = commands_.size();
    for (const Value& value : device.values) claim_state(value.part + "/" + value.name, value.state, true);
    for (const Output& output : device.outputs) {
        const std::string key = output.part + "/" + output.name;
        const std::size_t before = states_.size();
        claim_state(key, output.state, false);
        if (states_.size() == before) echoed_.emplace_back(output.state, commands_.size());
        claim_command(key, output.command);
    }
    written_.assign(commands_.size(), std::numeric_limits<double>::quiet_NaN());
    modes_.assign(device.joints.size(), Mode::none);
}

void Ros2ControlHardware::claim_state(const std::string& key, std::size_t index, bool needed)
{
    if (!manager_->state_interface_is_available(key)) {
        if (!needed) return;
        throw std::runtime_error("expected the state interface '" + key + "'; the component has " +
                                 listed(manager_->available_state_interfaces()));
    }
    const bool is_bool = manager_->get_state_interface_data_type(key) == "bool";
    states_.push_back({manager_->claim_state_interface(key), index, is_bool});
}

void Ros2ControlHardware::claim_command(const std::string& key, std::size_t index)
{
    if (!manager_->command_interface_is_available(key)) {
        throw std::runtime_error("expected the command interface '" + key + "'; the component has " +
                                 listed(manager_->available_command_interfaces()));
    }
    const bool is_bool = manager_->get_command_interface_data_type(key) == "bool";
    commands_.push_back({manager_->claim_command_interface(key), key, index, is_bool, false});
}

void Ros2ControlHardware::set_state(std::uint8_t id, const char* label)
{
    rclcpp_lifecycle::State wanted(id, label);
    if (manager_->set_component_state(device_->control_tag, wanted) != return_type::OK) {
        throw std::runtime_error("the component '" + device_->control_tag + "' does not become " + label +
                                 ": its own messages tell why");
    }
}

void Ros2ControlHardware::activate()
{
    set_state(PrimaryState::PRIMARY_STATE_ACTIVE, hardware_interface::lifecycle_state_names::ACTIVE);
    std::fill(modes_.begin(), modes_.end(), Mode::none);
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < commands_.size(); ++i) {
        commands_[i].active = i >= first_output_;
        if (commands_[i].active) outputs.push_back(commands_[i].key);
    }
    if (!outputs.empty() &&
        !(manager_->prepare_command_mode_switch(outputs, {}) && manager_->perform_command_mode_switch(outputs, {}))) {
        throw std::runtime_error("the component refuses the command interfaces " + listed(outputs));
    }
}

Outcome Ros2ControlHardware::read(double* state, std::int64_t time_ns, double period_s)
{
    const std::int64_t passed = last_read_ns_ == 0 ? std::llround(period_s * 1e9) : time_ns - last_read_ns_;
    last_read_ns_ = time_ns;
    const auto status = manager_->read(node_->now(), rclcpp::Duration::from_nanoseconds(passed));
    if (status.result != return_type::OK) {
        reason = failure(status, "read");
        return Outcome::error;  // the manager treats DEACTIVATE likewise
    }
    for (State& one : states_) {
        // A handle that the component holds locked in this moment gives no value: the last one stays.
        if (one.is_bool) {
            if (const auto value = one.loan.get_optional<bool>()) state[one.index] = *value ? 1.0 : 0.0;
        } else if (const auto value = one.loan.get_optional()) {
            state[one.index] = *value;
        }
    }
    for (const auto& [index, place] : echoed_) state[index] = written_[place];
    return Outcome::ok;
}

bool Ros2ControlHardware::switch_modes(const std::vector<Mode>& modes, const double* command)
{
    std::vector<std::string> start, stop;
    for (std::size_t j = 0; j < modes.size(); ++j) {
        if (modes[j] == modes_[j]) continue;
        if (modes_[j] != Mode::none) stop.push_back(commands_[of_joint_[j][static_cast<std::size_t>(modes_[j]) - 1]].key);
        if (modes[j] == Mode::none) continue;
        Command& starts = commands_[of_joint_[j][static_cast<std::size_t>(modes[j]) - 1]];
        start.push_back(starts.key);
        // The component may look at the first command of its new mode. One that is left there from long ago must not move it.
        if (!send(starts, command[starts.index])) {
            reason = "the command interface '" + starts.key + "' is locked by the component";
            return false;
        }
    }
    if (start.empty() && stop.empty()) return true;
    if (!manager_->prepare_command_mode_switch(start, stop)) {
        reason = "the component refuses to start " + listed(start) + " and to stop " + listed(stop);
        return false;
    }
    if (!manager_->perform_command_mode_switch(start, stop)) {
        throw std::runtime_error("the component was prepared for a switch of modes, and failed to start " + listed(start) +
                                 " and to stop " + listed(stop));
    }
    modes_ = modes;
    for (std::size_t i = 0; i < first_output_; ++i) commands_[i].active = false;
    for (std::size_t j = 0; j < modes.size(); ++j) {
        if (modes[j] != Mode::none) commands_[of_joint_[j][static_cast<std::size_t>(modes[j]) - 1]].active = true;
    }
    return true;
}

bool Ros2ControlHardware::send(Command& command, double value)
{
    const bool done = command.is_bool ? command.loan.set_value(value >= 0.5) : command.loan.set_value(value);
    if (done) written_[static_cast<std::size_t>(&command - commands_.data())] = value;
    return done;
}

Outcome Ros2ControlHardware::write(const double* command, std::int64_t time_ns, double period_s)
{
    const std::int64_t passed = last_write_ns_ == 0 ? std::llround(period_s * 1e9) : time_ns - last_write_ns_;
    last_write_ns_ = time_ns;
    const Command* locked = nullptr;
    for (Command& one : commands_) {
        if (one.active && !send(one, command[one.index])) locked = &one;
    }
    locked_ = locked == nullptr ? 0 : locked_ + 1;
    if (locked_ > device_->silence_periods) {
        throw std::runtime_error("the command interface '" + locked->key + "' stays locked by the component");
    }
    const auto status = manager_->write(node_->now(), rclcpp::Duration::from_nanoseconds(passed));
    if (status.result == return_type::OK) return Outcome::ok;
    reason = failure(status, "write");
    if (status.result != return_type::DEACTIVATE) return Outcome::error;
    stop_all();
    return Outcome::inactive;
}

void Ros2ControlHardware::stop_all()
{
    std::vector<std::string> stop;
    for (Command& one : commands_) {
        if (one.active) stop.push_back(one.key);
        one.active = false;
    }
    std::fill(modes_.begin(), modes_.end(), Mode::none);
    if (stop.empty()) return;
    if (!manager_->prepare_command_mode_switch({}, stop) || !manager_->perform_command_mode_switch({}, stop)) {
        RCLCPP_ERROR(node_->get_logger(), "the component does not stop %s", listed(stop).c_str());
    }
}

std::string Ros2ControlHardware::failure(
    const hardware_interface::HardwareReadWriteStatus& status, const char* call) const
{
    const char* const result = status.result == return_type::DEACTIVATE ? "DEACTIVATE" : "ERROR";
    return std::string(call) + " of " + listed(status.failed_hardware_names) + " came to " + result;
}

void Ros2ControlHardware::shutdown() noexcept
{
    try {
        try {
            if (manager_ != nullptr) stop_all();
        } catch (const std::exception& error) {
            RCLCPP_ERROR(node_->get_logger(), "%s", error.what());
        }
        // Loans go before their manager.
        states_.clear();
        commands_.clear();
        if (manager_ != nullptr) {
            try {
                set_state(PrimaryState::PRIMARY_STATE_INACTIVE, hardware_interface::lifecycle_state_names::INACTIVE);
            } catch (const std::exception& error) {
                RCLCPP_ERROR(node_->get_logger(), "%s", error.what());
            }
            manager_->shutdown_components();
            manager_.reset();
        }
        if (spinning_.joinable()) {
            // An executor that does not spin yet forgets that it was cancelled.
            while (!executor_->is_spinning() && !spun_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            executor_->cancel();
            spinning_.join();
        }
    } catch (const std::exception& error) {
        RCLCPP_ERROR(node_->get_logger(), "shutting down: %s", error.what());
    }
}

}  // namespace robot_rt_control
