#include "robot_rt_control/device.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace robot_rt_control {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void wrong(const std::string& what, const std::string& expected)
{
    throw std::runtime_error("the device's description, " + what + ": expected " + expected);
}

Mode mode_of(const std::string& name)
{
    for (const Mode mode : {Mode::none, Mode::position, Mode::velocity, Mode::effort}) {
        if (name == name_of(mode)) return mode;
    }
    wrong("modes", "position, velocity or effort, got '" + name + "'");
}

Pace pace_of(const std::string& name)
{
    if (name == "own") return Pace::own;
    if (name == "device") return Pace::device;
    if (name == "loop") return Pace::loop;
    wrong("pace", "own, device or loop, got '" + name + "'");
}

std::size_t place(const Json& item, const char* key, std::size_t width, const std::vector<std::string>& names)
{
    const std::size_t index = item.at(key).index();
    if (index + width > names.size()) wrong(key, "an index below " + std::to_string(names.size()));
    return index;
}

}  // namespace

const char* name_of(Mode mode)
{
    switch (mode) {
        case Mode::position: return "position";
        case Mode::velocity: return "velocity";
        case Mode::effort: return "effort";
        default: return "none";
    }
}

bool Joint::allows(Mode mode) const
{
    return mode == Mode::none || std::find(modes.begin(), modes.end(), mode) != modes.end();
}

Device Device::parse(const std::string& text)
{
    const Json all = Json::parse(text);
    if (all.at("format").text() != "robot_rt_control device") wrong("format", "'robot_rt_control device'");
    std::ostringstream layout;
    layout << std::hex << RRC_IMAGE_LAYOUT;
    if (all.at("layout").text() != layout.str()) {
        wrong("layout of the process image",
              layout.str() + " (version " + std::to_string(RRC_IMAGE_VERSION) + "), got " + all.at("layout").text() +
                  ". Build the driver with the same version of robot_rt_control");
    }
    Device device;
    device.manifest = text;
    device.name = all.at("device").text();
    device.image = all.at("image").text();
    device.period_s = all.at("period_s").number();
    if (!(device.period_s >= 1e-5 && device.period_s <= 1.0)) wrong("period_s", "from 0.00001 to 1");
    device.period_ns = std::llround(device.period_s * 1e9);
    device.silence_periods = static_cast<std::int64_t>(all.at("silence_periods").index());
    if (device.silence_periods < 3 || device.silence_periods > 10000) wrong("silence_periods", "from 3 to 10000");
    device.pace = pace_of(all.at("pace").text());
    device.answer = all.at("answer").number();
    if (!(device.answer >= 0.0 && device.answer <= 0.95)) wrong("answer", "from 0 to 0.95");
    const std::size_t priority = all.at("priority").index();
    if (priority > 98) wrong("priority", "from 0 to 98");
    device.priority = static_cast<int>(priority);
    device.states = all.at("state").texts();
    device.commands = all.at("command").texts();
    if (std::max(device.states.size(), device.commands.size()) > RRC_MAX_DEVICE_INTERFACES) {
        wrong("interfaces", "at most " + std::to_string(RRC_MAX_DEVICE_INTERFACES));
    }
    const std::vector<std::string> parts = all.at("parts").texts();
    std::vector<std::size_t> indices;
    for (const Json& index : all.at("indices").list()) indices.push_back(index.index());
    if (indices.size() != parts.size()) wrong("indices", "one for each part");
    device.n_parts = indices.empty() ? 0 : *std::max_element(indices.begin(), indices.end()) + 1;
    if (device.n_parts > RRC_MAX_PARTS) wrong("indices", "below " + std::to_string(RRC_MAX_PARTS));
    const auto part_of = [&parts](const Json& item) {
        const std::size_t part = item.at("part").index();
        if (part >= parts.size()) wrong("part", "an index below " + std::to_string(parts.size()));
        return part;
    };
    std::vector<std::size_t> joints_of(parts.size(), 0);
    for (const Json& item : all.at("joints").list()) {
        const std::size_t part = part_of(item);
        Joint joint{parts[part], item.at("name").text(), indices[part], joints_of[part]++,
                    place(item, "state", 3, device.states), place(item, "command", 3, device.commands), {},
                    item.number("lower", -kInfinity), item.number("upper", kInfinity), item.at("velocity").number(),
                    item.number("acceleration", kInfinity), item.at("start").number()};
        for (const std::string& mode : item.at("modes").texts()) joint.modes.push_back(mode_of(mode));
        if (joint.place >= RRC_MAX_JOINTS) wrong("joints", "at most " + std::to_string(RRC_MAX_JOINTS) + " of a part");
        if (!(joint.velocity > 0.0 && joint.acceleration > 0.0 && joint.lower <= joint.upper)) {
            wrong("joint '" + joint.name + "'", "positive limits, lower <= upper");
        }
        device.joints.push_back(std::move(joint));
    }
    for (const Json& item : all.at("values").list()) {
        device.values.push_back({parts[part_of(item)], item.at("name").text(), place(item, "state", 1, device.states)});
    }
    for (const Json& item : all.at("outputs").list()) {
        device.outputs.push_back({parts[part_of(item)], item.at("name").text(), place(item, "state", 1, device.states),
                                  place(item, "command", 1, device.commands), item.at("initial").number(),
                                  item.number("safe", kNan)});
    }
    for (const Json& item : all.at("ages").list()) {
        device.ages.push_back({place(item, "state", 1, device.states), place(item, "of", 1, device.states)});
    }
    for (const Json& item : all.at("ranges").list()) {
        device.ranges.push_back({place(item, "state", 1, device.states), item.at("lower").number(),
                                 item.at("upper").number()});
    }
    device.control_tag = all.at("control_tag").text();
    device.urdf = all.at("urdf").text();
    device.folder = all.at("folder").text();
    device.parameters = all.at("parameters");
    device.parameters.members();  // refuses anything else than an object
    return device;
}

Device Device::load(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
        throw std::runtime_error("the device's description '" + path +
                                 "' cannot be read: expected a file that external_driver has written");
    }
    return parse(text.str());
}

}  // namespace robot_rt_control
