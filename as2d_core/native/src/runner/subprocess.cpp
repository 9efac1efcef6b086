#include "runner/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <thread>

extern char** environ;  // NOLINT: POSIX names it so

namespace as2d {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int cannot_start = 127;
constexpr std::size_t most_bytes = 4'000'000;
/// A killed process has gone after some milliseconds, unless it hangs in a driver.
constexpr std::chrono::seconds going_deadline{5};

struct Pipe {
    int read = -1;
    int write = -1;
};

Pipe open_pipe() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    return {ends[0], ends[1]};
}

void close_if_open(int& end) {
    if (end >= 0) close(end);
    end = -1;
}

}  // namespace

bool Subprocess::Ending::never_started() const {
    return WIFEXITED(status) && WEXITSTATUS(status) == cannot_start;
}

std::string Subprocess::Ending::clause() const {
    if (!WIFSIGNALED(status)) return "it ended with exit code " + std::to_string(WEXITSTATUS(status));
    switch (WTERMSIG(status)) {
        case SIGSEGV:
            return "it crashed (SIGSEGV), which MNN does on a model or an input that it cannot run";
        case SIGABRT:
            return "it aborted (SIGABRT), which MNN does when a model file is damaged or memory runs out";
        case SIGILL:
            return "it met an instruction that this processor lacks (SIGILL)";
        case SIGBUS:
            return "it crashed (SIGBUS), often on a model file that was cut off";
        case SIGKILL:
            return "it was killed, by somebody or by the system for lack of memory (SIGKILL)";
        default:
            return "it was stopped (signal " + std::to_string(WTERMSIG(status)) + ")";
    }
}

std::string Subprocess::own_program() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    return length <= 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(length));
}

Subprocess::Subprocess(const std::vector<std::string>& command, Errors errors) {
    std::vector<char*> arguments;
    for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
    arguments.push_back(nullptr);
    Pipe in = open_pipe();
    Pipe out = open_pipe();
    // Spawned and not forked: pages of a process that forks are copied when it next writes to them, in a measured run.
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
    if (errors == Errors::dropped) {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    const bool started =
        in.read >= 0 && out.read >= 0 &&
        posix_spawn(&process_, arguments.front(), &actions, nullptr, arguments.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close_if_open(in.read);
    close_if_open(out.write);
    to_ = in.write;
    from_ = out.read;
    if (started) {
        fcntl(to_, F_SETFL, O_NONBLOCK);
    } else {
        process_ = -1;
        close_both();
    }
}

Subprocess::~Subprocess() {
    end();
}

void Subprocess::say(const std::string& text) {
    unsaid_ += text;
    write_unsaid();
}

void Subprocess::say_no_more() {
    unsaid_.clear();
    close_if_open(to_);
}

std::optional<std::string> Subprocess::next_line(milliseconds patience) {
    if (text_.find('\n') == std::string::npos) exchange(patience);
    const std::size_t end = text_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
}

std::optional<std::string> Subprocess::everything(milliseconds patience) {
    const auto until = Clock::now() + patience;
    while (from_ >= 0 && text_.size() < most_bytes && Clock::now() < until) {
        exchange(std::chrono::duration_cast<milliseconds>(until - Clock::now()) + milliseconds(1));
    }
    return from_ < 0 ? std::optional(std::move(text_)) : std::nullopt;
}

Subprocess::Ending Subprocess::end() {
    if (process_ < 0) return {cannot_start << 8};
    close_both();
    kill(process_, SIGKILL);  // says nothing to one that has ended
    int status = SIGKILL;
    const auto until = Clock::now() + going_deadline;
    while (waitpid(process_, &status, WNOHANG) == 0 && Clock::now() < until) {
        std::this_thread::sleep_for(milliseconds(1));
    }
    process_ = -1;
    return {status};
}

void Subprocess::exchange(milliseconds patience) {
    if (from_ < 0) return;
    std::array<pollfd, 2> wanted{{{from_, POLLIN, 0}, {unsaid_.empty() ? -1 : to_, POLLOUT, 0}}};
    if (poll(wanted.data(), wanted.size(), static_cast<int>(patience.count())) <= 0) return;
    if (wanted[1].revents != 0) write_unsaid();
    if (wanted[0].revents == 0) return;
    std::array<char, 4096> bytes{};
    const ssize_t count = read(from_, bytes.data(), bytes.size());
    if (count > 0) text_.append(bytes.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) close_if_open(from_);
}

void Subprocess::write_unsaid() {
    const ssize_t written = write(to_, unsaid_.data(), unsaid_.size());
    if (written > 0) unsaid_.erase(0, static_cast<std::size_t>(written));
    if (written < 0 && errno != EAGAIN && errno != EINTR) say_no_more();
}

void Subprocess::close_both() {
    close_if_open(to_);
    close_if_open(from_);
}

std::string found_on_path(const std::string& program) {
    if (program.empty()) return {};
    if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : std::string();
    const char* const path = std::getenv("PATH");
    std::string folders = path == nullptr ? "" : path;
    for (std::size_t at = 0; at < folders.size();) {
        const std::size_t end = std::min(folders.find(':', at), folders.size());
        const std::string full = folders.substr(at, end - at) + "/" + program;
        if (access(full.c_str(), X_OK) == 0) return full;
        at = end + 1;
    }
    return {};
}

std::string answer_of(const std::vector<std::string>& command, std::chrono::seconds deadline) {
    Subprocess process(command, Subprocess::Errors::dropped);
    process.say_no_more();
    return process.everything(deadline).value_or("");
}

}  // namespace as2d
