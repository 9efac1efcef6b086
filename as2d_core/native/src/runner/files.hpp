// Small files of the kernel and of models, read whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace as2d {

/// What a regular file or a file of the kernel holds, without the space around it; none when it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);

/// The number a file of the kernel holds; none when it holds something else.
std::optional<double> read_number(const std::string& path);

}  // namespace as2d
