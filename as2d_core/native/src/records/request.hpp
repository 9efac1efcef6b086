// A request: everything that decides a run. Read from JSON with the rules of the runner protocol.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "types.hpp"

namespace as2d {

/// One model folder.
struct ModelRef {
    std::string path;
    std::string name;
    std::vector<Count> exact_widths;
    /// Whether the request named the widths; an empty list was then on purpose.
    bool widths_given = false;
};

/// The audio view of a request.
struct AudioRef {
    std::string path;
    double view_start_s = 0.0;
    std::optional<double> view_end_s;
};

/// Where the models run. Empty core lists leave the choice to the runner.
struct Placement {
    std::vector<Count> target_cores;
    std::vector<Count> drafter_cores;
    Count target_threads = 1;
    Count drafter_threads = 1;
    std::string backend = "cpu";
    std::optional<std::string> task_profile;
    /// Where the drafter runs when that is not `backend`.
    std::optional<std::string> drafter_backend;
};

/// How many of m ready candidates one verification takes; both tables have one entry for each m.
struct WidthRule {
    std::vector<Count> concurrent;
    std::vector<Count> idle;

    Count max_budget() const { return static_cast<Count>(idle.size()) - 1; }
};

/// What each measured episode waits for; a limit of none is not checked (Appendix D.2.3).
struct Gates {
    /// Least time without work before the first check.
    double rest_s = 15.0;
    /// Checks in a row that must all hold, and the time between two of them.
    Count checks = 2;
    double check_gap_s = 5.0;
    /// Every core that the device has must be on-line.
    bool all_cores = true;
    /// Least frequency ceiling of `ceiling_core`, or of the fastest core.
    std::optional<double> ceiling_mhz;
    std::optional<Count> ceiling_core;
    std::optional<double> max_battery_c;
    /// Android's scale, from 0 (none) to 6 (shutdown).
    std::optional<Count> max_thermal_status;
    /// How long an episode waits before it fails.
    double patience_s = 600.0;
};

/// Counts are tokens unless the name says otherwise.
struct Request {
    std::string run_id;
    std::string method;
    ModelRef target;
    std::optional<ModelRef> drafter;
    AudioRef audio;
    std::string instruction;
    std::optional<Count> budget;
    std::optional<Count> width;
    std::optional<Count> draft_cap;
    std::optional<double> threshold;
    Count search_window = 16;
    Count batch_tokens = 8;
    Count max_tokens = 320;
    bool plain_step = false;
    std::optional<double> drafter_pace_ms;
    Placement placement;
    std::string precision;
    std::string memory;
    std::optional<WidthRule> width_rule;
    std::optional<Gates> gates;

    /// The whole request as it is written into the run header: every field in its order, defaults filled in.
    json::Object document;
};

/// A request from a JSON object.
///
/// Throws FormatError: a field is missing, unknown, of the wrong type or out of its range.
Request request_from_json(const json::Value& body);

/// Reads one line of a request file; at most `longest_request_characters` are taken.
///
/// Throws FormatError.
json::Value parse_request_line(std::string_view line);

constexpr std::size_t longest_request_characters = 100'000;

/// Replaces one field of a request document, `target.sha256` say. The field must exist.
void set_field(json::Object& document, std::string_view dotted_name, json::Value value);

/// A list of numbers as JSON.
json::Value as_json(const std::vector<Count>& numbers);

}  // namespace as2d
