#include "calibration/plan.hpp"

#include <algorithm>

#include "errors.hpp"
#include "json/writer.hpp"

namespace as2d {
namespace {

constexpr Count widest_refresh = 16;
constexpr Count largest_offset = 512;
constexpr Count most_turns = 200;
constexpr const char* names = "repetitions, max_width, episodes, seed, offsets_tokens, done, profile";

bool is_within(const json::Value& value, Count low, Count high) {
    const auto* number = value.get<std::int64_t>();
    return number != nullptr && *number >= low && *number <= high;
}

Count whole(const std::string& name, const json::Value& value, Count low, Count high) {
    if (!is_within(value, low, high)) {
        throw RequestError("The calibration option " + name + " is " + json::to_string(value) + "; choose " +
                           std::to_string(low) + " to " + std::to_string(high) + ".");
    }
    return *value.get<std::int64_t>();
}

std::vector<Count> offsets_from(const json::Value& value) {
    const auto* items = value.get<json::Array>();
    const auto is_offset = [](const json::Value& item) { return is_within(item, 0, largest_offset); };
    if (items == nullptr || items->empty() || !std::all_of(items->begin(), items->end(), is_offset)) {
        throw RequestError("offsets_tokens is a list of cache offsets from 0 to 512 tokens.");
    }
    std::vector<Count> out;
    for (const json::Value& item : *items) out.push_back(*item.get<std::int64_t>());
    std::sort(out.begin(), out.end());
    return out;
}

std::map<std::string, Count> done_from(const json::Value& value) {
    const auto* object = value.get<json::Object>();
    std::map<std::string, Count> out;
    for (const auto& [cell, turns] : object == nullptr ? json::Members() : object->members) {
        if (!is_within(turns, 0, most_turns)) object = nullptr;
        if (object == nullptr) break;
        out[cell] = *turns.get<std::int64_t>();
    }
    if (object == nullptr) throw RequestError("done counts the turns of each cell that were measured before.");
    return out;
}

}  // namespace

bool CalibrationPlan::wants(const std::string& cell, Count turn) const {
    const auto measured = done.find(cell);
    return turn + 1 >= (measured == done.end() ? 0 : measured->second);
}

CalibrationPlan plan_from(const json::Object& options) {
    CalibrationPlan plan;
    for (const auto& [name, value] : options.members) {
        if (name == "script") continue;
        if (name == "repetitions") {
            plan.repetitions = whole(name, value, 1, 100);
        } else if (name == "max_width") {
            plan.max_width = whole(name, value, 1, 64);
        } else if (name == "episodes") {
            plan.episodes = whole(name, value, 0, 100);
        } else if (name == "seed") {
            plan.seed = static_cast<std::uint32_t>(whole(name, value, 0, Count{1} << 31));
        } else if (name == "offsets_tokens") {
            plan.offsets_tokens = offsets_from(value);
        } else if (name == "done") {
            plan.done = done_from(value);
        } else if (name != "profile") {
            throw RequestError("Calibration knows no option '" + name + "'; known: " + names + ".");
        } else if (value.get<std::string>() == nullptr) {
            throw RequestError("The calibration option profile is the name of the profile that is measured.");
        }
    }
    return plan;
}

std::string sweep_cell(std::optional<Count> width, Count offset_tokens, bool running) {
    return (width ? "verify." + std::to_string(*width) : "step") + "@" + std::to_string(offset_tokens) +
           (running ? "+" : "");
}

std::string episode_cell(const std::string& method) {
    return "episode " + method;
}

std::vector<DrafterOperation> drafter_operations() {
    std::vector<DrafterOperation> out{{"draft"}, {"paired"}, {"confidence"}};
    for (Count width = 1; width <= widest_refresh; ++width) out.push_back({"refresh", width});
    return out;
}

}  // namespace as2d
