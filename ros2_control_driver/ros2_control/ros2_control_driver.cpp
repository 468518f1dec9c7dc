// The executable ros2_control_driver: a component of ros2_control as the driver of a device, without controller_manager.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "robot_rt_control/driver.hpp"
#include "ros2_control_hardware.hpp"

int main(int argc, char** argv)
{
    rclcpp::init(1, argv, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);  // run_driver has its own
    if (argc < 2) {
        std::fprintf(stderr, "error: expected the file of the device's description, as external_driver writes it\n");
        return 1;
    }
    int code = 1;
    try {
        robot_rt_control::Ros2ControlHardware hardware(std::vector<std::string>(argv + 2, argv + argc));
        code = robot_rt_control::run_driver(argv[1], hardware);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
    }
    rclcpp::shutdown();
    return code;
}
