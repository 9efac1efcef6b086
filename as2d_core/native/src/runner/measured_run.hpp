// One run on the device clock, from its header to its end line.
#pragma once

#include <functional>
#include <string>

#include "records/stream_writer.hpp"
#include "runner/session.hpp"

namespace as2d {

/// Runs a request on a session and writes its whole stream. Returns the status of its `end` line.
///
/// Throws what writing throws; everything else becomes a failed run.
std::string run_measured(Request request, Session& session, const Sensors& sensors, StreamWriter& writer,
                         const std::function<bool()>& cancelled);

/// Writes the stream of a run that cannot even begin: its header and an end line with the reason.
std::string refuse_run(const Request& request, const char* source, const std::string& reason, StreamWriter& writer);

}  // namespace as2d
