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

/// One timing of a calibration.
struct Sample {
    /// `step`, `verify`, `draft`, `paired`, `confidence`, `refresh`, `publish` or `loop`.
    const char* name;
    Nanoseconds value_ns;
    /// Whether the other model was working at the same time.
    bool running;
    std::optional<Count> width = std::nullopt;
    /// Generated tokens in the cache before the call.
    std::optional<Count> offset_tokens = std::nullopt;
    Count repetition = 0;
    bool warm_up = false;
    /// `sweep` (isolated calls in random order) or `episode` (inside a whole run).
    const char* origin = "sweep";
    Extra extra = {};
};

/// Greedy continuations of a drafter behind prefixes that leave the true path.
///
/// The drafter is a walk over states: state i below N is the true prefix y[0..i-1]; word k of all branches, laid end to
/// end, belongs to state N + k. Branch b leaves an earlier state by one fed token.
struct Branches {
    std::vector<Count> leaves;
    Tokens feeds;
    /// Words of each branch.
    std::vector<Count> lengths;
    /// Words of all branches, and their probabilities; EOS only as the last one of a branch.
    Tokens tokens;
    std::vector<double> confidences;
};

/// What target and drafter say about one window, for replay.
struct Trajectory {
    /// The target's greedy output, EOS included when it was reached.
    Tokens target_tokens;
    bool target_capped = false;
    std::string source;
    /// The free-running drafter's tokens, EOS left out, and their probabilities.
    Tokens candidates;
    std::vector<double> confidences;
    bool source_capped = false;
    /// The drafter's greedy token after each true prefix.
    Tokens forced;
    std::vector<double> forced_confidences;
    Token eos = 0;
    Count batch_tokens = 0;
    /// The drafter off the true path, for drafts of so many tokens that stop below this confidence.
    Branches branches;
    std::optional<Count> branch_draft_cap;
    std::optional<double> branch_threshold;
};

using Event = std::variant<RunHeader, Span, Publication, Round, Mark, Pieces, Telemetry, Conditions, EngineFacts,
                           SelfTest, Sample, Trajectory>;

}  // namespace as2d
