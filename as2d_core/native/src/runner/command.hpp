// What does a command of the system print?
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace as2d {

/// Full path of a program: itself when it names a folder, else the first on the path; empty when it cannot be started.
std::string found_on_path(const std::string& program);

/// What a command prints on standard output; empty when it cannot be started, says too much, or does not end what it
/// says within the deadline. If it still runs then, it is ended.
///
/// words: the program's full path and its arguments.
std::string answer_of(std::vector<std::string> words, std::chrono::seconds deadline);

}  // namespace as2d
