// The lines of the runner protocol that this runner writes. Times are nanoseconds of the clock in the run header.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "json/value.hpp"
#include "types.hpp"

namespace as2d {

constexpr int schema_version = 1;

/// Further fields of a line, written behind its own.
using Extra = std::vector<std::pair<std::string, json::Value>>;

/// First line: who ran what, where, on which clock.
struct RunHeader {
    std::string run_id;
    json::Object request;
    json::Object device;
    json::Object versions;
    std::string clock;
    std::string created_at;
    /// `measured`, `replayed` or `synthetic`: what every figure of the run is labelled.
    std::string source = "measured";
    Extra extra;
};

/// One stretch of work on one lane.
struct Span {
    const char* lane;
    const char* work;
    Nanoseconds start_ns;
    Nanoseconds end_ns;
    std::optional<Count> round = std::nullopt;
    /// Model forwards inside the span.
    Count operations = 1;
    Extra extra = {};
};

/// Softmax probabilities of candidates; a source may not know some of them, or none at all.
using Confidences = std::optional<std::vector<std::optional<double>>>;

/// An immutable batch of candidates (Appendix C.1).
struct Publication {
    std::string source;
    Count offset;
    Tokens tokens;
    Confidences confidences;
    Nanoseconds time_ns;
    /// The boundary at which the target took it; none when it came after the output was complete.
    std::optional<Nanoseconds> received_ns = std::nullopt;
};

/// One step of alignment: which rule, and the cursor before and after it.
struct Move {
    const char* rule;
    Count before;
    Count after;
};

/// One target boundary: what was ready, what was checked, what was committed.
struct Round {
    Count index;
    Nanoseconds start_ns;
    Nanoseconds end_ns;
    Count width;
    Count physical_width;
    Count proposed;
    Count accepted;
    Tokens committed;
    Tokens candidates;
    std::string origins;
    Count cursor_before;
    Count cursor_after;
    Count visible;
    bool source_running;
    const char* width_reason;
    std::vector<Move> moves;
    /// Time inside model calls; the rest of the round is our own.
    Nanoseconds call_ns;
};

/// A named instant: `request`, `decode_start`, `eos` or `drained`.
struct Mark {
    std::string name;
    Nanoseconds time_ns;
    std::optional<Token> token = std::nullopt;
    Extra extra = {};
};

/// Text of token ids that appear for the first time; bytes that are no UTF-8 are written as hex.
struct Pieces {
    std::map<Token, std::string> bytes;
};

/// One reading of the device's sensors; what could not be read is none.
struct Telemetry {
    Nanoseconds time_ns;
    std::optional<double> battery_temperature_c;
    std::optional<double> battery_current_ma;
    std::optional<double> battery_voltage_mv;
    std::optional<bool> charging;
    std::optional<Count> thermal_status;
    std::vector<std::optional<double>> core_mhz;
    std::optional<std::int64_t> online_mask;
    Extra extra;
};

/// One look at the device before a measured episode; what could not be read is none.
struct Conditions {
    Nanoseconds time_ns;
    /// What was missing, as clauses; an episode begins after enough looks in a row at which nothing was.
    std::vector<std::string> missing;
    /// Time since the last work.
    double rested_s;
    std::optional<std::int64_t> online_mask;
    /// Highest clock that each core may take; empty when it was not read.
    std::vector<std::optional<double>> ceiling_mhz;
    std::optional<double> battery_temperature_c;
    std::optional<Count> thermal_status;
    std::optional<bool> charging;
    std::optional<bool> plugged;
    std::optional<bool> screen_on;
};

/// What really runs one model: read back after loading, not what was asked for.
struct EngineFacts {
    std::string role;
    std::string model;
    std::string model_sha256;
    std::string mnn_version;
    std::string backend;
    Count threads;
    std::string precision;
    std::string memory;
    std::vector<Count> cores;
    std::vector<Count> asked_cores;
    std::vector<Count> widths;
    Extra extra;
};

/// Which widths of a model are exact on this processor.
struct SelfTest {
    std::string model_sha256;
    std::vector<Count> exact_widths;
    std::string grade;
    std::vector<std::vector<Count>> classes;
    std::map<Count, Count> argmax_differences;
    Count rows;
    Extra extra;
};

using Event = std::variant<RunHeader, Span, Publication, Round, Mark, Pieces, Telemetry, Conditions, EngineFacts, SelfTest>;

}  // namespace as2d
