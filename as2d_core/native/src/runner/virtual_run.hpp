// A scripted run on the virtual clock: a whole run record, as a measured run gives it.
#pragma once

#include <string>

#include "methods/methods.hpp"
#include "records/stream_writer.hpp"
#include "runner/script.hpp"

namespace as2d {

/// Runs the method that the request names and writes its stream. Returns what its `end` line says.
///
/// What cannot be run is a failed run without rounds.
Ending run_virtually(const Request& request, Script script, StreamWriter& writer);

}  // namespace as2d
