// What does a calibration measure, and what of it is there already? (B.2, D.2)
//
// A cell is one kind of measurement: a width at a cache offset, idle or beside the drafter; a drafter's operation; one
// method on the whole window. Every cell has one warm-up, which is turn -1, and then its formal turns. What was measured
// before an interruption is counted by cell, and not measured again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json/value.hpp"
#include "types.hpp"

namespace as2d {

struct CalibrationPlan {
    Count repetitions = 5;
    Count max_width = 16;
    /// Ascending.
    std::vector<Count> offsets_tokens{0, 64, 128};
    Count episodes = 5;
    std::uint32_t seed = 20260915;
    /// Turns of each cell that were measured before, the warm-up counted.
    std::map<std::string, Count> done;

    /// Whether a turn of a cell is still to be measured.
    bool wants(const std::string& cell, Count turn) const;
};

/// The plan in a request's options. Throws RequestError: an option is unknown or out of range.
CalibrationPlan plan_from(const json::Object& options);

/// Name of a cell of the sweep; no width = a target-only step.
std::string sweep_cell(std::optional<Count> width, Count offset_tokens, bool running);

/// Name of the cell of one method's whole runs.
std::string episode_cell(const std::string& method);

/// Something that is measured of the drafter alone.
struct DrafterOperation {
    const char* name;
    std::optional<Count> width = std::nullopt;

    std::string cell() const { return width ? std::string(name) + "." + std::to_string(*width) : name; }
};

/// All of them, in the order that they are shuffled from.
std::vector<DrafterOperation> drafter_operations();

/// Methods whose whole runs are measured.
constexpr std::array<const char*, 3> episode_methods{"target-only", "as2d", "sd"};

}  // namespace as2d
