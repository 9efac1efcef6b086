// as2d-runner: requests as lines of JSON on standard input (or in a file), events on standard output.
#include <fcntl.h>
#include <unistd.h>

#include <sys/utsname.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "json/writer.hpp"
#include "methods/methods.hpp"
#include "runner/answers.hpp"
#include "runner/engine_factory.hpp"
#include "runner/serve.hpp"
#include "runner/width_trial.hpp"
#include "version.hpp"

namespace {

constexpr const char* usage =
    "usage: as2d-runner [FILE | --describe | --check | --hear | --models]\n"
    "\n"
    "Requests, one JSON object a line, come from FILE or standard input; events of the runner protocol go to standard\n"
    "output. {\"cancel\": \"RUN ID\"} on standard input ends a run at its next round.\n"
    "\n"
    "  --describe  print what this runner is, as one line of JSON\n"
    "  --check     print each request as it was understood, or what is wrong with it; run nothing\n"
    "  --hear      print what the models would hear of each request's audio, or why it is refused; run nothing\n"
    "  --models    print what is in each request's model folders, or why they are refused; run nothing\n";

int try_widths(std::istream& in, std::FILE* out) {
    return as2d::try_widths(in, out, as2d::open_width_trial);
}

/// What is answered instead of running anything; the last one is asked by this program itself.
const std::map<std::string, int (*)(std::istream&, std::FILE*)> answers{{"--check", as2d::check_requests},
                                                                        {"--hear", as2d::hear_requests},
                                                                        {"--models", as2d::describe_models},
                                                                        {"--try-widths", try_widths}};

std::string description() {
    using as2d::json::Array;
    using as2d::json::Members;
    Members versions{{"as2d", as2d::version}};
    for (auto& version : as2d::engine_versions()) versions.push_back(std::move(version));
    const auto listed = [](const std::vector<std::string>& names) {
        Array out;
        for (const std::string& name : names) out.emplace_back(name);
        return out;
    };
    utsname system{};
    uname(&system);
    return as2d::json::to_string(Members{{"runner", "native"},
                                         {"versions", std::move(versions)},
                                         {"schema_version", as2d::schema_version},
                                         {"machine", system.machine},
                                         {"backends", listed(as2d::engine_backends())},
                                         {"methods", listed(as2d::method_names())},
                                         {"features", listed({"calibrate", "collect", "gates", "cancel", "telemetry",
                                                              "script"})}});
}

}  // namespace

int main(int argc, char** argv) {
    const std::string argument = argc > 1 ? argv[1] : "";
    if (argument == "--help") return std::fputs(usage, stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
    const auto answer = answers.find(argument);
    const bool is_option = argument.rfind("--", 0) == 0;
    if (argc > 2 || (is_option && argument != "--describe" && answer == answers.end())) {
        std::fputs(usage, stderr);
        return 2;
    }
    // Whatever a library prints must not reach the protocol.
    const int protocol = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);  // commands that are asked must not hold it open
    std::FILE* out = protocol < 0 ? nullptr : fdopen(protocol, "w");
    if (out == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        std::fputs("Standard output cannot be used.\n", stderr);
        return 1;
    }
    if (argument == "--describe") {
        std::fprintf(out, "%s\n", description().c_str());
        return std::fflush(out) == 0 ? 0 : 1;
    }
    if (answer != answers.end()) return answer->second(std::cin, out);
    if (argument.empty()) return as2d::serve(std::cin, out, false);
    std::ifstream file(argument);
    std::error_code error;
    if (!file || std::filesystem::is_directory(argument, error)) {  // which can be opened, and seems empty
        std::fprintf(stderr, "The request file %s cannot be read.\n", argument.c_str());
        return 2;
    }
    return as2d::serve(file, out, true);
}
