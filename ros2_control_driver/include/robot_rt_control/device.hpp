// The description of a device, as `external_driver` writes it: names, places and limits of all that is exchanged.
#ifndef ROBOT_RT_CONTROL__DEVICE_HPP_
#define ROBOT_RT_CONTROL__DEVICE_HPP_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "robot_rt_control/json.hpp"
#include "robot_rt_control/process_image.h"

namespace robot_rt_control {

enum class Mode : int {
    none = RRC_MODE_NONE,  // not commanded: the joint holds
    position = RRC_MODE_POSITION,
    velocity = RRC_MODE_VELOCITY,
    effort = RRC_MODE_EFFORT,
};

const char* name_of(Mode mode);

struct Joint {
    std::string part;
    std::string name;
    std::size_t part_index;  // of its part's word of command modes in the image
    std::size_t place;       // among its part's joints: four bits of that word
    std::size_t state;       // index of its position; velocity and effort follow
    std::size_t command;     // the same among the commands
    std::vector<Mode> modes; // in which it may be commanded
    double lower, upper;     // [rad or m]; infinite: none
    double velocity;         // [rad/s or m/s]
    double acceleration;     // [rad/s^2 or m/s^2]; infinite: none
    double start;            // [rad or m] where simulated hardware starts

    bool allows(Mode mode) const;
};

struct Value {  // what is measured apart from joints: inputs, forces, distances
    std::string part, name;
    std::size_t state;
};

struct Output {
    std::string part, name;
    std::size_t state;    // index of the value read back
    std::size_t command;
    double initial;       // the first command if nothing is read back
    double safe;          // what it gets after a failure; NaN: it keeps its value
};

enum class Pace {
    own,     // the driver's own clock
    device,  // the device's: `Hardware::read` waits for it
    loop,    // the executor's: a cycle follows each command
};

struct Device {
    std::string name;
    std::string image;          // name of the shared-memory segment
    std::string manifest;       // the description itself, as it lies behind the image's record
    double period_s;
    std::int64_t period_ns;
    std::int64_t silence_periods;  // without a command, after which the device is brought to rest
    Pace pace;
    double answer;              // [periods] for which the command of the states just published is awaited
    int priority;               // SCHED_FIFO; 0: an ordinary thread
    std::vector<std::string> states, commands;
    std::size_t n_parts;        // words of command modes
    std::vector<Joint> joints;
    std::vector<Value> values;
    std::vector<Output> outputs;
    struct Age { std::size_t state, of; };
    std::vector<Age> ages;      // states that are the ages [s] of others
    struct Range { std::size_t state; double lower, upper; };
    std::vector<Range> ranges;  // of rangefinders [m]
    std::string control_tag;    // name of the <ros2_control> tag; empty: none
    std::string urdf;           // its file; empty: none
    std::string folder;         // the workcell file's, for relative paths in `parameters`
    Json parameters;            // an object: the driver's own, from the workcell file

    // Throws std::runtime_error: the text is no description, or that of another layout of the process image.
    static Device parse(const std::string& text);
    // The same from a file.
    static Device load(const std::string& path);
};

}  // namespace robot_rt_control

#endif  // ROBOT_RT_CONTROL__DEVICE_HPP_
