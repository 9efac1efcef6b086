#include "runner/script.hpp"

#include <cmath>
#include <limits>

#include "errors.hpp"
#include "runner/check.hpp"

namespace as2d {
namespace {

using json::Array;
using json::Object;
using json::Value;

/// An object of a script, with the way to it for messages.
class Node {
public:
    Node(const Value& value, std::string where) : value_(value), where_(std::move(where)) {}

    [[noreturn]] void fail(const std::string& what) const {
        throw RequestError("The script: " + where_ + " " + what + ".");
    }

    const Object& object() const {
        const auto* held = value_.get<Object>();
        if (held == nullptr) fail("is not an object");
        return *held;
    }

    const Array& list() const {
        const auto* held = value_.get<Array>();
        if (held == nullptr) fail("is not a list");
        return *held;
    }

    std::optional<Node> find(const std::string& name) const {
        const Value* held = object().find(name);
        if (held == nullptr || held->is_null()) return std::nullopt;
        return Node(*held, where_ + "." + name);
    }

    Node at(const std::string& name) const {
        if (auto found = find(name)) return *found;
        fail("has no " + name);
    }

    Node item(std::size_t index) const {
        if (index >= list().size()) fail("has no entry " + std::to_string(index));
        return {list()[index], where_ + "[" + std::to_string(index) + "]"};
    }

    template <typename Item, typename Read>
    std::vector<Item> items(Read read) const {
        std::vector<Item> out;
        for (std::size_t i = 0; i < list().size(); ++i) out.push_back(read(item(i)));
        return out;
    }

    bool truth() const {
        const auto* held = value_.get<bool>();
        if (held == nullptr) fail("is not true or false");
        return *held;
    }

    const std::string& text() const {
        const auto* held = value_.get<std::string>();
        if (held == nullptr) fail("is not text");
        return *held;
    }

    Count whole() const {
        const auto* held = value_.get<std::int64_t>();
        if (held == nullptr) fail("is not a whole number");
        return *held;
    }

    Token token() const {
        const Count number = whole();
        if (number < 0 || number > std::numeric_limits<Token>::max()) fail("is no token");
        return static_cast<Token>(number);
    }

    double number() const {
        if (const auto* held = value_.get<std::int64_t>()) return static_cast<double>(*held);
        const auto* held = value_.get<double>();
        if (held == nullptr) fail("is not a number");
        return *held;
    }

    double milliseconds() const {
        const double value = number();
        if (!(value >= 0.0 && value <= longest_ms)) fail("is no time in milliseconds");
        return value;
    }

    std::optional<double> number_or_none() const { return value_.is_null() ? std::nullopt : std::optional(number()); }

    Tokens tokens() const {
        return items<Token>([](const Node& node) { return node.token(); });
    }

