#include "runner/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

namespace as2d {
namespace {

constexpr int cannot_start = 127;

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

Subprocess::Subprocess(const std::vector<std::string>& command) {
    // Made before the fork: between fork and exec a process of several threads may not allocate.
    std::vector<char*> arguments;
    for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
    arguments.push_back(nullptr);
    Pipe in = open_pipe();
    Pipe out = open_pipe();
    if (in.read >= 0 && out.read >= 0) process_ = fork();
    if (process_ == 0) {
        if (dup2(in.read, STDIN_FILENO) >= 0 && dup2(out.write, STDOUT_FILENO) >= 0) {
            execv(arguments.front(), arguments.data());
        }
        _exit(cannot_start);
    }
    close_if_open(in.read);
    close_if_open(out.write);
    to_ = in.write;
    from_ = out.read;
    if (process_ < 0) close_both();
}

Subprocess::~Subprocess() {
    end();
}

void Subprocess::say(const std::string& text) {
    std::size_t said = 0;
    while (to_ >= 0 && said < text.size()) {
        const ssize_t written = write(to_, text.data() + said, text.size() - said);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return;
        said += static_cast<std::size_t>(written);
    }
}

std::optional<std::string> Subprocess::next_line(std::chrono::milliseconds patience) {
    std::size_t end = text_.find('\n');
    if (end == std::string::npos && from_ >= 0) {
        pollfd wanted{from_, POLLIN, 0};
        if (poll(&wanted, 1, static_cast<int>(patience.count())) > 0) {
            std::array<char, 4096> bytes{};
            const ssize_t count = read(from_, bytes.data(), bytes.size());
            if (count > 0) text_.append(bytes.data(), static_cast<std::size_t>(count));
            if (count == 0 || (count < 0 && errno != EINTR)) close_if_open(from_);
        }
        end = text_.find('\n');
    }
    if (end == std::string::npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
}

Subprocess::Ending Subprocess::end() {
    int status = cannot_start << 8;
    close_both();
    if (process_ > 0) ::kill(process_, SIGKILL);  // says nothing to one that has ended
    while (process_ > 0 && waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return {status};
}

void Subprocess::close_both() {
    close_if_open(to_);
    close_if_open(from_);
}

}  // namespace as2d
