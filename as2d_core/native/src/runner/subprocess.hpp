// Another process, spoken to in lines, that cannot take this one with it; and what a command of the system prints.
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

    /// Where its standard error goes.
    enum class Errors { shared, dropped };

    /// Path of the program that is running; empty where the system does not tell.
    static std::string own_program();

    /// Starts a program: its full path, then its arguments.
    explicit Subprocess(const std::vector<std::string>& command, Errors errors = Errors::shared);
    /// Ends it.
    ~Subprocess();
    Subprocess(const Subprocess&) = delete;
    Subprocess& operator=(const Subprocess&) = delete;

    /// Gives it text for its standard input, which goes there while it is listened to: nobody waits for one that does
    /// not read. One that reads no more is no error, it will be found ended.
    void say(const std::string& text);
    /// Closes its standard input.
    void say_no_more();
    /// Whether further lines may come.
    bool speaks() const { return from_ >= 0 || text_.find('\n') != std::string::npos; }
    /// The next line of its standard output, or none when none came in time.
    std::optional<std::string> next_line(std::chrono::milliseconds patience);
    /// Everything that it prints until it closes its standard output; none when that takes too long or is too much.
    std::optional<std::string> everything(std::chrono::milliseconds patience);
    /// Ends a process that has not ended by itself; how it ended.
    Ending end();

private:
    /// Moves what can be moved, or waits until something can.
    void exchange(std::chrono::milliseconds patience);
    void write_unsaid();
    void close_both();

    pid_t process_ = -1;
    int to_ = -1;
    int from_ = -1;
    std::string unsaid_;
    std::string text_;
};

/// Full path of a program: itself when it names a folder, else the first on the path; empty when it cannot be started.
std::string found_on_path(const std::string& program);

/// What a command prints on standard output; empty when it cannot be started, says too much, or does not end what it
/// says within the deadline. If it still runs then, it is ended.
///
/// command: the program's full path and its arguments.
std::string answer_of(const std::vector<std::string>& command, std::chrono::seconds deadline);

}  // namespace as2d
