#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

#include "robot_rt_control/driver.hpp"

namespace robot_rt_control {

namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

void lock_memory(Log& log)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        log.warning(std::string("its memory is not locked: ") + std::strerror(errno) + ". See robot-rt doctor");
    }
}

// After the device is open: the threads that it has started keep their own priority.
void make_urgent(int priority, Log& log)
{
    sched_param wanted{};
    wanted.sched_priority = priority;
    if (priority > 0 && sched_setscheduler(0, SCHED_FIFO, &wanted) != 0) {
        log.warning(std::string("no real-time priority: ") + std::strerror(errno) + ". See robot-rt doctor");
    }
}

}  // namespace

int run_driver(const std::string& description, Hardware& hardware)
{
    struct sigaction end {};
    end.sa_handler = [](int) { stop = true; };
    sigaction(SIGTERM, &end, nullptr);
    sigaction(SIGINT, &end, nullptr);
    std::signal(SIGPIPE, SIG_IGN);  // whoever reads the output may end
    std::unique_ptr<Device> device;
    try {
        device = std::make_unique<Device>(Device::load(description));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
    Log log(device->name);
    try {
        Driver driver(*device, hardware, log);
        lock_memory(log);
        if (!driver.start(stop)) {
            log.info("it was asked to end before the device was activated");
            return 0;
        }
        make_urgent(device->priority, log);
        log.info("running at " + std::to_string(device->period_s) + " s, image '" + device->image + "'");
        log.ready();
        const bool well = driver.run(stop);
        log.info(std::to_string(driver.cycles()) + " cycles, " + std::to_string(driver.late_cycles()) + " late, " +
                 std::to_string(driver.unanswered_cycles()) + " without an answer of the loop in time");
        return well ? 0 : 1;
    } catch (const std::exception& error) {
        log.error(error.what() + (hardware.reason.empty() ? "" : ": " + hardware.reason));
        return 1;
    } catch (...) {
        log.error("the device threw something that is no std::exception");
        return 1;
    }
}

}  // namespace robot_rt_control
