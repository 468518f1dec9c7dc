#include "robot_rt_control/log.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace robot_rt_control {

namespace {

constexpr std::size_t kWaiting = 100;
constexpr int kLook_ms = 100;
constexpr int kLooks = 5;  // so often a reader is waited for once the driver ends

}  // namespace

Log::Log(std::string device) : device_(std::move(device)), thread_([this] { run(); }) {}

Log::~Log()
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        end_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Log::add(const char* level, const std::string& text)
{
    std::string line = level + ("hardware '" + device_ + "': " + text + "\n");
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (lines_.size() >= kWaiting) return;
        lines_.push_back(std::move(line));
    }
    wake_.notify_one();
}

void Log::run()
{
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return end_ || !lines_.empty(); });
        if (lines_.empty()) return;
        const std::string line = std::move(lines_.front());
        lines_.pop_front();
        lock.unlock();
        // A driver that ends must not wait for ever for somebody who reads no more.
        pollfd out{STDERR_FILENO, POLLOUT, 0};
        for (int looks = 0; poll(&out, 1, kLook_ms) <= 0;) {
            lock.lock();
            if (end_ && ++looks > kLooks) return;
            lock.unlock();
        }
        std::fwrite(line.data(), 1, line.size(), stderr);
        lock.lock();
    }
}

void Log::notify(const std::string& message) const
{
    const char* path = std::getenv("NOTIFY_SOCKET");
    sockaddr_un address{};
    if (path == nullptr || *path == '\0' || std::strlen(path) >= sizeof(address.sun_path)) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path, std::strlen(path));
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
    const int channel = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (channel < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
    // The supervisor may have ended: that is no reason to stop.
    (void)!sendto(channel, message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address), size);
    close(channel);
}

}  // namespace robot_rt_control
