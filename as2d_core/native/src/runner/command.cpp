#include "runner/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

extern char** environ;  // NOLINT: POSIX names it so

namespace as2d {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_answer_bytes = 4'000'000;

}  // namespace

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

std::string answer_of(std::vector<std::string> words, std::chrono::seconds deadline) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = -1;
    const bool started = posix_spawn(&child, arguments.front(), &actions, nullptr, arguments.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string out;
    bool whole_answer = false;
    const auto until = Clock::now() + deadline;
    while (started && out.size() < most_answer_bytes) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        pollfd waiting{ends[0], POLLIN, 0};
        if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) break;
        char buffer[4096];
        const ssize_t count = read(ends[0], buffer, sizeof buffer);
        if (count <= 0) {
            whole_answer = count == 0;
            break;
        }
        out.append(buffer, static_cast<std::size_t>(count));
    }
    close(ends[0]);
    if (started) {
        kill(child, SIGKILL);  // also when it has said everything: a program may close its output and stay
        while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    return whole_answer ? out : std::string();
}

}  // namespace as2d
