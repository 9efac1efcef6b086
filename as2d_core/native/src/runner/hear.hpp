// What would the models hear of these requests?
#pragma once

#include <cstdio>
#include <istream>

namespace as2d {

/// Reads the audio of each request line and prints a line for it: `sha256`, `duration_s` and the samples as hex digits
/// of 32-bit floats in this machine's order, or `error`. Returns the exit code.
int hear_requests(std::istream& requests, std::FILE* out);

}  // namespace as2d
