// The component of the tests: joints that follow their commands at once, and that fail as the tests ask for.
//
// What the test and it say to each other lies in a file of doubles (parameter `book`), mapped by both: see the places below.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "robot_rt_control/driver.hpp"

namespace {

using robot_rt_control::Device;
using robot_rt_control::Hardware;
using robot_rt_control::Joint;
using robot_rt_control::Mode;
using robot_rt_control::Outcome;

constexpr int kFault = 0, kArgument = 1, kWrites = 2, kReads = 3, kShutdowns = 4, kActivations = 5, kSwitches = 6;
constexpr int kRows = 16, kRow = 4, kEntries = 4096;

enum Fault {
    none, read_error, write_error, read_throws, write_throws, hangs, slow, not_a_number, deactivates, refuses_modes,
    stays_inactive, switch_throws, opens_slowly, keeps_effort,
};

class Rehearsal : public Hardware {
public:
    void configure(const Device& device) override
    {
        device_ = &device;
        const int file = open(device.parameters.at("book").text().c_str(), O_RDWR | O_CLOEXEC);
        void* memory = mmap(nullptr, (kRows + kRow * kEntries) * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED) throw std::runtime_error("the test's book cannot be mapped");
        close(file);
        book_ = static_cast<double*>(memory);
        while (fault() == opens_slowly) usleep(1000);
        if (const auto* failure = device.parameters.find("refuses")) throw std::runtime_error(failure->text());
        for (const Joint& joint : device.joints) position_.push_back(joint.start), velocity_.push_back(0.0);
        modes_.assign(position_.size(), Mode::none);
        outputs_.assign(device.outputs.size(), 0.0);
    }

    void activate() override
    {
        if (fault() == stays_inactive) throw std::runtime_error("the brake does not open");
        if (fault() == deactivates) book_[kFault] = none;
        book_[kActivations] += 1.0;
        modes_.assign(position_.size(), Mode::none);
    }

    Outcome read(double* state, std::int64_t, double) override
    {
        book_[kReads] += 1.0;
        switch (fault()) {
            case read_error: reason = "bus off"; return Outcome::error;
            case read_throws: throw std::runtime_error("bus off");
            case hangs: while (fault() == hangs) usleep(1000); break;
            case slow: usleep(static_cast<useconds_t>(book_[kArgument] * 1e6)); break;
            default: break;
        }
        for (std::size_t j = 0; j < position_.size(); ++j) {
            double* own = state + device_->joints[j].state;
            own[0] = fault() == not_a_number && j == 0 ? NAN : position_[j];
            own[1] = velocity_[j];
            own[2] = 0.0;
        }
        for (std::size_t i = 0; i < device_->outputs.size(); ++i) state[device_->outputs[i].state] = outputs_[i];
        for (std::size_t i = 0; i < device_->values.size(); ++i) {
            state[device_->values[i].state] = static_cast<double>(i + 1);
        }
        return Outcome::ok;
    }

    bool switch_modes(const std::vector<Mode>& modes, const double*) override
    {
        if (fault() == keeps_effort && modes_[0] == Mode::effort && modes[0] == Mode::position) {
            return reason = "not from efforts", false;
        }
        if (fault() == switch_throws) throw 7;
        if (fault() == refuses_modes) return reason = "not in this pose", false;
        book_[kSwitches] += 1.0;
        modes_ = modes;
        return true;
    }

    Outcome write(const double* command, std::int64_t, double period_s) override
    {
        if (fault() == write_error) return Outcome::error;
        if (fault() == write_throws) throw 7;
        if (fault() == deactivates || fault() == stays_inactive) return reason = "the pendant says no", Outcome::inactive;
        for (std::size_t j = 0; j < position_.size(); ++j) {
            const double* own = command + device_->joints[j].command;
            const double before = position_[j];
            if (modes_[j] == Mode::position) position_[j] = own[0];
            if (modes_[j] == Mode::velocity) position_[j] += own[1] * period_s;
            velocity_[j] = (position_[j] - before) / period_s;
        }
        for (std::size_t i = 0; i < device_->outputs.size(); ++i) outputs_[i] = command[device_->outputs[i].command];
        double* row = book_ + kRows + kRow * (static_cast<int>(book_[kWrites]) % kEntries);
        row[0] = book_[kReads], row[1] = position_[0], row[2] = velocity_[0], row[3] = static_cast<double>(modes_[0]);
        std::atomic_thread_fence(std::memory_order_release);
        book_[kWrites] += 1.0;
        return Outcome::ok;
    }

    void shutdown() noexcept override
    {
        if (book_ != nullptr) book_[kShutdowns] += 1.0;
    }

private:
    Fault fault() const { return static_cast<Fault>(static_cast<int>(*static_cast<const volatile double*>(book_))); }

    const Device* device_ = nullptr;
    double* book_ = nullptr;
    std::vector<double> position_, velocity_, outputs_;
    std::vector<Mode> modes_;
};

}  // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "error: expected the file of the device's description\n");
        return 1;
    }
    Rehearsal hardware;
    return robot_rt_control::run_driver(argv[1], hardware);
}
