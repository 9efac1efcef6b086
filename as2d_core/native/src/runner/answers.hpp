// What is known of a request before anything is run? One line of JSON for each line of input.
#pragma once

#include <cstdio>
#include <istream>

namespace as2d {

/// The request as a run header would show it. This and the others return the exit code; `error` is in the answer to a
/// line that is none of what was asked for.
int check_requests(std::istream& requests, std::FILE* out);

/// What the models would hear: `sha256`, `duration_s` and the samples as hex digits of 32-bit floats in this machine's
/// order.
int hear_requests(std::istream& requests, std::FILE* out);

/// What is in the model folders: `target` and, where the request names one, `drafter`.
int describe_models(std::istream& requests, std::FILE* out);

}  // namespace as2d
