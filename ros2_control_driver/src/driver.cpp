#include "robot_rt_control/driver.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>

namespace robot_rt_control {

namespace {

constexpr std::int64_t kSecond = 1000000000;
constexpr std::int64_t kRestTimeout = 2 * kSecond;
constexpr std::int64_t kFreshPeriods = 5;
constexpr std::int64_t kHeldPeriods = 2;
constexpr double kCatchUp = 1.1;  // times the limit of velocity: so fast a position catches up with commands that were missed
constexpr double kRangeTolerance = 1e-6;  // a distance exactly at an end is still in the range

// REP 117, as robot_rt_control/hardware/ranging.py.
double ranged(double distance, const Device::Range& range)
{
    if (distance < range.lower * (1.0 - kRangeTolerance)) return -INFINITY;
    return distance > range.upper * (1.0 + kRangeTolerance) ? INFINITY : distance;
}

std::size_t value_of(Mode mode)  // which of a joint's three commands applies
{
    return static_cast<std::size_t>(mode) - 1;
}

}  // namespace

Driver::Driver(const Device& device, Hardware& hardware, Log& log)
: device_(device), hardware_(hardware), log_(log), image_(device), ramp_(device.joints)
{
    command_.values.assign(device.commands.size(), 0.0);
    command_.modes.assign(device.n_parts, 0);
    state_.assign(device.states.size(), NAN);
    published_ = state_;
    sent_.assign(device.commands.size(), 0.0);
    older_ = sent_;
    followed_words_.assign(device.n_parts, 0);
    modes_.assign(device.joints.size(), Mode::none);
    none_ = wanted_ = modes_;
    velocities_.assign(device.joints.size(), 0.0);
}

Driver::~Driver() { hardware_.shutdown(); }

bool Driver::start(const std::atomic<bool>& stop)
{
    hardware_.configure(device_);
    if (stop) return false;
    hardware_.activate();
    active_ = true;
    // An earlier driver may have died while commands were enabled: they go on from where it was, and this one's device stands
    // elsewhere. That an executor has withdrawn its enable cannot be missed, as it enables nothing while it sees an error.
    error_ = RRC_ERROR_EXECUTOR_SILENT;
    image_.set_reason("commands that were enabled before this driver began are not followed");
    read();
    publish();
    if (failed()) throw std::runtime_error(image_.record().driver_reason);
    for (const Output& output : device_.outputs) {  // not commanded yet: they keep their values
        const double read_back = state_[output.state];
        sent_[output.command] = std::isfinite(read_back) ? read_back : output.initial;
    }
    return true;
}

bool Driver::run(const std::atomic<bool>& stop)
{
    std::int64_t deadline = now_ns();
    while (!stop && !failed()) wait_for_next(deadline);
    if (failed()) return false;
    ending_ = true;
    error_ = RRC_ERROR_DRIVER_ENDING;
    image_.set_reason("the driver was asked to end");
    const std::int64_t given_up = now_ns() + kRestTimeout;
    while (!failed()) {
        wait_for_next(deadline);
        if (mode_ == RRC_DRIVER_HOLDING && !failed()) {
            read();
            publish();  // the last state reports it
            return !failed();
        }
        if (now_ns() > given_up) {
            log_.warning("not at rest after 2 s, ending anyway");
            return true;
        }
    }
    return false;
}

// Run the next cycle when it is due, and move the deadline on.
void Driver::wait_for_next(std::int64_t& deadline)
{
    if (device_.pace == Pace::loop) {
        deadline += device_.period_ns;
        cycle_after_command(deadline);
        // Without commands a cycle is a period, no more: the ramp to rest and the silence are counted in cycles.
        if (!missed_ || now_ns() > deadline + device_.period_ns) deadline = now_ns();
        return;
    }
    if (device_.pace == Pace::own && now_ns() < deadline) sleep_until_ns(deadline);
    cycle();
    deadline += device_.period_ns;
    const std::int64_t late = now_ns() - deadline;
    if (late > 0) {
        if (device_.pace == Pace::own || late > device_.period_ns) image_.count(++late_, unanswered_);
        // Lost cycles are skipped: if they were made up, the device would reach the last command and stop abruptly.
        deadline += (late + device_.period_ns - 1) / device_.period_ns * device_.period_ns;
    }
    if (device_.pace == Pace::device) deadline = now_ns();
}

void Driver::cycle()
{
    read();
    publish();
    bool is_new = false;
    if (image_.drives_loop() && !failed()) {
        const auto patience = static_cast<std::int64_t>(device_.answer * static_cast<double>(device_.period_ns));
        const std::int64_t deadline = published_at(state_cycle_) + patience;
        if (!image_.await_answer(command_, state_cycle_, deadline, is_new)) image_.count(late_, ++unanswered_);
    } else {
        is_new = image_.take(command_);
    }
    write(is_new);
    ++cycles_;
    if (failed()) publish();  // the executor need not wait for its age limit
}

void Driver::cycle_after_command(std::int64_t deadline)
{
    // A loop that lives may be late by a period, once. One that has ended is not waited for: its device moves.
    const bool is_new =
        image_.await_command(command_, deadline) ||
        (!missed_ && image_.executor_lives() && image_.await_command(command_, deadline + device_.period_ns));
    missed_ = !is_new;
    if (!is_new) image_.count(late_, ++unanswered_);
    write(is_new);
    if (!failed()) read();
    publish();
    ++cycles_;
}

void Driver::read()
{
    if (failed()) return;
    try {
        switch (hardware_.read(state_.data(), now_ns(), device_.period_s)) {
            case Outcome::error: return fail("read returned ERROR");
            case Outcome::inactive:
                if (active_) latch(RRC_ERROR_INACTIVE, "the device has ended its activity in read");
                active_ = false;
                break;
            case Outcome::ok: break;
        }
    } catch (const std::exception& error) {
        return fail(std::string("read threw: ") + error.what());
    } catch (...) {
        return fail("read threw something that is no std::exception");
    }
    std::copy(state_.begin(), state_.end(), published_.begin());
    for (const Device::Age& age : device_.ages) {
        published_[age.state] = std::isfinite(state_[age.of]) ? 0.0 : NAN;  // it has just been read
    }
    for (const Device::Range& range : device_.ranges) published_[range.state] = ranged(state_[range.state], range);
}

void Driver::publish()
{
    const std::int64_t at = now_ns();
    state_cycle_ = image_.publish(published_.data(), error_);
    published_at(state_cycle_) = at;
}

std::int64_t& Driver::published_at(std::int64_t state_cycle)
{
    return published_at_[static_cast<std::size_t>(state_cycle) % published_at_.size()];
}

// Whether the last command was computed from states that are not old: the loop, or its machine, did not stand still meanwhile.
bool Driver::is_fresh()
{
    const std::int64_t older = state_cycle_ - command_.state_cycle;
    if (older < 0 || older >= static_cast<std::int64_t>(published_at_.size())) return false;
    return now_ns() - published_at(command_.state_cycle) <= kFreshPeriods * device_.period_ns;
}

void Driver::write(bool is_new)
{
    if (failed()) return;
    const bool enabled = command_.enable == 1;
    // A command that is not enabled moves nothing, whatever it was computed from.
    const bool followed = is_new && enabled && is_fresh();
    silent_ = is_new && (followed || !enabled) ? 0 : silent_ + 1;
    ++held_;
    if (error_ == RRC_ERROR_INACTIVE && is_new && !enabled && !ending_) reactivate();
    if (error_ != RRC_ERROR_NONE && error_ != RRC_ERROR_INACTIVE && is_new && !enabled && !ending_) {
        log_.info("the executor has withdrawn its commands: those that it enables from now on are followed");
        latch(RRC_ERROR_NONE, "");
    }
    if (ending_ || error_ != RRC_ERROR_NONE || !enabled) {
        rest();
    } else if (silent_ > 0 && !image_.executor_lives()) {
        // At once: held for the silence that a hanging executor is granted, a moving joint would stop dead.
        latch(RRC_ERROR_EXECUTOR_SILENT, "the executor has ended: bringing the device to rest");
        rest();
    } else if (device_.silence_periods > 0 && silent_ > patience()) {
        latch(RRC_ERROR_EXECUTOR_SILENT,
              "no command for " + std::to_string(silent_) + " periods: bringing the device to rest");
        rest();
    } else if (followed && mode_ == RRC_DRIVER_BRAKING) {
        went_on_ = true;  // enabled again in between: from its own motion a device goes over to the loop's at rest only
        rest();
    } else if (followed) {
        follow();
    }
    if (failed() || !active_) return;
    try {
        switch (hardware_.write(sent_.data(), now_ns(), device_.period_s)) {
            case Outcome::error: return fail("write returned ERROR");
            case Outcome::inactive:
                active_ = false;
                return latch(RRC_ERROR_INACTIVE, "the device has ended its activity in write");
            case Outcome::ok: return;
        }
    } catch (const std::exception& error) {
        fail(std::string("write threw: ") + error.what());
    } catch (...) {
        fail("write threw something that is no std::exception");
    }
}

// An effort was computed from the motion of its moment: held, it accelerates its joint for as long as it is.
std::int64_t Driver::patience() const
{
    const bool efforts = std::find(modes_.begin(), modes_.end(), Mode::effort) != modes_.end();
    return efforts ? std::min(kFreshPeriods, device_.silence_periods) : device_.silence_periods;
}

// --- following ------------------------------------------------------------------------------------

void Driver::follow()
{
    for (const Joint& joint : device_.joints) {
        const auto mode = static_cast<Mode>(command_.modes[joint.part_index] >> 4 * joint.place & 15);
        const bool known = mode >= Mode::none && mode <= Mode::effort && joint.allows(mode);
        if (!known || (mode != Mode::none && !std::isfinite(command_.values[joint.command + value_of(mode)]))) {
            const std::string what = joint.part + "/" + joint.name + (known ? ": the command is not finite" :
                                                                     ": no such command mode of this joint");
            latch(RRC_ERROR_MODE_REFUSED, what);
            return rest();
        }
    }
    for (const Output& output : device_.outputs) {
        if (!std::isfinite(command_.values[output.command])) {
            latch(RRC_ERROR_MODE_REFUSED, output.part + "/" + output.name + ": the command is not finite");
            return rest();
        }
    }
    const bool begins = mode_ != RRC_DRIVER_FOLLOWING || command_.modes != followed_words_;
    if (begins) {
        if (!switch_to(command_.modes)) return;
        // A first command of a mode has no predecessor: it does not move yet.
        older_ = command_.values;
        older_cycle_ = command_.cycle - 1;
        if (went_on_) {
            for (const Joint& joint : device_.joints) {
                if (std::isfinite(state_[joint.state])) older_[joint.command] = state_[joint.state];
            }
        }
    } else {
        older_ = sent_;
        older_cycle_ = newer_cycle_;
    }
    newer_cycle_ = command_.cycle;
    sent_ = command_.values;
    if (!begins || went_on_) bound_steps();
    went_on_ = false;
    held_ = 0;
    followed_at_ = now_ns();
}

// The executor's commands are continuous. Those that this driver has missed, because it or the device hung, are not made up in
// one step: a person may stand beside.
void Driver::bound_steps()
{
    const std::int64_t passed =
        std::clamp(now_ns() - followed_at_, device_.period_ns, kHeldPeriods * device_.period_ns);
    for (std::size_t j = 0; j < device_.joints.size(); ++j) {
        if (modes_[j] != Mode::position) continue;
        const Joint& joint = device_.joints[j];
        const double most = kCatchUp * joint.velocity * static_cast<double>(passed) * 1e-9;
        const double last = older_[joint.command];
        sent_[joint.command] = std::clamp(sent_[joint.command], last - most, last + most);
    }
}

bool Driver::switch_to(const std::vector<std::int64_t>& words)
{
    for (std::size_t j = 0; j < device_.joints.size(); ++j) {
        const Joint& joint = device_.joints[j];
        wanted_[j] = static_cast<Mode>(words[joint.part_index] >> 4 * joint.place & 15);
    }
    bool done = false;
    try {
        done = wanted_ == modes_ || hardware_.switch_modes(wanted_, command_.values.data());
    } catch (const std::exception& error) {
        fail(std::string("switch of command modes threw: ") + error.what());
        return false;
    } catch (...) {
        fail("switch of command modes threw something that is no std::exception");
        return false;
    }
    if (!done) {
        latch(RRC_ERROR_MODE_REFUSED, "the command modes are refused" +
                                          (hardware_.reason.empty() ? "" : ": " + hardware_.reason));
        rest();
        return false;
    }
    modes_ = wanted_;
    followed_words_ = words;
    if (mode_ != RRC_DRIVER_FOLLOWING) log_.info("following the executor's commands");
    set_mode(RRC_DRIVER_FOLLOWING);
    return true;
}

// --- resting --------------------------------------------------------------------------------------

void Driver::rest()
{
    if (mode_ == RRC_DRIVER_HOLDING) {
        if (error_ == RRC_ERROR_NONE && !ending_) release();
        return;
    }
    if (mode_ == RRC_DRIVER_FOLLOWING) {
        begin_rest();
        if (failed()) return;
    }
    ramp_.step(device_.period_s, sent_.data());
    if (ramp_.at_rest()) {
        log_.info("at rest");
        set_mode(RRC_DRIVER_HOLDING);
    }
}

void Driver::begin_rest()
{
    const double passed = static_cast<double>(std::max<std::int64_t>(newer_cycle_ - older_cycle_, 1)) * device_.period_s;
    // A position that was held stands already, whoever hung meanwhile: the executor, the device, or this process. It is not
    // set in motion again.
    const bool stood = held_ > kHeldPeriods || now_ns() - followed_at_ > 2 * kHeldPeriods * device_.period_ns;
    for (std::size_t j = 0; j < device_.joints.size(); ++j) {
        const std::size_t place = device_.joints[j].command;
        velocities_[j] = stood ? 0.0 : (sent_[place] - older_[place]) / passed;
    }
    for (const Output& output : device_.outputs) {
        if (std::isfinite(output.safe)) sent_[output.command] = output.safe;
    }
    ramp_.begin(modes_, velocities_, state_.data(), sent_.data());
    set_mode(RRC_DRIVER_BRAKING);
    if (!active_ || set_modes(ramp_.modes()) || failed()) return;
    // It cannot be braked in these modes, as by positions from an effort. The mode none must always be possible.
    log_.warning("the device refuses the command modes in which it is brought to rest: its joints are not commanded any more");
    if (set_modes(none_)) {
        velocities_.assign(velocities_.size(), 0.0);
        ramp_.begin(none_, velocities_, state_.data(), sent_.data());
    } else if (!failed()) {
        fail("the device refuses the command modes in which it is brought to rest, and the mode none");
    }
}

// Motion is disabled, and the device is at rest: no joint is commanded.
void Driver::release()
{
    if (active_ && !set_modes(none_) && !failed()) fail("the device refuses the mode none");
}

bool Driver::set_modes(const std::vector<Mode>& modes)
{
    if (modes == modes_) return true;
    try {
        if (hardware_.switch_modes(modes, sent_.data())) {
            modes_ = modes;
            return true;
        }
    } catch (const std::exception& error) {
        fail(std::string("switch of command modes threw: ") + error.what());
    } catch (...) {
        fail("switch of command modes threw something that is no std::exception");
    }
    return false;
}

// The executor has seen that the device is not active and has withdrawn its enable: from here on it can be activated.
void Driver::reactivate()
{
    if (now_ns() < activate_at_) return;
    activate_at_ = now_ns() + kSecond;
    try {
        hardware_.activate();
    } catch (const std::exception& error) {
        latch(RRC_ERROR_INACTIVE, std::string("the device cannot be activated again: ") + error.what());
        return;
    } catch (...) {
        latch(RRC_ERROR_INACTIVE, "the device cannot be activated again: it threw something that is no std::exception");
        return;
    }
    active_ = true;
    std::fill(modes_.begin(), modes_.end(), Mode::none);
    set_mode(RRC_DRIVER_HOLDING);
    log_.info("the device is active again");
    latch(RRC_ERROR_NONE, "");
}

void Driver::latch(std::int64_t error, const std::string& reason)
{
    if (error != RRC_ERROR_NONE) {
        const std::string more = hardware_.reason.empty() || reason.find(hardware_.reason) != std::string::npos ?
            "" : ": " + hardware_.reason;
        log_.warning(reason + more);
        image_.set_reason(reason + more);
        log_.status(reason + more);
    } else {
        image_.set_reason("");
        log_.status("");
    }
    hardware_.reason.clear();
    error_ = error;
}

void Driver::fail(const std::string& what)
{
    const std::string reason = what + (hardware_.reason.empty() ? "" : ": " + hardware_.reason);
    log_.error(reason);
    image_.set_reason(reason);
    error_ = RRC_ERROR_DEVICE;
    set_mode(RRC_DRIVER_HOLDING);
}

void Driver::set_mode(std::int64_t driver_mode)
{
    mode_ = driver_mode;
    image_.set_mode(driver_mode);
}

}  // namespace robot_rt_control
