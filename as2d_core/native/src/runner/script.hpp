// What a scripted run says: `options.script` of a request. It makes a run without models: for tests of the decisions on
// a virtual clock, and of threads, streams and deployment on the device clock. Its runs are labelled synthetic.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "engines/scripted.hpp"
#include "records/request.hpp"
#include "runner/scripted_sensors.hpp"

namespace as2d {

struct Script {
    /// Whether costs are waited for on the device clock, each model on its own thread, instead of being added up.
    bool on_device_clock = false;
    Token eos = 0;
    /// The reference output y[0..N-1].
    Tokens target;
    ScriptedTarget::Costs costs;
    /// A producer with known publication times (As2d on the virtual clock).
    std::optional<ScriptedSource::Script> source;
    /// A drafter with known predictions (serial methods, and As2d on the device clock).
    ScriptedModel::Script drafter;
    /// The target of an operation, and its usable widths.
    std::optional<ScriptedModel::Script> model;
    std::vector<Count> widths;
    /// A width that ends the process that tries it; none = widths are not tried.
    std::optional<Count> deadly_width;
    /// What the device's sensors say; none = those of the real device, and none at all on the virtual clock.
    std::optional<SensorScript> sensors;
    /// The run is cancelled when it has asked this often.
    std::optional<Count> cancel_after;
    /// How long a reader may read nothing; none = as long as for any run.
    std::optional<std::chrono::milliseconds> reader_patience;
};

/// The script of a request, or none when it is a request for models.
///
/// Throws RequestError: the script is malformed; says where.
std::optional<Script> script_of(const Request& request);

}  // namespace as2d
