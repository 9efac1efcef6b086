// Runs what an input asks for, one request after the other.
#pragma once

#include <cstdio>
#include <istream>

namespace as2d {

/// Serves requests until the input ends or a signal comes. Events go to `out`, diagnostics to standard error.
///
/// Returns 0 when every run ended by itself (`eos` or `capped`), 1 otherwise, 2 for input that is no request.
/// A `whole_batch` ends with the first run that must be its last.
int serve(std::istream& requests, std::FILE* out, bool whole_batch);

}  // namespace as2d
