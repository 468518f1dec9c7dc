#include "robot_rt_control/image.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace robot_rt_control {

namespace {

constexpr int kAttempts = 3;
constexpr int kLockAttempts = 4;
constexpr std::int64_t kSecond = 1000000000;

// The record lies in memory that another process reads and writes. Each access is one of these: H.-J. Boehm, "Can seqlocks
// get along with programming language memory models?", 2012.
template <typename T>
T load_relaxed(const T& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }
template <typename T>
T load_acquire(const T& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
template <typename T>
void store_relaxed(T& word, T value) { __atomic_store_n(&word, value, __ATOMIC_RELAXED); }
template <typename T>
void store_release(T& word, T value) { __atomic_store_n(&word, value, __ATOMIC_RELEASE); }

static_assert(sizeof(double) == sizeof(std::uint64_t), "a double is copied as one word");

void copy_words(void* to, const void* from, std::size_t count)
{
    auto* target = static_cast<std::uint64_t*>(to);
    const auto* source = static_cast<const std::uint64_t*>(from);
    for (std::size_t i = 0; i < count; ++i) store_relaxed(target[i], load_relaxed(source[i]));
}

void ring(std::int32_t& bell)
{
    store_release(bell, static_cast<std::int32_t>(static_cast<std::uint32_t>(load_acquire(bell)) + 1U));
    syscall(SYS_futex, &bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Sleep until the word differs from `seen`, is rung, or it is late: the caller looks again.
void wait(const std::int32_t& bell, std::int32_t seen, std::int64_t deadline)
{
    const timespec at{static_cast<time_t>(deadline / kSecond), static_cast<long>(deadline % kSecond)};
    syscall(SYS_futex, &bell, FUTEX_WAIT_BITSET, seen, &at, nullptr, FUTEX_BITSET_MATCH_ANY);
}

[[noreturn]] void fail(const std::string& name, const std::string& text)
{
    throw std::runtime_error("process image '" + name + "': " + text);
}

bool is_file_at(int descriptor, const std::string& path)
{
    struct stat here {}, there {};
    return stat(path.c_str(), &there) == 0 && fstat(descriptor, &here) == 0 && here.st_ino == there.st_ino;
}

// The owner of a segment holds an exclusive lock on its file as long as it runs: one without a lock is stale.
void remove_stale(const std::string& name, const std::string& path)
{
    const int old = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (old < 0) {
        if (errno == ENOENT) return;
        fail(name, std::string("the one that is there cannot be opened: ") + std::strerror(errno));
    }
    for (int attempt = 0; flock(old, LOCK_EX | LOCK_NB) != 0; ++attempt) {
        // A user that looks whether the owner runs holds the lock for a moment.
        if (attempt == kLockAttempts - 1) {
            close(old);
            fail(name, "a running process owns it; expected one driver. Stop the other one");
        }
        sleep_until_ns(now_ns() + 5000000);
    }
    if (is_file_at(old, path)) unlink(path.c_str());
    close(old);
}

int create_locked(const std::string& name, const std::string& path, std::size_t size)
{
    for (;;) {
        remove_stale(name, path);
        const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (descriptor < 0) {
            if (errno == EEXIST) continue;  // another process was faster: is it running?
            fail(name, std::string("cannot be created: ") + std::strerror(errno));
        }
        flock(descriptor, LOCK_EX);
        // Between the two calls the file had no lock: another process may have removed it as stale.
        if (!is_file_at(descriptor, path)) {
            close(descriptor);
            continue;
        }
        // A full /dev/shm must fail here, not at a later access.
        if (const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(size))) {
            unlink(path.c_str());
            close(descriptor);
            fail(name, std::to_string(size) + " bytes: " + std::strerror(error));
        }
        return descriptor;
    }
}

}  // namespace

std::int64_t now_ns()
{
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return static_cast<std::int64_t>(at.tv_sec) * kSecond + at.tv_nsec;
}

void sleep_until_ns(std::int64_t deadline)
{
    const timespec at{static_cast<time_t>(deadline / kSecond), static_cast<long>(deadline % kSecond)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {}
}

Image::Image(const Device& device)
{
    if (device.image.empty() || device.image.front() == '.' || device.image.find('/') != std::string::npos) {
        fail(device.image, "expected a plain file name");
    }
    path_ = "/dev/shm/" + device.image;
    size_ = sizeof(rrc_device_image) + device.manifest.size();
    n_state_ = device.states.size();
    descriptor_ = create_locked(device.image, path_, size_);
    // Populated at once: the driver's cycle must not be what meets the page faults.
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor_, 0);
    if (memory == MAP_FAILED) {
        const int error = errno;
        unlink(path_.c_str());
        close(descriptor_);
        fail(device.image, std::string("cannot be mapped: ") + std::strerror(error));
    }
    std::memcpy(static_cast<char*>(memory) + sizeof(rrc_device_image), device.manifest.data(), device.manifest.size());
    record_ = static_cast<rrc_device_image*>(memory);
    timespec wall{};
    clock_gettime(CLOCK_REALTIME, &wall);
    record_->layout = RRC_IMAGE_LAYOUT;
    record_->epoch = static_cast<std::int64_t>(wall.tv_sec) * kSecond + wall.tv_nsec;  // differs from earlier drivers'
    record_->driver_pid = getpid();
    record_->manifest_size = static_cast<std::int64_t>(device.manifest.size());
    record_->n_state = static_cast<std::int64_t>(device.states.size());
    record_->n_command = static_cast<std::int64_t>(device.commands.size());
    record_->n_parts = static_cast<std::int64_t>(device.n_parts);
    record_->driver_mode = RRC_DRIVER_HOLDING;
    record_->wants_bell = 1;
    std::fill(std::begin(record_->state), std::end(record_->state), std::numeric_limits<double>::quiet_NaN());
    incoming_.values.resize(device.commands.size());
    incoming_.modes.resize(device.n_parts);
    store_release(record_->magic, static_cast<std::uint64_t>(RRC_IMAGE_MAGIC));  // last: from now on others may attach
}

Image::~Image()
{
    unlink(path_.c_str());
    munmap(record_, size_);
    flock(descriptor_, LOCK_UN);
    close(descriptor_);
}

std::int64_t Image::publish(const double* state, std::int64_t error)
{
    rrc_device_image& image = *record_;
    const std::int64_t start = load_relaxed(image.state_sequence);
    store_relaxed(image.state_sequence, start + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    copy_words(image.state, state, n_state_);
    store_relaxed(image.state_error, error);
    const std::int64_t cycle = load_relaxed(image.state_cycle) + 1;
    store_relaxed(image.state_cycle, cycle);
    store_release(image.state_sequence, start + 2);
    if (drives_loop()) {
        store_relaxed(image.state_time_ns, now_ns());
        ring(image.state_bell[0]);
    }
    return cycle;
}

bool Image::take(Command& command)
{
    const rrc_device_image& image = *record_;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const std::int64_t before = load_acquire(image.command_sequence);
        if (before & 1) continue;
        const std::int64_t cycle = load_relaxed(image.command_cycle);
        if (cycle == command.cycle) return false;
        incoming_.cycle = cycle;
        incoming_.enable = load_relaxed(image.command_enable);
        incoming_.state_cycle = load_relaxed(image.command_state_cycle);
        copy_words(incoming_.values.data(), image.command, incoming_.values.size());
        copy_words(incoming_.modes.data(), image.command_mode, incoming_.modes.size());
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (load_relaxed(image.command_sequence) != before) continue;
        command = incoming_;  // of the same sizes: nothing is allocated
        return true;
    }
    return false;
}

bool Image::await_answer(Command& command, std::int64_t state_cycle, std::int64_t deadline, bool& is_new)
{
    is_new = false;
    for (;;) {
        const std::int32_t bell = load_acquire(record_->command_bell[0]);
        is_new = take(command) || is_new;
        if (is_new && command.state_cycle == state_cycle) return true;
        if (now_ns() >= deadline) return false;
        wait(record_->command_bell[0], bell, deadline);
    }
}

bool Image::await_command(Command& command, std::int64_t deadline)
{
    for (;;) {
        const std::int32_t bell = load_acquire(record_->command_bell[0]);
        if (take(command)) return true;
        if (now_ns() >= deadline) return false;
        wait(record_->command_bell[0], bell, deadline);
    }
}

bool Image::drives_loop() const { return load_relaxed(record_->is_clock) != 0; }

bool Image::executor_lives() const
{
    // The executor holds a lock on the whole file, which the kernel releases when its process ends for any reason.
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(descriptor_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void Image::set_mode(std::int64_t driver_mode) { store_relaxed(record_->driver_mode, driver_mode); }

void Image::set_reason(const std::string& reason)
{
    char text[sizeof(record_->driver_reason)] = {};
    reason.copy(text, sizeof(text) - 1);
    std::memcpy(record_->driver_reason, text, sizeof(text));
}

void Image::count(std::int64_t late_cycles, std::int64_t unanswered_cycles)
{
    store_relaxed(record_->late_cycles, late_cycles);
    store_relaxed(record_->unanswered_cycles, unanswered_cycles);
}

}  // namespace robot_rt_control