    /// A cost for each width: an object whose names are widths.
    std::map<Count, double> by_width() const {
        std::map<Count, double> out;
        for (const auto& [name, value] : object().members) {
            const Node entry(value, where_ + "." + name);
            if (name.empty() || name.size() > 4 || name.find_first_not_of("0123456789") != std::string::npos) {
                entry.fail("is under no width");
            }
            out[std::stol(name)] = entry.milliseconds();
        }
        return out;
    }

private:
    const Value& value_;
    std::string where_;
};

double milliseconds_or_0(const Node& node, const std::string& name) {
    const auto found = node.find(name);
    return found ? found->milliseconds() : 0.0;
}

ScriptedTarget::Costs costs_from(const Node& node) {
    if (const auto rounds = node.find("rounds")) {
        return rounds->items<RoundCost>([](const Node& item) {
            return RoundCost{item.item(0).milliseconds(), item.item(1).milliseconds(), item.item(2).milliseconds()};
        });
    }
    TargetCosts costs;
    costs.step_ms = node.at("step_ms").milliseconds();
    costs.verify_concurrent_ms = node.at("verify_concurrent_ms").by_width();
    costs.verify_idle_ms = node.at("verify_idle_ms").by_width();
    costs.loop_ms = milliseconds_or_0(node, "loop_ms");
    return costs;
}

Schedule schedule_from(const Node& node) {
    Schedule schedule;
    schedule.batch_ends = node.at("batch_ends").items<Count>([](const Node& item) { return item.whole(); });
    schedule.batch_times_ms =
        node.at("batch_times_ms").items<double>([](const Node& item) { return item.milliseconds(); });
    schedule.producer_end_ms = node.at("producer_end_ms").milliseconds();
    schedule.operation_ms = node.at("operation_ms").milliseconds();
    if (schedule.batch_ends.size() != schedule.batch_times_ms.size()) node.fail("has not one time for each batch");
    Count end = 0;
    double time_ms = 0.0;
    for (std::size_t i = 0; i < schedule.batch_ends.size(); ++i) {
        if (schedule.batch_ends[i] <= end) node.fail("has batch ends that do not rise");
        if (schedule.batch_times_ms[i] < time_ms) node.fail("has batch times that fall");
        end = schedule.batch_ends[i];
        time_ms = schedule.batch_times_ms[i];
    }
    if (schedule.producer_end_ms < time_ms) node.fail("ends before its last batch");
    return schedule;
}

ScriptedSource::Script source_from(const Node& node) {
    ScriptedSource::Script script;
    script.candidates = node.at("candidates").tokens();
    if (const auto confidences = node.find("confidences")) {
        script.confidences =
            confidences->items<std::optional<double>>([](const Node& item) { return item.number_or_none(); });
    }
    script.schedule = schedule_from(node);
    script.publish_ms = milliseconds_or_0(node, "publish_ms");
    if (const auto name = node.find("name")) script.name = name->text();
    if (const auto dies = node.find("dies_ms")) {
        script.dies_ms = dies->milliseconds();
        script.last_words = node.at("last_words").text();
    }
    return script;
}

ScriptedModel::Script model_from(const Node& node) {
    ScriptedModel::Script script;
    const Node predictions = node.at("predictions");
    for (std::size_t i = 0; i < predictions.list().size(); ++i) {
        const Node entry = predictions.item(i);  // prefix, token, probability
        script.predictions[entry.item(0).tokens()] = {entry.item(1).token(), entry.item(2).number()};
    }
    const Node cost = node.at("forward_ms");
    script.forward_cost.any_width_ms = cost.at("any").milliseconds();
    if (const auto by_width = cost.find("by_width")) script.forward_cost.by_width_ms = by_width->by_width();
    if (const auto width = node.find("fails_from")) script.fails_from = width->whole();
    if (const auto width = node.find("differs_from")) script.differs_from = width->whole();
    return script;
}

std::vector<Count> widths_from(const Node& node) {
    std::vector<Count> widths = node.items<Count>([](const Node& item) { return item.whole(); });
    if (widths.empty()) node.fail("is empty");
    for (std::size_t i = 0; i < widths.size(); ++i) {
        if (widths[i] < 1 || widths[i] > largest_width) node.fail("holds a width that is not 1 to 64");
        if (i > 0 && widths[i] <= widths[i - 1]) node.fail("holds widths that do not rise");
    }
    return widths;
}

SensorScript sensors_from(const Node& node) {
    SensorScript script;
    if (const auto possible = node.find("possible")) {
        script.possible = possible->items<Count>([](const Node& item) { return item.whole(); });
    }
    script.readings = node.at("readings").items<SensorScript::Reading>([](const Node& item) {
        SensorScript::Reading reading;
        reading.from_s = item.at("from_s").milliseconds();
        Telemetry& values = reading.values;
        if (const auto found = item.find("online_mask")) values.online_mask = found->whole();
        if (const auto found = item.find("battery_temperature_c")) values.battery_temperature_c = found->number();
        if (const auto found = item.find("thermal_status")) values.thermal_status = found->whole();
        if (const auto found = item.find("charging")) values.charging = found->truth();
        if (const auto found = item.find("plugged")) values.extra.emplace_back("plugged", found->truth());
        if (const auto found = item.find("ceiling_mhz")) {
            json::Array ceilings;
            for (const auto& mhz :
                 found->items<std::optional<double>>([](const Node& one) { return one.number_or_none(); })) {
                ceilings.push_back(mhz ? json::Value(*mhz) : json::Value());
            }
            values.extra.emplace_back("ceiling_mhz", std::move(ceilings));
        }
        return reading;
    });
    return script;
}

}  // namespace

std::optional<Script> script_of(const Request& request) {
    const Object& options = *request.document.find("options")->get<Object>();
    const Value* given = options.find("script");
    if (given == nullptr) return std::nullopt;
    const Node node(*given, "script");
    Script script;
    const std::string& clock = node.at("clock").text();
    if (clock != "virtual" && clock != "device") node.at("clock").fail("is neither 'virtual' nor 'device'");
    script.on_device_clock = clock == "device";
    script.eos = node.at("eos").token();
    if (const auto model = node.find("model")) {
        script.model = model_from(*model);
        script.widths = widths_from(node.at("widths"));
        script.target = {script.eos};  // the model answers in its place
    } else {
        script.target = node.at("target").tokens();
        script.costs = costs_from(node.at("costs"));
    }
    if (const auto source = node.find("source")) script.source = source_from(*source);
    if (const auto drafter = node.find("drafter")) script.drafter = model_from(*drafter);
    if (const auto width = node.find("deadly_width")) script.deadly_width = width->whole();
    if (const auto sensors = node.find("sensors")) script.sensors = sensors_from(*sensors);
    if (const auto after = node.find("cancel_after")) script.cancel_after = after->whole();
    if (const auto patience = node.find("reader_patience_ms")) {
        script.reader_patience = std::chrono::milliseconds(static_cast<std::int64_t>(patience->milliseconds()));
    }
    return script;
}

}  // namespace as2d
