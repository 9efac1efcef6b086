// One run on the device clock, from its header to its end line.
#pragma once

#include <functional>
#include <string>

#include "records/stream_writer.hpp"
#include "runner/session.hpp"

namespace as2d {

/// In the end line of a run after which no further run of its batch may be measured.
constexpr const char* stops_batch = "stops_batch";

/// Runs a request on a session and writes its whole stream. Returns what its `end` line says.
///
/// Throws what writing throws; everything else becomes a failed run.
Ending run_measured(Request request, Session& session, const Sensors& sensors, StreamWriter& writer,
                    const std::function<bool()>& cancelled);

/// Writes the stream of a run that cannot even begin: its header and an end line with the reason.
Ending refuse_run(const Request& request, const char* source, const std::string& reason, StreamWriter& writer);

}  // namespace as2d
