// Lines for people on stderr, written by a thread of its own: a pipe that nobody reads must not stop a device's cycle.
#ifndef ROBOT_RT_CONTROL__LOG_HPP_
#define ROBOT_RT_CONTROL__LOG_HPP_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace robot_rt_control {

class Log {
public:
    explicit Log(std::string device);
    ~Log();  // after the last line, or half a second without a reader
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    // Never waits for the reader; if too many lines wait already, the line is dropped.
    void info(const std::string& text) { add("INFO ", text); }
    void warning(const std::string& text) { add("WARNING ", text); }
    void error(const std::string& text) { add("ERROR ", text); }

    // Tell the supervisor, by systemd's notification protocol (NOTIFY_SOCKET), that the driver is up, or what troubles it;
    // empty: all is well.
    void ready() { notify("READY=1"); }
    void status(const std::string& trouble) { notify("STATUS=" + trouble); }

private:
    void add(const char* level, const std::string& text);
    void notify(const std::string& message) const;
    void run();

    std::string device_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::string> lines_;
    bool end_ = false;
    std::thread thread_;  // last: it uses the others
};

}  // namespace robot_rt_control

#endif  // ROBOT_RT_CONTROL__LOG_HPP_
