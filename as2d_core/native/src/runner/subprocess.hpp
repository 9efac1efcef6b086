// Another process, spoken to in lines, that cannot take this one with it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace as2d {

class Subprocess {
public:
    /// How a process ended.
    struct Ending {
        int status;

        /// Whether the program could not be started.
        bool never_started() const;
        /// A clause such as `it was killed, by somebody or by the system for lack of memory (SIGKILL)`.
        std::string clause() const;
    };

    /// Path of the program that is running; empty where the system does not tell.
    static std::string own_program();

    /// Starts a program: its path, then its arguments. Its standard error is this process's.
    explicit Subprocess(const std::vector<std::string>& command);
    /// Ends it.
    ~Subprocess();
    Subprocess(const Subprocess&) = delete;
    Subprocess& operator=(const Subprocess&) = delete;

    /// Writes to its standard input; one that reads no more is no error, it will be found ended.
    void say(const std::string& text);
    /// Whether further lines may come.
    bool speaks() const { return from_ >= 0 || text_.find('\n') != std::string::npos; }
    /// The next line of its standard output, or none when none came in time.
    std::optional<std::string> next_line(std::chrono::milliseconds patience);
    /// Ends a process that has not ended by itself; how it ended.
    Ending end();

private:
    void close_both();

    pid_t process_ = -1;
    int to_ = -1;
    int from_ = -1;
    std::string text_;
};

}  // namespace as2d
